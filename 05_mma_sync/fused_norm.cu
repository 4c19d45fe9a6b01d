// The row sum on tensor cores: the sum of squares of a matrix H is the trace of H·Hᵀ. Everything else is as
// in 03_vectorized. The sum gets cheaper, and the kernel takes as long as before: it waits for memory.
#include "05_mma_sync/variants.h"
#include "common/ptx/mma.cuh"

namespace ladder::rung_05 {
namespace {

constexpr int warp_size = 32;
constexpr int vector = 8;  // bf16 elements in 16 bytes

__device__ float warp_sum(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

// The sum over the threads of a row: blockDim.x of them, a warp or the whole CTA, which has up to 32 warps.
__device__ float row_sum(float value) {
  value = warp_sum(value);
  if (blockDim.x == warp_size) return value;
  __shared__ float partial[warp_size];
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = value;
  __syncthreads();  // partial[] is complete
  return warp_sum(lane < int(blockDim.x) / warp_size ? partial[lane] : 0.0f);
}

// Two bf16 in 32 bits: the first is the lower half. Widening is a shift, since bf16 is the upper half of
// fp32.
__device__ float low_half(unsigned pair) {
  return __uint_as_float(pair << 16);
}
__device__ float high_half(unsigned pair) {
  return __uint_as_float(pair & 0xFFFF0000u);
}
__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

__device__ uint4 load(const __nv_bfloat16* from) {
  return *reinterpret_cast<const uint4*>(from);
}
__device__ void store(__nv_bfloat16* to, uint4 bits) {
  *reinterpret_cast<uint4*>(to) = bits;
}

__device__ unsigned add_pair(unsigned x, unsigned residual) {
  return pack(low_half(x) + low_half(residual), high_half(x) + high_half(residual));
}
__device__ uint4 add_vector(uint4 x, uint4 residual) {
  return make_uint4(add_pair(x.x, residual.x), add_pair(x.y, residual.y), add_pair(x.z, residual.z),
                    add_pair(x.w, residual.w));
}
__device__ unsigned scale_pair(unsigned h, unsigned gamma, float scale) {
  return pack(low_half(h) * scale * low_half(gamma), high_half(h) * scale * high_half(gamma));
}
__device__ uint4 scale_vector(uint4 h, uint4 gamma, float scale) {
  return make_uint4(scale_pair(h.x, gamma.x, scale), scale_pair(h.y, gamma.y, scale),
                    scale_pair(h.z, gamma.z, scale), scale_pair(h.w, gamma.w, scale));
}

// Two ways to the sum of h² over a warp's part of a row. add() takes 8 elements from every lane; the lanes'
// shares, added up, are the sum.
struct FmaSum {
  float squares = 0;
  __device__ void add(uint4 h) {
    for (const unsigned pair : {h.x, h.y, h.z, h.w})
      squares += low_half(pair) * low_half(pair) + high_half(pair) * high_half(pair);
  }
  __device__ float share() const { return squares; }
};

// A warp's 256 elements are a 16 x 16 matrix H. Which element is where does not matter, so H is what lies in
// the registers already, read as a fragment A: lane 4g + t has x and z in row g, y and w in row g+8. The sum
// of squares is the trace of H·Hᵀ. And Hᵀ lies there, too: read as B, x and z are column g, at the same
// places along k as in A. So rows 0 to 7 meet themselves on the diagonal of one mma, and rows 8 to 15 on that
// of a second, which has them on top. Products of bf16 are exact, and are summed in fp32. Of 128 results 8
// count.
struct MmaSum {
  float gram[4] = {};  // the lane's: row g, columns 2t and 2t+1; row g+8, which does not count
  __device__ void add(uint4 h) {
    ptx::mma_m16n8k16(gram, {h.x, h.y, h.z, h.w}, {h.x, h.z});
    ptx::mma_m16n8k16(gram, {h.y, h.x, h.w, h.z}, {h.y, h.w});
  }
  __device__ float share() const {
    const int lane = threadIdx.x % warp_size, g = lane / 4, t = lane % 4;
    if (g == 2 * t) return gram[0];
    if (g == 2 * t + 1) return gram[1];
    return 0;
  }
};

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of 8 and at most blockDim.x · vectors · 8. Where there are registers for it, gamma arrives
// during the reduction.
template <int vectors, class Sum, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_registers(FusedNorm p) {
  constexpr bool gamma_early = most_threads <= 512;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (vectors < 8 && row >= p.rows) return;  // all threads of the row together; 8 vectors: a CTA per row
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) {
    return (v * int(blockDim.x) + int(threadIdx.x)) * vector;
  };  // of this thread's v-th vector

  uint4 h[vectors], gamma[vectors];
  if constexpr (gamma_early) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
  }
  Sum sum;
  constexpr int batch = vectors < 8 ? vectors : 2;  // 1024 threads have no registers for more of x, residual
#pragma unroll
  for (int first = 0; first < vectors; first += batch) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int v = 0; v < batch; ++v) {
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);
      if (column(first + v) >= p.cols) continue;
      x[v] = load(p.x + start + column(first + v));
      residual[v] = load(p.residual + start + column(first + v));
    }
