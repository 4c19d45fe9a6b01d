// LayerNorm as the rung's fused norm: 16 bytes per load and store, and the row stays in registers from its
// one read to the write of y. So the second pass over it, for the variance, costs no memory traffic: there is
// no reason to take the variance as the difference of two sums, which cancels where the mean is large.
#include "common/rows/row_operators.cuh"

namespace ladder::rung_03 {
namespace {

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of 8 and at most blockDim.x · vectors · 8.
template <int vectors, int most_threads>
__global__ void __launch_bounds__(most_threads) layer_norm_in_registers(RowOperator p) {
  __shared__ float partial[2][warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return (v * int(blockDim.x) + int(threadIdx.x)) * vector; };

  // 1024 threads have 64 registers each: too few to hold gamma and beta as well.
  constexpr bool vectors_early = most_threads < 1024;
  uint4 x[vectors], gamma[vectors], beta[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = make_uint4(0, 0, 0, 0);  // past the row's end: adds nothing to the mean
    if (column(v) < p.cols) x[v] = load(p.x + start + column(v));
  }
  if constexpr (vectors_early) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (column(v) >= p.cols) break;
      gamma[v] = load(p.gamma + column(v));
      beta[v] = load(p.beta + column(v));
    }
  }

  float sum = 0, squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) for_vector(x[v], [&](float one, int) { sum += one; });
  const float mean = row_sum(sum, partial[0]) / float(p.cols);
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    if (column(v) < p.cols)  // a zero past the row's end differs from the mean
      for_vector(x[v], [&](float one, int) { squares += (one - mean) * (one - mean); });
  const float scale = rsqrtf(row_sum(squares, partial[1]) / float(p.cols) + p.eps);

#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if constexpr (!vectors_early) {
      gamma[v] = load(p.gamma + column(v));
      beta[v] = load(p.beta + column(v));
    }
    store(p.y + start + column(v), normalised(x[v], gamma[v], beta[v], mean, scale));
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; several rows to a CTA where that is
// one warp.
template <int vectors, int most_threads>
cudaError_t launch(const RowOperator& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  layer_norm_in_registers<vectors, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

cudaError_t launch_by_width(const RowOperator& p, cudaStream_t stream) {
  if (p.cols % vector != 0 || p.cols > 1024 * 8 * vector) return launch_layer_norm_of_any_width(p, stream);
  if (p.cols <= warp_size * 1 * vector) return launch<1, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, 512>(p, stream);
  if (p.cols <= 1024 * 4 * vector) return launch<4, 1024>(p, stream);
  return launch<8, 1024>(p, stream);
}

}  // namespace

Variants<RowOperator> layer_norm() {
  static constexpr Extension<RowOperator> extension{.operation = RowOperation::layer_norm};
  return {{.name = "layer_norm_reread",
           .what = "LayerNorm, x read three times, from L2 where it holds the row: 4 matrix passes",
           .launch = launch_layer_norm_of_any_width,
           .extension = &extension},
          {.name = "layer_norm",
           .what = "LayerNorm, row in registers: 2 matrix passes",
           .launch = launch_by_width,
           .extension = &extension}};
}

}  // namespace ladder::rung_03
