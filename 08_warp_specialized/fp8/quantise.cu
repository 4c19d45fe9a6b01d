// Rounds A and B to 8 bits, into the workspace, both with k along the rows: of 8-bit operands wgmma
// transposes none. B is transposed in shared memory, since it is read along n and written along k.
#include <algorithm>

#include "08_warp_specialized/fp8/workspace.h"
#include "common/ptx/cvt.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_08 {
namespace {

constexpr int threads = 256, block = BlockScales::block;
constexpr int each = block / warp_size;  // elements of a block that a lane has: 16 bytes of fp32, 4 of 8 bits

// The scale of elements of which this is the largest, where the precision has scales.
template <Precision precision>
__device__ float scale_of(float largest) {
  constexpr bool tensor = precision == Precision::fp8_tensor;
  if (precision != Precision::fp8_block && !tensor) return 1;
  const float scale = largest / 448;
  return tensor && scale == 0 ? 1 : scale;
}

// Four elements with this scale, the first in the lowest byte.
template <Number number>
__device__ unsigned rounded(const float (&x)[each], float scale) {
  float q[each];
#pragma unroll
  for (int i = 0; i < each; ++i) q[i] = scale == 0 ? 0 : x[i] / scale;
  if constexpr (number == Number::e5m2) {
    return ptx::e5m2x2(q[0], q[1]) | ptx::e5m2x2(q[2], q[3]) << 16;
  } else {
    static_assert(number == Number::e4m3);
    return ptx::e4m3x2(q[0], q[1]) | ptx::e4m3x2(q[2], q[3]) << 16;
  }
}

__device__ float warp_max(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFu, value, distance));
  return value;
}

// The largest |x| of a whole matrix: *largest is 0 beforehand. The number of elements is a multiple of four.
__global__ void __launch_bounds__(threads)
    find_largest(const float* matrix, std::size_t count, unsigned* largest) {
  float mine = 0;  // a NaN is never the larger one to fmaxf
  for (std::size_t i = (std::size_t(blockIdx.x) * threads + threadIdx.x) * each; i < count;
       i += std::size_t(gridDim.x) * threads * each) {
    const float4 x = *reinterpret_cast<const float4*>(matrix + i);
    mine = fmaxf(fmaxf(mine, fmaxf(fabsf(x.x), fabsf(x.y))), fmaxf(fabsf(x.z), fabsf(x.w)));
  }
  mine = warp_max(mine);
  if (threadIdx.x % warp_size == 0) atomicMax(largest, __float_as_uint(mine));
}

// A: a warp for each 128 elements of a row. k is a multiple of four.
template <Precision precision>
__global__ void __launch_bounds__(threads) quantise_rows(const float* from, const Workspace to) {
  const int rows = to.a.rows, k = to.a.cols, blocks = ceil_div(k, block);
  const std::size_t i = (std::size_t(blockIdx.x) * threads + threadIdx.x) / warp_size;
  if (i >= std::size_t(rows) * blocks) return;  // whole warps
  const int row = int(i / blocks), of_block = int(i % blocks);
  const int col = of_block * block + threadIdx.x % warp_size * each;
  float x[each]{};
  if (col < k)
    *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(from + std::size_t(row) * k + col);
  float largest = 0;
#pragma unroll
  for (float value : x) largest = fmaxf(largest, fabsf(value));
  if constexpr (precision == Precision::fp8_tensor) {
    largest = __uint_as_float(to.largest[0]);
  } else {
    largest = warp_max(largest);
  }
  const float scale = scale_of<precision>(largest);
  if (col < k)
    *reinterpret_cast<unsigned*>(to.a_elements + row * to.a.pitch() + col) =
        rounded<format_of(precision).a>(x, scale);
  if constexpr (precision == Precision::fp8_block) {
    if (threadIdx.x % warp_size == 0) to.a_scales[to.scales_a.at(row, of_block)] = scale;
  } else if constexpr (precision == Precision::fp8_tensor) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *to.a_scales = scale;
  }
}

