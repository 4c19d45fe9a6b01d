// Rounds A and B to a precision, into the workspace: both with k along the rows, which the tensor core
// requires of 4-bit elements, and with the scales in the layout that tcgen05.cp copies. A chain of layers
// needs no such kernel for A: block_scaled/fused_norm.cu stores its y in the same layout.
#include "09_tcgen05/block_scaled/quantise.cuh"

namespace ladder::rung_09 {
namespace {

constexpr int threads = 256;

struct Quantised {
  QuantisedLayout layout;
  unsigned char *elements, *scales;
};

// Elements that a thread rounds together: a block; without scales, as many as 32 bytes of fp32 hold.
template <Precision precision>
constexpr int unit = block<precision> ? block<precision> : 8;

template <Precision precision>
__device__ void store_block(const Quantised& to, int row, int of_block, const float (&x)[unit<precision>]) {
  unsigned scale = 0, rounded[unit<precision> * bits<precision> / 32];
  if constexpr (block<precision> != 0) {
    scale = scale_byte<precision>(largest_of(x));
    to.scales[to.layout.scale_at(row, of_block)] = static_cast<unsigned char>(scale);
  }
  round_elements<precision>(x, scale, rounded);
  store_words(to.elements + row * to.layout.pitch() + of_block * sizeof rounded, rounded);
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
  quantise_rows<precision>
      <<<grid(w.a, length), threads, 0, stream>>>(p.typed->a, {w.a, w.a_elements, w.a_scales});
  quantise_columns<precision>
      <<<grid(w.b, length), threads, 0, stream>>>(p.typed->b, {w.b, w.b_elements, w.b_scales});
  return cudaGetLastError();
}
template cudaError_t quantise<Precision::fp8>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::mxfp8>(const Gemm&, cudaStream_t);
template cudaError_t quantise<Precision::nvfp4>(const Gemm&, cudaStream_t);

}  // namespace ladder::rung_09
