// Softmax of rows in the registers of a cluster. With the maximum first, the CTAs exchange twice; online,
// once: each thread takes its exponentials relative to its own largest element, and rescales them when the
// row's is known. The wider the row, the more an exchange costs beside what a CTA reads.
#include "common/every_shape/hopper/rows/row_in_cluster.cuh"

namespace ladder::every_shape {
namespace {

constexpr int most_vectors = 8;  // of a thread: with 16 it would spill

template <bool online, class C>
__global__ void __launch_bounds__(C::most_threads, C::per_sm) softmax_in_cluster(RowOperator p) {
  constexpr int vectors = C::vectors;
  __shared__ rows::Reduction<C, float> of_maxima, of_sums;
  __shared__ rows::Reduction<C, Exponentials> of_both;
  if constexpr (online) {
    rows::init<C>(of_both);
  } else {
    rows::init<C>(of_maxima, of_sums);
  }
  const rows::Part<C> part(p.rows, p.cols);

  uint4 x[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    constexpr unsigned minus_infinity = 0xFF80FF80;  // two of them, past the row's end: exp is 0
    x[v] = make_uint4(minus_infinity, minus_infinity, minus_infinity, minus_infinity);
    if (part.has(v)) x[v] = load(p.x + part.start + part.column(v));
  }

  // The exponentials stay in fp32 registers where there are enough. An SM computes 16 of them per cycle, and
  // computing them again costs as much as the first time.
  constexpr bool kept = vectors <= 4;
  float largest = lowest;
#pragma unroll
  for (int v = 0; v < vectors; ++v) for_vector(x[v], [&](float one, int) { largest = fmaxf(largest, one); });
  rows::wait_for_peers<C>();
  if constexpr (!online) largest = rows::merged(largest, lowest, of_maxima);

  float e[kept ? vectors : 1][vector], sum = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (!kept) forget(x[v]);
    for_vector(x[v], [&](float one, int i) { sum += e[kept ? v : 0][i] = __expf(one - largest); });
  }

  float scale;
  if constexpr (online) {
    const Exponentials all = rows::merged(Exponentials{largest, sum}, {lowest, 0}, of_both);
    scale = __fdividef(__expf(largest - all.largest), all.sum);
  } else {
    scale = __fdividef(1, rows::sum(sum, of_sums));
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (!part.has(v)) break;
    if (!kept) forget(x[v]);
    store(p.y + part.start + part.column(v), map_vector(x[v], [&](float one, int i) {
            return (kept ? e[kept ? v : 0][i] : __expf(one - largest)) * scale;
          }));
  }
}

template <bool online>
cudaError_t launch(const RowOperator& p, cudaStream_t stream) {
  if (!rows::in_registers<most_vectors>(p.cols)) return launch_softmax_of_any_width(p, stream);
  return rows::by_width<most_vectors>(p.cols, [&](auto config) {
    using C = decltype(config);
    return rows::launch<C>(softmax_in_cluster<online, C>, p, stream);
  });
}

}  // namespace

Variants<RowOperator> softmax() {
  static constexpr Extension<RowOperator> extension{.operation = RowOperation::softmax};
  return {{.name = "softmax",
           .what = "row in the registers of a cluster, the maximum first, two exchanges: 2 matrix passes",
           .launch = launch<false>,
           .extension = &extension},
          {.name = "softmax_online",
           .what = "row in the registers of a cluster, one exchange: 2 matrix passes",
           .launch = launch<true>,
           .extension = &extension}};
}

}  // namespace ladder::every_shape