#pragma unroll
    for (int v = 0; v < batch; ++v) h[first + v] = add_vector(x[v], residual[v]);
#pragma unroll
    for (int v = 0; v < batch; ++v) sum.add(h[first + v]);
  }

  const float scale = rsqrtf(row_sum(sum.share()) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if constexpr (!gamma_early) gamma[v] = load(p.gamma + column(v));
    store(p.h + start + column(v), h[v]);
    store(p.y + start + column(v), scale_vector(h[v], gamma[v], scale));
  }
}

// Any width, for what the kernel above does not take: rows too long for registers, and rows that do not start
// on a 16-byte boundary. x, residual, h and y share their alignment: single elements up to the first
// boundary, then vectors, then single elements. h is read back from L2.
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

  FmaSum sum;
  for (int col = head + threadIdx.x * vector; col < body_end; col += threads * vector) {
    const uint4 h = add_vector(load(p.x + start + col), load(p.residual + start + col));
    store(p.h + start + col, h);
    sum.add(h);
  }
  for_scalars([&](int col) {
    const float x = __bfloat162float(p.x[start + col]), residual = __bfloat162float(p.residual[start + col]);
    p.h[start + col] = __float2bfloat16_rn(x + residual);
    sum.squares += __bfloat162float(p.h[start + col]) * __bfloat162float(p.h[start + col]);
  });

  const float scale = rsqrtf(row_sum(sum.share()) / float(p.cols) + p.eps);
  for (int col = head + threadIdx.x * vector; col < body_end; col += threads * vector) {
    __align__(16) __nv_bfloat16 gamma[vector];  // not aligned with the row: one by one, from L1 mostly
#pragma unroll
    for (int i = 0; i < vector; ++i) gamma[i] = p.gamma[col + i];
    store(p.y + start + col, scale_vector(load(p.h + start + col), load(gamma), scale));
  }
  for_scalars([&](int col) {
    const float h = __bfloat162float(p.h[start + col]);
    p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
  });
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp.
template <int vectors, class Sum, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  row_in_registers<vectors, Sum, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

// Few vectors per thread, so that several CTAs fit on an SM and one reads while another reduces; up to 1024
// threads.
template <class Sum>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector != 0 || p.cols > 1024 * 8 * vector) {
    row_of_any_width<<<p.rows, any_width_threads, 0, stream>>>(p);
    return cudaGetLastError();
  }
  if (p.cols <= warp_size * 1 * vector) return launch<1, Sum, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, Sum, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, Sum, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, Sum, 512>(p, stream);
  if (p.cols <= 1024 * 4 * vector) return launch<4, Sum, 1024>(p, stream);
  return launch<8, Sum, 1024>(p, stream);
}

}  // namespace

cudaError_t fused_norm_fma_sum(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<FmaSum>(p, stream);
}
cudaError_t fused_norm_mma_sync(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<MmaSum>(p, stream);
}

}  // namespace ladder::rung_05