// B: a CTA for each 128 by 128 elements, 32 of k at a time.
template <Precision precision>
__global__ void __launch_bounds__(threads) quantise_columns(const float* from, const Workspace to) {
  constexpr int slab = 32;
  __shared__ float transposed[block][slab + 1];  // [n][k]; one column more: no bank conflicts
  __shared__ float of_warp[threads / warp_size];
  const int n = to.b.rows, k = to.b.cols, blocks = ceil_div(k, block);
  const int of_n = int(blockIdx.x / blocks), of_k = int(blockIdx.x % blocks);
  const int first_n = of_n * block, first_k = of_k * block;
  auto element = [&](int at_k, int at_n) {
    const int row = first_k + at_k, col = first_n + at_n;
    return row < k && col < n ? from[std::size_t(row) * n + col] : 0.0f;
  };

  float scale = 1;
  if constexpr (precision == Precision::fp8_block) {
    float largest = 0;
    for (int i = threadIdx.x; i < block * block; i += threads)
      largest = fmaxf(largest, fabsf(element(i / block, i % block)));
    largest = warp_max(largest);
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = largest;
    __syncthreads();  // of_warp[] is complete
    for (float one : of_warp) largest = fmaxf(largest, one);
    scale = scale_of<precision>(largest);
    if (threadIdx.x == 0) to.b_scales[to.scales_b.at(of_n, of_k)] = scale;
  } else if constexpr (precision == Precision::fp8_tensor) {
    scale = scale_of<precision>(__uint_as_float(to.largest[1]));
    if (blockIdx.x == 0 && threadIdx.x == 0) *to.b_scales = scale;
  }
  for (int from_k = 0; from_k < block; from_k += slab) {
    for (int i = threadIdx.x; i < slab * block; i += threads)
      transposed[i % block][i / block] = element(from_k + i / block, i % block);
    __syncthreads();  // transposed[] is complete
    for (int i = threadIdx.x; i < slab * block / each; i += threads) {
      const int at = i % (slab / each) * each, row = i / (slab / each), col = first_k + from_k + at;
      float x[each];
#pragma unroll
      for (int j = 0; j < each; ++j) x[j] = transposed[row][at + j];
      if (first_n + row < n && col < k)
        *reinterpret_cast<unsigned*>(to.b_elements + (first_n + row) * to.b.pitch() + col) =
            rounded<format_of(precision).b>(x, scale);
    }
    __syncthreads();  // transposed[] is free
  }
}

}  // namespace

Text rows_of_words(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % each == 0) return {};
  return "n must be a multiple of 8: C's rows are multiples of 16 bytes; k of 4, which are rounded together";
}

template <Precision precision>
cudaError_t quantise(const Gemm& p, cudaStream_t stream) {
  const Workspace w(precision, p, p.typed->workspace);
  if constexpr (precision == Precision::fp8_tensor) {
    const cudaError_t error = cudaMemsetAsync(w.largest, 0, 2 * sizeof *w.largest, stream);
    if (error != cudaSuccess) return error;
    auto find = [&](const float* matrix, std::size_t count, unsigned* largest) {
      const std::size_t ctas = std::min<std::size_t>((count - 1) / (threads * each) + 1, 1024);
      find_largest<<<unsigned(ctas), threads, 0, stream>>>(matrix, count, largest);
    };
    find(p.typed->a, std::size_t(p.m) * p.k, &w.largest[0]);
    find(p.typed->b, std::size_t(p.k) * p.n, &w.largest[1]);
  }
  const std::size_t blocks = ceil_div(p.k, block);
  constexpr int warps = threads / warp_size;
  quantise_rows<precision>
      <<<unsigned((p.m * blocks + warps - 1) / warps), threads, 0, stream>>>(p.typed->a, w);
  quantise_columns<precision><<<unsigned(ceil_div(p.n, block) * blocks), threads, 0, stream>>>(p.typed->b, w);
  return cudaGetLastError();
}
template cudaError_t quantise<Precision::fp8>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::fp8_e5m2>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::fp8_e4m3_e5m2>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::fp8_e5m2_e5m2>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::fp8_tensor>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::fp8_block>(const Gemm&, cudaStream_t);

}  // namespace ladder::rung_08
