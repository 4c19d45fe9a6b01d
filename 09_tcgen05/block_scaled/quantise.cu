// Rounds A and B to a precision, into the workspace: both with k along the rows, which the tensor core
// requires of 4-bit elements, and with the scales in the layout that tcgen05.cp copies. nvfp4 takes two
// passes: the scale of the matrix, from its largest element, has to be known before any block's. A chain of
// layers needs no such kernel for A: block_scaled/fused_norm.cu stores its y in the same layout.
#include <algorithm>

#include "09_tcgen05/block_scaled/quantise.cuh"

namespace ladder::rung_09 {
namespace {

constexpr int threads = 256;

struct Quantised {
  QuantisedLayout layout;
  unsigned char *elements, *scales;
  const unsigned* largest;  // of the matrix, the bits of a float; null where it has no scale
  float* matrix_scale;
};

// Elements that a thread rounds together: a block; without scales, as many as 32 bytes of fp32 hold.
template <Precision precision>
constexpr int unit = block<precision> ? block<precision> : 8;

template <Precision precision>
__device__ void store_block(const Quantised& to, int row, int of_block, const float (&x)[unit<precision>]) {
  float matrix_scale = 1;
  if constexpr (precision == Precision::nvfp4) {
    matrix_scale = matrix_scale_of(__uint_as_float(*to.largest));
    if (row == 0 && of_block == 0) *to.matrix_scale = matrix_scale;
  }
  unsigned scale = 0, rounded[unit<precision> * bits<precision> / 32];
  if constexpr (block<precision> != 0) {
    scale = scale_byte<precision>(largest_of(x), matrix_scale);
    to.scales[to.layout.scale_at(row, of_block)] = static_cast<unsigned char>(scale);
  }
  round_elements<precision>(x, scale, matrix_scale, rounded);
  store_words(to.elements + row * to.layout.pitch() + of_block * sizeof rounded, rounded);
}

// The largest |x| of a whole matrix: *largest is 0 beforehand. The number of elements is a multiple of four.
__global__ void __launch_bounds__(threads)
    find_largest(const float* matrix, std::size_t count, unsigned* largest) {
  float mine = 0;  // a NaN is never the larger one to fmaxf
  for (std::size_t i = (std::size_t(blockIdx.x) * threads + threadIdx.x) * 4; i < count;
       i += std::size_t(gridDim.x) * threads * 4) {
    const float4 x = *reinterpret_cast<const float4*>(matrix + i);
    mine = fmaxf(mine, largest_of({x.x, x.y, x.z, x.w}));
  }
  const unsigned of_warp = __reduce_max_sync(~0u, __float_as_uint(mine));
  if (threadIdx.x % 32 == 0) atomicMax(largest, of_warp);
}

// A: a thread for each block of a row. k is a multiple of the block.
template <Precision precision>
__global__ void __launch_bounds__(threads) quantise_rows(const float* from, Quantised to) {
  constexpr int length = unit<precision>;
  const int blocks = to.layout.cols / length;
  const std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= std::size_t(to.layout.rows) * blocks) return;
  float x[length];
#pragma unroll
  for (int v = 0; v < length; v += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + i * length + v);
    x[v] = four.x;
    x[v + 1] = four.y;
    x[v + 2] = four.z;
    x[v + 3] = four.w;
  }
  store_block<precision>(to, int(i / blocks), int(i % blocks), x);
}

// B: a thread for each block of a column, which becomes a row. Neighbours read neighbouring columns.
template <Precision precision>
__global__ void __launch_bounds__(threads) quantise_columns(const float* from, Quantised to) {
  constexpr int length = unit<precision>;
  const int n = to.layout.rows;
  const std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= std::size_t(n) * (to.layout.cols / length)) return;
  const int col = int(i % n), of_block = int(i / n);
  float x[length];
#pragma unroll
  for (int j = 0; j < length; ++j) x[j] = from[(std::size_t(of_block) * length + j) * n + col];
  store_block<precision>(to, col, of_block, x);
}

unsigned grid(const QuantisedLayout& layout, int length) {
  return unsigned((std::size_t(layout.rows) * (layout.cols / length) + threads - 1) / threads);
}

}  // namespace

template <Precision precision>
cudaError_t quantise(const Gemm& p, cudaStream_t stream) {
  constexpr int length = unit<precision>;
  const Workspace w(precision, p);
  // Past the end of a row scales are 0. The elements there are 0, too, but 0 times a scale that happens to be
  // NaN would be NaN.
  for (auto [scales, bytes] : {std::pair(w.a_scales, w.a.scale_bytes()), {w.b_scales, w.b.scale_bytes()}}) {
    if (bytes == 0) continue;
    const cudaError_t error = cudaMemsetAsync(scales, 0, bytes, stream);
    if (error != cudaSuccess) return error;
  }
  if constexpr (precision == Precision::nvfp4) {
    const cudaError_t error = cudaMemsetAsync(w.largest, 0, 2 * sizeof *w.largest, stream);
    if (error != cudaSuccess) return error;
    auto find = [&](const float* matrix, std::size_t count, unsigned* largest) {
      const std::size_t ctas = std::min<std::size_t>((count - 1) / (threads * 4) + 1, 1024);
      find_largest<<<unsigned(ctas), threads, 0, stream>>>(matrix, count, largest);
    };
    find(p.typed->a, std::size_t(p.m) * p.k, &w.largest[0]);
    find(p.typed->b, std::size_t(p.k) * p.n, &w.largest[1]);
  }
  const Quantised a{w.a, w.a_elements, w.a_scales, w.largest, w.a_matrix_scale};
  const Quantised b{w.b, w.b_elements, w.b_scales, w.largest ? w.largest + 1 : nullptr, w.b_matrix_scale};
  quantise_rows<precision><<<grid(w.a, length), threads, 0, stream>>>(p.typed->a, a);
  quantise_columns<precision><<<grid(w.b, length), threads, 0, stream>>>(p.typed->b, b);
  return cudaGetLastError();
}
template cudaError_t quantise<Precision::fp8>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::mxfp8>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::nvfp4>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::nvfp4_blocks>(const Gemm&, cudaStream_t);

}  // namespace ladder::rung_09
