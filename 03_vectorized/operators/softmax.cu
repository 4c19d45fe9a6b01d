// Softmax with the row in registers: x is read once and y is written once, whether the sum is taken after the
// maximum or online with it. What an online sum saves here is a reduction, and with it a barrier that all
// threads of the row wait at.
#include "common/rows/row_operators.cuh"

namespace ladder::rung_03 {
namespace {

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of 8 and at most blockDim.x · vectors · 8. `online`: each thread takes the exponentials
// relative to its own largest element, without waiting for the row's.
template <bool online, int vectors, int most_threads>
__global__ void __launch_bounds__(most_threads) softmax_in_registers(RowOperator p) {
  __shared__ float partial[2][warp_size];
  __shared__ Exponentials partial_pairs[warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return (v * int(blockDim.x) + int(threadIdx.x)) * vector; };

  uint4 x[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    constexpr unsigned minus_infinity = 0xFF80FF80;  // two of them, past the row's end: exp is 0
    x[v] = make_uint4(minus_infinity, minus_infinity, minus_infinity, minus_infinity);
    if (column(v) < p.cols) x[v] = load(p.x + start + column(v));
  }

  // The exponentials stay in fp32 registers where there are enough. An SM computes 16 of them per cycle, and
  // computing them again costs as much as the first time.
  constexpr bool kept = vectors * most_threads <= 1024;
  float largest = lowest;
#pragma unroll
  for (int v = 0; v < vectors; ++v) for_vector(x[v], [&](float one, int) { largest = fmaxf(largest, one); });
  if constexpr (!online) largest = row_merge(largest, lowest, partial[0]);

  float e[kept ? vectors : 1][vector], sum = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (!kept) forget(x[v]);
    for_vector(x[v], [&](float one, int i) { sum += e[kept ? v : 0][i] = __expf(one - largest); });
  }

  float scale;
  if constexpr (online) {
    const Exponentials all = row_merge(Exponentials{largest, sum}, {lowest, 0}, partial_pairs);
    scale = __fdividef(__expf(largest - all.largest), all.sum);
  } else {
    scale = __fdividef(1, row_sum(sum, partial[1]));
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if (!kept) forget(x[v]);
    store(p.y + start + column(v), map_vector(x[v], [&](float one, int i) {
            return (kept ? e[kept ? v : 0][i] : __expf(one - largest)) * scale;
          }));
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; several rows to a CTA where that is
// one warp.
template <bool online, int vectors, int most_threads>
cudaError_t launch(const RowOperator& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  softmax_in_registers<online, vectors, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

template <bool online>
cudaError_t launch_by_width(const RowOperator& p, cudaStream_t stream) {
  // With eight vectors each, 1024 threads would spill: reading x again from L2 costs less.
  if (p.cols % vector != 0 || p.cols > 1024 * 4 * vector) return launch_softmax_of_any_width(p, stream);
  if (p.cols <= warp_size * 1 * vector) return launch<online, 1, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<online, 2, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<online, 4, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<online, 2, 512>(p, stream);
  return launch<online, 4, 1024>(p, stream);
}

}  // namespace

Variants<RowOperator> softmax() {
  static constexpr Extension<RowOperator> extension{.operation = RowOperation::softmax};
  return {{.name = "softmax_reread",
           .what = "softmax online, x read twice, from L2 where it holds the row: 3 matrix passes",
           .launch = launch_softmax_of_any_width,
           .extension = &extension},
          {.name = "softmax",
           .what = "row in registers, first the maximum, then the sum: 2 matrix passes",
           .launch = launch_by_width<false>,
           .extension = &extension},
          {.name = "softmax_online",
           .what = "row in registers, maximum and sum in one reduction: 2 matrix passes",
           .launch = launch_by_width<true>,
           .extension = &extension}};
}

}  // namespace ladder::rung_03
