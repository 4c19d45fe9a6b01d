// Long rows that start anywhere. x and residual land in shared memory by bulk copies: no register waits for
// them, and their number does not depend on how many threads there are. h takes the place of x, in shared
// memory, until the row's sum is known; h and y leave by bulk copies, too.
#pragma once

#include <algorithm>

#include "08_warp_specialized/norm_shapes/rows_in_ctas.cuh"
#include "08_warp_specialized/norm_shapes/whole_vectors.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::rung_08::norm_shapes {

// A CTA's part of a row: up to `share` vectors.
struct Part {
  WholeVectors row;
  int first;       // the row's vector that lies first in shared memory
  int begin, end;  // those that the part has, from there

  __device__ Part(const FusedNorm& p, int index, int part, int share) : row(p, index), first(part * share) {
    begin = max(row.begin - first, 0);
    end = max(min(row.end - first, share), begin);
  }
  __device__ int bytes() const { return (end - begin) * int(sizeof(uint4)); }
  __device__ std::size_t at() const { return row.at(first + begin); }

  // x and residual -> shared. One thread. A phase of `landed` completes when they have.
  __device__ void load(const FusedNorm& p, uint4* x, uint4* residual, ptx::Mbarrier& landed) const {
    const ptx::SharedAddress barrier = ptx::shared_address(&landed);
    ptx::mbarrier_arrive_expect_bytes(barrier, 2 * bytes());
    if (bytes() == 0) return;
    ptx::bulk_load(ptx::shared_address(x + begin), p.x + at(), bytes(), barrier);
    ptx::bulk_load(ptx::shared_address(residual + begin), p.residual + at(), bytes(), barrier);
  }
  // gamma -> shared: of vector v of the row, for its last elements, to v + 1, and to v for its first. The
  // same.
  __device__ void load_gamma(const FusedNorm& p, uint4* gamma, ptx::Mbarrier& landed) const {
    const ptx::SharedAddress barrier = ptx::shared_address(&landed);
    const int from = row.gamma(first + begin) - (row.by() > 0 ? 1 : 0), to = row.gamma(first + end);
    const int of_gamma = begin < end ? (to - from) * int(sizeof(uint4)) : 0;
    ptx::mbarrier_arrive_expect_bytes(barrier, of_gamma);
    if (of_gamma == 0) return;
    ptx::bulk_load(ptx::shared_address(gamma + begin + (row.by() > 0 ? 0 : 1)), p.gamma + from * vector,
                   of_gamma, barrier);
  }
  // shared -> h or y. One thread, after fence_proxy_async() of those that wrote and a barrier.
  __device__ void store(__nv_bfloat16* to, const uint4* from) const {
    if (bytes() > 0) ptx::bulk_store(to + at(), ptx::shared_address(from + begin), bytes());
    ptx::bulk_commit_group();
  }

  // x + residual takes the place of x. Returns the sum of the squares of one of `threads` threads.
  template <int threads>
  __device__ float add(int thread, uint4* __restrict__ x, const uint4* __restrict__ residual) const {
    float squares = 0;
#pragma unroll 4
    for (int j = begin + thread; j < end; j += threads) x[j] = add_whole(x[j], residual[j], squares);
    return squares;
  }
  // y in shared memory, or in global.
  template <int threads>
  __device__ void scale(int thread, uint4* __restrict__ y, const uint4* __restrict__ h,
                        const uint4* __restrict__ gamma, float scale) const {
    const int from = begin + thread, by = row.by();
    if (by == 0) {
#pragma unroll 4
      for (int j = from; j < end; j += threads) y[j] = scale_vector(h[j], gamma[j + 1], scale);
    } else {
#pragma unroll 4
      for (int j = from; j < end; j += threads)
        y[j] = scale_vector(h[j], shifted(gamma[j], gamma[j + 1], by), scale);
    }
  }
};

// Shared memory: x, residual, and gamma one vector further on.
constexpr std::size_t bytes_of_parts(int share, int parts) {
  return (std::size_t(share) * parts + 1) * sizeof(uint4);
}

// A cluster has a row.
template <int cluster, int threads, int least_ctas>
__global__ void __launch_bounds__(threads, least_ctas) rows_in_clusters(FusedNorm p, int share) {
  extern __shared__ __align__(128) uint4 vectors[];
  __shared__ float partial[warp_size];            // of the warps
  __shared__ float sums[cluster];                 // of the cluster's CTAs
  __shared__ ptx::Mbarrier landed, gamma_landed;  // a phase completes when what is copied has
  __shared__ ptx::Mbarrier arrived;               // and when sums[] have arrived
  uint4 *const x = vectors, *const residual = x + share, *const gamma = residual + share;
  const int rank = ptx::cluster_rank();
  const Part part(p, int(blockIdx.x) / cluster, rank, share);
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier* barrier : {&landed, &gamma_landed, &arrived})
      ptx::mbarrier_init(ptx::shared_address(barrier), 1);
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof sums);
    ptx::fence_mbarrier_init();
    part.load(p, x, residual, landed);
    part.load_gamma(p, gamma, gamma_landed);
  }
  ptx::cluster_arrive_relaxed();  // sum_over_cluster() waits
  End end(p, part.row, rank == 0 && threadIdx.x < warp_size);
  __syncthreads();  // the barriers are initialised

  ptx::mbarrier_wait(ptx::shared_address(&landed), 0);
  const float squares = part.add<threads>(threadIdx.x, x, residual) + end.store_h(p, part.row);
  ptx::fence_proxy_async();                        // h, before the copy that thread 0 issues
  const float of_cta = row_sum(squares, partial);  // a barrier: h is complete
  if (threadIdx.x == 0) part.store(p.h, x);
  const float sum = sum_over_cluster(of_cta, sums, ptx::shared_address(&arrived));
  const float scale = rsqrtf(sum / float(p.cols) + p.eps);

  ptx::mbarrier_wait(ptx::shared_address(&gamma_landed), 0);
  // In the place of residual: the copy of h may still read x.
  part.scale<threads>(threadIdx.x, residual, x, gamma, scale);
  end.store_y(p, part.row, scale);
  ptx::fence_proxy_async();
  __syncthreads();  // y is complete
  if (threadIdx.x == 0) {
    part.store(p.y, residual);
    ptx::bulk_wait_group_read<0>();  // shared memory is there as long as it is read
  }
}

template <class Kernel>
cudaError_t reserve_shared(Kernel* kernel, std::size_t bytes) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
}

inline int share_of(const FusedNorm& p, int parts) {
  constexpr int vectors_of_line = line / vector;
  return ceil_div(ceil_div(most_vectors(p), parts), vectors_of_line) * vectors_of_line;
}

template <int cluster, int threads, int least_ctas>
cudaError_t launch_in_clusters(const FusedNorm& p, cudaStream_t stream) {
  auto* kernel = rows_in_clusters<cluster, threads, least_ctas>;
  const int share = share_of(p, cluster);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(p.rows) * cluster;
  config.blockDim = threads;
  config.dynamicSmemBytes = bytes_of_parts(share, 3);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t error = reserve_shared(kernel, config.dynamicSmemBytes);
  if (error == cudaSuccess && cluster > 8)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  return error == cudaSuccess ? cudaLaunchKernelEx(&config, kernel, p, share) : error;
}

}  // namespace ladder::rung_08::norm_shapes
