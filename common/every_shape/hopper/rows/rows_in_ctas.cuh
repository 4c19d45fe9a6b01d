// A CTA has a row in its registers, or a cluster of CTAs has, as in fused_norm.cu. cols is a multiple of 8.
#pragma once

#include "common/every_shape/hopper/rows/ahead.cuh"
#include "common/every_shape/hopper/rows/whole_vectors.cuh"
#include "common/ptx/cluster.cuh"
#include "common/ptx/mbarrier.cuh"

namespace ladder::every_shape::norm_rows {

// CTAs that an SM has at least.
constexpr int usual_ctas(int vectors, int most_threads) {
  return (vectors == 1 ? 2048 : 1024) / most_threads;
}

template <int vectors_, int cluster_, int most_threads_, int ctas_of_sm_>
struct Config {
  static constexpr int vectors = vectors_;  // of a thread
  static constexpr int cluster = cluster_;  // CTAs of a row
  static constexpr int most_threads = most_threads_;
  static constexpr int ctas_of_sm = ctas_of_sm_;
};

// The sum over a cluster, as in fused_norm.cu. First the CTA's mbarrier, and its arrival.
template <int cluster>
__device__ void start_cluster(ptx::Mbarrier& arrived) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(ptx::shared_address(&arrived), 1);
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), cluster * sizeof(float));
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_arrive_relaxed();
}
// Its sum goes to each CTA,
template <int cluster>
__device__ void send_to_cluster(float of_cta, float (&sums)[cluster], ptx::Mbarrier& arrived) {
  ptx::cluster_wait();  // every CTA has initialised its barrier
  if (threadIdx.x < cluster)
    ptx::store_async(ptx::shared_address(&sums[ptx::cluster_rank()]), of_cta, ptx::shared_address(&arrived),
                     threadIdx.x);
}
// and each adds up what has arrived.
template <int cluster>
__device__ float sum_of_cluster(const float (&sums)[cluster], ptx::Mbarrier& arrived) {
  ptx::mbarrier_wait(ptx::shared_address(&arrived), 0);
  float sum = 0;
#pragma unroll 4
  for (float one : sums) sum += one;
  return sum;
}

// A CTA has `share` vectors of a row, at most blockDim.x · vectors.
template <class C>
__global__ void __launch_bounds__(C::most_threads, C::ctas_of_sm) rows_in_ctas(FusedNorm p, int share) {
  constexpr int vectors = C::vectors, cluster = C::cluster;
  __shared__ float partial[warp_size];  // of the warps
  __shared__ float sums[cluster];       // of the cluster's CTAs
  __shared__ ptx::Mbarrier arrived;     // its phase completes when sums[] have arrived
  if constexpr (cluster > 1) start_cluster<cluster>(arrived);

  const int rank = cluster > 1 ? ptx::cluster_rank() : 0;
  const int first = rank * share + int(threadIdx.x);  // this thread's first vector, in the row
  const int left =
      min((rank + 1) * share, p.cols / vector) - first;    // from there to the end of the CTA's part
  auto next = [&](int v) { return v * int(blockDim.x); };  // from there to its v-th
  auto at = [&](int v) {
    return std::size_t(int(blockIdx.x) / cluster) * p.cols + std::size_t(first + next(v)) * vector;
  };

  uint4 x[vectors], residual[vectors], gamma[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = residual[v] = make_uint4(0, 0, 0, 0);
    if (next(v) >= left) continue;
    x[v] = load(p.x + at(v));
    residual[v] = load(p.residual + at(v));
  }
  if (vectors <= 2 || __any_sync(0xFFFFFFFFu, left > 0)) {  // as in whole_vectors.cuh
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (next(v) < left) gamma[v] = load(p.gamma + (first + next(v)) * vector);
  }

  float squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = add_whole(x[v], residual[v], squares);
    if (next(v) < left) store(p.h + at(v), x[v]);
  }
  float sum = row_sum(squares, partial);
  // The last warp has the fewest vectors, and nothing to send.
  if (threadIdx.x + warp_size == blockDim.x)
    prefetch_ahead(p, std::size_t(int(blockIdx.x) / cluster) * p.cols + rank * share * vector,
                   min(share, p.cols / vector - rank * share) * vector);
  if constexpr (cluster > 1) {
    send_to_cluster(sum, sums, arrived);
    sum = sum_of_cluster(sums, arrived);
  }
  const float scale = rsqrtf(__fdividef(sum, float(p.cols)) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    if (next(v) < left) store(p.y + at(v), scale_vector(x[v], gamma[v], scale));
}

// most_ctas: of an SM at once, or 0 for as many as fit. Unused shared memory keeps further ones out.
template <class C>
cudaError_t launch_in_ctas(const FusedNorm& p, cudaStream_t stream, int most_ctas) {
  auto* kernel = rows_in_ctas<C>;
  const int share = C::cluster > 1 ? share_of(p, C::cluster) : p.cols / vector;
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(p.rows) * C::cluster;
  config.blockDim = ceil_div(share, C::vectors * warp_size) * warp_size;
  config.stream = stream;
  config.attrs = attributes;
  if (C::cluster > 1) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {C::cluster, 1, 1};
  }
  if (most_ctas > 0) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    attribute.val.sharedMemCarveout = 56;  // per cent, 132 KiB; what is in flight has the rest of L1
    config.dynamicSmemBytes = (128 / most_ctas - 2) * 1024;
  }
  if (C::cluster > 8) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  return cudaLaunchKernelEx(&config, kernel, p, share);
}

}  // namespace ladder::every_shape::norm_rows
