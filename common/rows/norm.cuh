// What the norms of the rungs from 03 on have in common: eight bf16 elements at a time, the sum over the
// threads of a row, and a kernel for the rows that a rung's own kernel does not take.
#pragma once

#include "common/rung.h"

namespace ladder {

constexpr int warp_size = 32;
constexpr int vector = 8;  // bf16 elements in 16 bytes

// The sum over the 32 lanes, in every lane.
__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

// The sum over the threads of a row: blockDim.x of them, a warp or the whole CTA, which has up to 32 warps.
// `partial`, in shared memory, is free again when every thread has passed the barrier of another call: a
// caller that comes back alternates between two.
__device__ inline float row_sum(float value, float (&partial)[warp_size]) {
  value = warp_sum(value);
  if (blockDim.x == warp_size) return value;
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = value;
  __syncthreads();  // partial[] is complete
  return warp_sum(lane < int(blockDim.x) / warp_size ? partial[lane] : 0.0f);
}

// Two bf16 in 32 bits: the first is the lower half. bf16 is the upper half of fp32, so converting is a shift.
__device__ inline float low_half(unsigned pair) {
  return __uint_as_float(pair << 16);
}
__device__ inline float high_half(unsigned pair) {
  return __uint_as_float(pair & 0xFFFF0000u);
}
__device__ inline unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

__device__ inline uint4 load(const __nv_bfloat16* from) {
  return *reinterpret_cast<const uint4*>(from);
}
__device__ inline void store(__nv_bfloat16* to, uint4 bits) {
  *reinterpret_cast<uint4*>(to) = bits;
}

// h = x + residual.
__device__ inline unsigned add_pair(unsigned x, unsigned residual) {
  return pack(low_half(x) + low_half(residual), high_half(x) + high_half(residual));
}
__device__ inline uint4 add_vector(uint4 x, uint4 residual) {
  return make_uint4(add_pair(x.x, residual.x), add_pair(x.y, residual.y), add_pair(x.z, residual.z),
                    add_pair(x.w, residual.w));
}
// The same, and the squares of h are accumulated.
__device__ inline unsigned add_pair(unsigned x, unsigned residual, float& squares) {
  const unsigned h = add_pair(x, residual);
  squares += low_half(h) * low_half(h) + high_half(h) * high_half(h);
  return h;
}
__device__ inline uint4 add_vector(uint4 x, uint4 residual, float& squares) {
  return make_uint4(add_pair(x.x, residual.x, squares), add_pair(x.y, residual.y, squares),
                    add_pair(x.z, residual.z, squares), add_pair(x.w, residual.w, squares));
}
// y = h · scale · gamma.
__device__ inline unsigned scale_pair(unsigned h, unsigned gamma, float scale) {
  return pack(low_half(h) * scale * low_half(gamma), high_half(h) * scale * high_half(gamma));
}
__device__ inline uint4 scale_vector(uint4 h, uint4 gamma, float scale) {
  return make_uint4(scale_pair(h.x, gamma.x, scale), scale_pair(h.y, gamma.y, scale),
                    scale_pair(h.z, gamma.z, scale), scale_pair(h.w, gamma.w, scale));
}

// Any width, one row per CTA: for rows too long for a rung's own kernel, and for rows that do not start on a
// 16-byte boundary because cols is not a multiple of 8. x, residual, h and y share their alignment: the row
// is cut at the boundaries, and only its first and last vector may lie half outside. h is read back from L2.
template <int threads>
__global__ void __launch_bounds__(threads) row_of_any_width(FusedNorm p) {
  __shared__ float partial[warp_size];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int before_start = start % vector;  // elements from the boundary to the start of the row
  auto for_row = [&](auto&& whole, auto&& single) {
    for (int col = threadIdx.x * vector - before_start; col < p.cols; col += threads * vector) {
      if (col >= 0 && col + vector <= p.cols) {
        whole(col);
      } else {
        for (int i = 0; i < vector; ++i)
          if (col + i >= 0 && col + i < p.cols) single(col + i);
      }
    }
  };

  float squares = 0;
  for_row(
      [&](int col) {
        store(p.h + start + col,
              add_vector(load(p.x + start + col), load(p.residual + start + col), squares));
      },
      [&](int col) {
        const float h = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
        p.h[start + col] = __float2bfloat16_rn(h);
        squares += __bfloat162float(p.h[start + col]) * __bfloat162float(p.h[start + col]);
      });

  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
  for_row(
      [&](int col) {
        uint4 gamma;
        if (before_start == 0) {
          gamma = load(p.gamma + col);
        } else {  // aligned otherwise than the row: one by one, from L1 after the first row
          auto pair = [&](int i) { return pack(p.gamma[col + 2 * i], p.gamma[col + 2 * i + 1]); };
          gamma = make_uint4(pair(0), pair(1), pair(2), pair(3));
        }
        store(p.y + start + col, scale_vector(load(p.h + start + col), gamma, scale));
      },
      [&](int col) {
        const float h = __bfloat162float(p.h[start + col]);
        p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
      });
}

// A vector per thread, where rows are short enough: an SM has more rows at once.
inline cudaError_t launch_any_width(const FusedNorm& p, cudaStream_t stream) {
  const int threads = p.cols <= 128 * vector ? 128 : p.cols <= 256 * vector ? 256 : 512;
  auto* kernel = threads == 128   ? row_of_any_width<128>
                 : threads == 256 ? row_of_any_width<256>
                                  : row_of_any_width<512>;
  kernel<<<p.rows, threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace ladder
