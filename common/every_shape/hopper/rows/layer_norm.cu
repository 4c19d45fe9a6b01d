// LayerNorm of rows in the registers of a cluster. The CTAs exchange twice: sums, which give the mean, and
// the squares of what differs from it.
#include "common/every_shape/hopper/rows/row_in_cluster.cuh"

namespace ladder::every_shape {
namespace {

constexpr int most_vectors = 16;  // of a thread

template <class C>
__global__ void __launch_bounds__(C::most_threads, C::per_sm) layer_norm_in_cluster(RowOperator p) {
  constexpr int vectors = C::vectors;
  __shared__ rows::Reduction<C, float> of_sums, of_squares;
  rows::init<C>(of_sums, of_squares);
  const rows::Part<C> part(p.rows, p.cols);

  // A thread with 16 vectors has no registers for gamma and beta, too: it loads them late.
  constexpr bool vectors_early = vectors <= 4;
  uint4 x[vectors], gamma[vectors], beta[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = make_uint4(0, 0, 0, 0);  // past the row's end: adds nothing to the mean
    if (part.has(v)) x[v] = load(p.x + part.start + part.column(v));
  }
  if constexpr (vectors_early) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (!part.has(v)) break;
      gamma[v] = load(p.gamma + part.column(v));
      beta[v] = load(p.beta + part.column(v));
    }
  }

  float sum = 0, squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) for_vector(x[v], [&](float one, int) { sum += one; });
  rows::wait_for_peers<C>();
  const float mean = rows::sum(sum, of_sums) / float(p.cols);
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    if (part.has(v))  // a zero past the row's end differs from the mean
      for_vector(x[v], [&](float one, int) { squares += (one - mean) * (one - mean); });
  const float scale = rsqrtf(rows::sum(squares, of_squares) / float(p.cols) + p.eps);

#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (!part.has(v)) break;
    if constexpr (!vectors_early) {
      gamma[v] = load(p.gamma + part.column(v));
      beta[v] = load(p.beta + part.column(v));
    }
    store(p.y + part.start + part.column(v), normalised(x[v], gamma[v], beta[v], mean, scale));
  }
}

cudaError_t launch(const RowOperator& p, cudaStream_t stream) {
  if (!rows::in_registers<most_vectors>(p.cols)) return launch_layer_norm_of_any_width(p, stream);
  return rows::by_width<most_vectors>(p.cols, [&](auto config) {
    using C = decltype(config);
    return rows::launch<C>(layer_norm_in_cluster<C>, p, stream);
  });
}

}  // namespace

Variants<RowOperator> layer_norm() {
  static constexpr Extension<RowOperator> extension{.operation = RowOperation::layer_norm};
  return {{.name = "layer_norm",
           .what = "LayerNorm, row in the registers of a cluster, two exchanges: 2 matrix passes",
           .launch = launch,
           .extension = &extension}};
}

}  // namespace ladder::every_shape
