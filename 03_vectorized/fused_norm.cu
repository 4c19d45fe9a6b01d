// 16 bytes per load and store. A thread keeps its part of the row in registers from the first read to the last write:
// all reads are on their way before the first write, gamma included, and nothing is read twice. Narrow rows share a CTA.
#include <type_traits>

#include "03_vectorized/rung.h"

namespace ladder::rung_03 {
namespace {

constexpr int warp_size = 32;
constexpr int vector = 8;  // bf16 elements in 16 bytes

__device__ float warp_sum(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

// The sum over the threads of a row: a warp's, or the whole CTA's.
template <int threads_per_row>
__device__ float row_sum(float value) {
  value = warp_sum(value);
  if constexpr (threads_per_row > warp_size) {
    constexpr int warps = threads_per_row / warp_size;
    __shared__ float partial[warps];
    const int lane = threadIdx.x % warp_size;
    if (lane == 0) partial[threadIdx.x / warp_size] = value;
    __syncthreads();  // partial[] is complete
    value = warp_sum(lane < warps ? partial[lane] : 0.0f);
  }
  return value;
}

// Two bf16 in 32 bits: the first is the lower half. Widening is a shift, since bf16 is the upper half of fp32.
__device__ float low_half(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float high_half(unsigned pair) { return __uint_as_float(pair & 0xFFFF0000u); }
__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

__device__ uint4 load(const __nv_bfloat16* from) { return *reinterpret_cast<const uint4*>(from); }
__device__ void store(__nv_bfloat16* to, uint4 bits) { *reinterpret_cast<uint4*>(to) = bits; }

__device__ unsigned add_pair(unsigned x, unsigned residual, float& squares) {
  const unsigned h = pack(low_half(x) + low_half(residual), high_half(x) + high_half(residual));
  squares += low_half(h) * low_half(h) + high_half(h) * high_half(h);
  return h;
}
__device__ uint4 add_vector(uint4 x, uint4 residual, float& squares) {
  return make_uint4(add_pair(x.x, residual.x, squares), add_pair(x.y, residual.y, squares),
                    add_pair(x.z, residual.z, squares), add_pair(x.w, residual.w, squares));
}
__device__ unsigned scale_pair(unsigned h, unsigned gamma, float scale) {
  return pack(low_half(h) * scale * low_half(gamma), high_half(h) * scale * high_half(gamma));
}
__device__ uint4 scale_vector(uint4 h, uint4 gamma, float scale) {
  return make_uint4(scale_pair(h.x, gamma.x, scale), scale_pair(h.y, gamma.y, scale), scale_pair(h.z, gamma.z, scale),
                    scale_pair(h.w, gamma.w, scale));
}

enum class Order {
  interleaved,        // h is written as soon as it is known, gamma is read when it is needed
  reads_then_writes,  // everything is read before anything is written
};

// cols is a multiple of 8 and at most threads_per_row · vectors · 8.
template <int threads_per_row, int rows_per_cta, int vectors, Order order>
__global__ void __launch_bounds__(threads_per_row* rows_per_cta) row_in_registers(FusedNorm p) {
  static_assert(threads_per_row == warp_size || rows_per_cta == 1, "a row is a warp's, or the whole CTA's");
  const int row = blockIdx.x * rows_per_cta + threadIdx.y;
  if (row >= p.rows) return;
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return (v * threads_per_row + int(threadIdx.x)) * vector; };  // of this thread's v-th vector

  uint4 x[vectors], residual[vectors], gamma[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = residual[v] = gamma[v] = make_uint4(0, 0, 0, 0);
    if (column(v) < p.cols) {
      x[v] = load(p.x + start + column(v));
      residual[v] = load(p.residual + start + column(v));
    }
  }
  if constexpr (order == Order::reads_then_writes) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
  }

  float squares = 0;
  uint4(&h)[vectors] = x;  // in place
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    h[v] = add_vector(x[v], residual[v], squares);
    if (order == Order::interleaved && column(v) < p.cols) store(p.h + start + column(v), h[v]);
  }

