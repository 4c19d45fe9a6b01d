// Rows that start anywhere, in registers. As in rows_in_ctas.cuh a CTA or a cluster has a row; or, where rows
// are narrow, each warp has one.
#pragma once

#include "common/every_shape/hopper/rows/ahead.cuh"
#include "common/every_shape/hopper/rows/rows_in_ctas.cuh"
#include "common/every_shape/hopper/rows/whole_vectors.cuh"
#include "common/ptx/predicated_store.cuh"

namespace ladder::every_shape::norm_rows {

// `rows`: of a CTA. Where these are several, a warp each, and cols is at most vectors · 256 + 24. Else the
// CTAs of a cluster have `share` vectors each.
template <int vectors, int cluster, int rows, int most_threads, int ctas_of_sm>
__global__ void __launch_bounds__(most_threads, ctas_of_sm) rows_of_any_start(FusedNorm p, int share) {
  __shared__ float partial[warp_size];  // of the warps
  __shared__ float sums[cluster];       // of the cluster's CTAs
  __shared__ ptx::Mbarrier arrived;     // its phase completes when sums[] have arrived
  if constexpr (cluster > 1) start_cluster<cluster>(arrived);

  constexpr bool in_warps = rows > 1;
  const int index = in_warps ? int(blockIdx.x) * rows + int(threadIdx.y) : int(blockIdx.x) / cluster;
  if (in_warps && index >= p.rows) return;
  const int rank = cluster > 1 ? ptx::cluster_rank() : 0, warp = int(threadIdx.x) / warp_size;
  const WholeVectors row(p, index, in_warps ? vectors * warp_size : INT_MAX);
  const OfLane part = in_warps ? OfLane(row, row.begin, row.end)
                               : OfLane(row, rank * share + warp * vectors * warp_size, (rank + 1) * share);
  const std::size_t at = row.at(part.first);
  uint4 x[vectors], residual[vectors];
  part.load(p, at, x, residual);
  // The last warp has the fewest vectors.
  End end(p, row, rank == cluster - 1 && threadIdx.x + warp_size >= blockDim.x);
  GammaOfLane<vectors> gamma(p, row, part);  // ahead of the sum, or the row would wait for it as well

  float squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = add_whole(x[v], residual[v], squares);
    ptx::store_16_bytes_if(part.has(v), p.h + at + part.next(v), x[v]);
  }
  squares += end.add(p);
  end.store_h(p, row);
  float sum = row_sum(squares, partial);
  // A few vectors of the next row as well.
  if (!in_warps && threadIdx.x + warp_size == blockDim.x)
    prefetch_ahead(p, row.at(rank * share), share * vector);
  if constexpr (cluster > 1) send_to_cluster(sum, sums, arrived);
  gamma.align();  // while the sums are on their way
  if constexpr (cluster > 1) sum = sum_of_cluster(sums, arrived);
  // The usual division has a path for denormal numbers, with a call, for which there are no registers.
  const float scale = rsqrtf(__fdividef(sum, float(p.cols)) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    ptx::store_16_bytes_if(part.has(v), p.y + at + part.next(v), scale_vector(x[v], gamma.own[v], scale));
  end.store_y(p, row, scale);
}

template <int vectors, int cluster, int most_threads, int ctas_of_sm = usual_ctas(vectors, most_threads)>
cudaError_t launch_of_any_start(const FusedNorm& p, cudaStream_t stream) {
  auto* kernel = rows_of_any_start<vectors, cluster, 1, most_threads, ctas_of_sm>;
  const int share = share_of(p, cluster);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(p.rows) * cluster;
  config.blockDim = ceil_div(share, vectors * warp_size) * warp_size;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1;
  if (cluster > 8) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  return cudaLaunchKernelEx(&config, kernel, p, share);
}

template <int vectors>
cudaError_t launch_in_warps(const FusedNorm& p, cudaStream_t stream) {
  constexpr int rows = 4;
  rows_of_any_start<vectors, 1, rows, rows * warp_size, 8>
      <<<ceil_div(p.rows, rows), dim3(warp_size, rows), 0, stream>>>(p, 0);
  return cudaGetLastError();
}

}  // namespace ladder::every_shape::norm_rows
