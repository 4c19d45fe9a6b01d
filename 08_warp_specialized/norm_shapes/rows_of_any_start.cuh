// Rows that start anywhere, in registers, as rows_in_ctas.cuh has aligned ones: a CTA has a row, or each of
// its warps has one.
#pragma once

#include "08_warp_specialized/norm_shapes/whole_vectors.cuh"
#include "common/ptx/predicated_store.cuh"

namespace ladder::rung_08::norm_shapes {

// A CTA has `rows` rows; where these are several, a warp each. cols is at least 16 and at most blockDim.x ·
// vectors · 8 - 63.
template <int vectors, int rows, int most_threads>
__global__ void __launch_bounds__(most_threads, 1024 / most_threads) rows_of_any_start(FusedNorm p) {
  __shared__ float partial[warp_size];
  const int index = rows == 1 ? int(blockIdx.x) : int(blockIdx.x) * rows + int(threadIdx.y);
  if (index >= p.rows) return;
  const WholeVectors row(p, index);
  const int thread = threadIdx.x, step = int(blockDim.x);  // from a vector of the thread to its next
  auto there = [&](int v) { return row.begin <= v * step + thread && v * step + thread < row.end; };
  const std::size_t at = row.at(thread);

  uint4 x[vectors], residual[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = residual[v] = make_uint4(0, 0, 0, 0);
    if (!there(v)) continue;
    x[v] = load(p.x + at + v * step * vector);
    residual[v] = load(p.residual + at + v * step * vector);
  }
  // The last warp has the fewest vectors.
  End end(p, row, thread + warp_size >= step);
  uint4 low[vectors], high[vectors];  // of gamma: ahead of the sum, behind which the row would wait for it
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    low[v] = high[v] = make_uint4(0, 0, 0, 0);
    if (!there(v)) continue;
    const __nv_bfloat16* from = p.gamma + row.gamma(v * step + thread) * vector;
    low[v] = load(from - (row.by() > 0 ? vector : 0));
    high[v] = load(from);
  }

  float squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = add_whole(x[v], residual[v], squares);
    ptx::store_16_bytes_if(there(v), p.h + at + v * step * vector, x[v]);
  }
  squares += end.store_h(p, row);
  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    ptx::store_16_bytes_if(there(v), p.y + at + v * step * vector,
                           scale_vector(x[v], shifted(low[v], high[v], row.by()), scale));
  end.store_y(p, row, scale);
}

template <int vectors, int rows, int most_threads>
cudaError_t launch_of_any_start(const FusedNorm& p, cudaStream_t stream) {
  const int warps = rows > 1 ? 1 : ceil_div(ceil_div(most_vectors(p), vectors), warp_size);
  rows_of_any_start<vectors, rows, most_threads>
      <<<ceil_div(p.rows, rows), dim3(warps * warp_size, rows), 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace ladder::rung_08::norm_shapes