  const float scale = rsqrtf(row_sum<threads_per_row>(squares) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if constexpr (order == Order::reads_then_writes) {
      store(p.h + start + column(v), h[v]);
    } else {
      gamma[v] = load(p.gamma + column(v));
    }
    store(p.y + start + column(v), scale_vector(h[v], gamma[v], scale));
  }
}

// Any width, for what the kernel above does not take: rows too long for registers, and rows that do not start on a
// 16-byte boundary because cols is no multiple of 8. x, residual, h and y share their alignment, so a few elements are
// done one by one up to the first boundary, then vectors, then the rest one by one. h is read back from L2.
constexpr int any_width_threads = 512;
__global__ void __launch_bounds__(any_width_threads) row_of_any_width(FusedNorm p) {
  constexpr int threads = any_width_threads;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int to_boundary = int((vector - start % vector) % vector);
  const int head = to_boundary < p.cols ? to_boundary : p.cols;
  const int body_end = head + (p.cols - head) / vector * vector;
  auto for_scalars = [&](auto&& body) {
    for (int col = threadIdx.x; col < head; col += threads) body(col);
    for (int col = body_end + threadIdx.x; col < p.cols; col += threads) body(col);
  };

  float squares = 0;
  for (int col = head + threadIdx.x * vector; col < body_end; col += threads * vector)
    store(p.h + start + col, add_vector(load(p.x + start + col), load(p.residual + start + col), squares));
  for_scalars([&](int col) {
    const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
    p.h[start + col] = __float2bfloat16_rn(sum);
    squares += __bfloat162float(p.h[start + col]) * __bfloat162float(p.h[start + col]);
  });

  const float scale = rsqrtf(row_sum<threads>(squares) / float(p.cols) + p.eps);
  for (int col = head + threadIdx.x * vector; col < body_end; col += threads * vector) {
    __nv_bfloat16 gamma[vector];  // not aligned with the row: one by one, and from L1 after the first row
#pragma unroll
    for (int i = 0; i < vector; ++i) gamma[i] = p.gamma[col + i];
    const uint4 gamma_bits = make_uint4(pack(gamma[0], gamma[1]), pack(gamma[2], gamma[3]), pack(gamma[4], gamma[5]), pack(gamma[6], gamma[7]));
    store(p.y + start + col, scale_vector(load(p.h + start + col), gamma_bits, scale));
  }
  for_scalars([&](int col) {
    const float h = __bfloat162float(p.h[start + col]);
    p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
  });
}

template <int threads_per_row, int rows_per_cta, int vectors, Order order>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const dim3 cta(threads_per_row, rows_per_cta);
  row_in_registers<threads_per_row, rows_per_cta, vectors, order><<<ceil_div(p.rows, rows_per_cta), cta, 0, stream>>>(p);
  return cudaGetLastError();
}

// As few threads per row as hold it in at most 4 vectors each, from a warp to a CTA of 1024.
template <Order order>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector != 0 || p.cols > 1024 * 8 * vector) {
    row_of_any_width<<<p.rows, any_width_threads, 0, stream>>>(p);
    return cudaGetLastError();
  }
  if (p.cols <= 32 * 1 * vector) return launch<32, 8, 1, order>(p, stream);
  if (p.cols <= 32 * 2 * vector) return launch<32, 8, 2, order>(p, stream);
  if (p.cols <= 32 * 4 * vector) return launch<32, 8, 4, order>(p, stream);
  if (p.cols <= 128 * 2 * vector) return launch<128, 1, 2, order>(p, stream);
  if (p.cols <= 256 * 2 * vector) return launch<256, 1, 2, order>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<512, 1, 2, order>(p, stream);
  if (p.cols <= 1024 * 2 * vector) return launch<1024, 1, 2, order>(p, stream);
  if (p.cols <= 1024 * 4 * vector) return launch<1024, 1, 4, order>(p, stream);
  return launch<1024, 1, 8, order>(p, stream);
}

}  // namespace

cudaError_t fused_norm_any_width(const FusedNorm& p, cudaStream_t stream) {
  row_of_any_width<<<p.rows, any_width_threads, 0, stream>>>(p);
  return cudaGetLastError();
}
cudaError_t fused_norm_interleaved(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<Order::interleaved>(p, stream);
}
cudaError_t fused_norm_vectorized(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<Order::reads_then_writes>(p, stream);
}

}  // namespace ladder::rung_03
