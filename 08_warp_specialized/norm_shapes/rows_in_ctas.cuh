// A CTA has `rows` rows at once, all their loads in flight before the first is used, or a cluster of CTAs has
// one, as in fused_norm.cu; and rows may start anywhere.
#pragma once

#include "08_warp_specialized/norm_shapes/unaligned.cuh"
#include "common/ptx/cluster.cuh"
#include "common/ptx/mbarrier.cuh"

namespace ladder::rung_08::norm_shapes {

template <int vectors_, int rows_, int cluster_, bool aligned_, int most_threads_>
struct Config {
  static constexpr int vectors = vectors_;   // of a thread, in each row
  static constexpr int rows = rows_;         // at once
  static constexpr int cluster = cluster_;   // CTAs of a row
  static constexpr bool aligned = aligned_;  // cols is a multiple of 8
  static constexpr int most_threads = most_threads_;
  // On an SM: up to 64 registers per thread, or 72, of an aligned row in one CTA with 4 vectors.
  static constexpr int least_ctas = (aligned && cluster == 1 && vectors == 4 ? 896 : 1024) / most_threads;
  static_assert(rows == 1 || cluster == 1);
};

// As cluster_sum() of fused_norm.cu.
template <int cluster>
__device__ float sum_over_cluster(float of_cta, float (&sums)[cluster], ptx::SharedAddress barrier) {
  ptx::cluster_wait();  // every CTA has initialised its barrier
  if (threadIdx.x < cluster)
    ptx::store_async(ptx::shared_address(&sums[ptx::cluster_rank()]), of_cta, barrier, threadIdx.x);
  ptx::mbarrier_wait(barrier, 0);
  float sum = 0;
#pragma unroll
  for (float one : sums) sum += one;
  return sum;
}

// cols is at least 8 and at most cluster · blockDim.x · vectors · 8, less 7 where rows are not aligned.
template <class C>
__global__ void __launch_bounds__(C::most_threads, C::least_ctas) rows_in_ctas(FusedNorm p) {
  constexpr int vectors = C::vectors, rows = C::rows, cluster = C::cluster;
  __shared__ float partial[rows][warp_size];  // of the warps
  __shared__ float sums[cluster];             // of the cluster's CTAs
  __shared__ ptx::Mbarrier arrived;           // its phase completes when sums[] have arrived
  if constexpr (cluster > 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(ptx::shared_address(&arrived), 1);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof sums);
      ptx::fence_mbarrier_init();
    }
    ptx::cluster_arrive_relaxed();  // sum_over_cluster() waits
  }

  const int first = int(blockIdx.x) / cluster * rows;
  const int rank = cluster > 1 ? ptx::cluster_rank() : 0;
  auto row_of = [&](int r) { return Row(p, first + r, C::aligned); };
  auto index = [&](const Row& row, int v) {  // of this thread's v-th vector, in the row
    return rank * ceil_div(row.vectors, cluster) + v * int(blockDim.x) + int(threadIdx.x);
  };
  auto there = [&](const Row& row, int r, int v) {
    const int share = ceil_div(row.vectors, cluster), end = min((rank + 1) * share, row.vectors);
    return first + r < p.rows && index(row, v) < end;
  };

  auto within_matrix = [&](const Row& row, int v) {
    return C::aligned || of_matrix(row, index(row, v)).whole();
  };

  uint4 x[rows][vectors], residual[rows][vectors];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const Row row = row_of(r);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      x[r][v] = residual[r][v] = make_uint4(0, 0, 0, 0);
      if (!there(row, r, v) || !within_matrix(row, v)) continue;
      x[r][v] = load(p.x + row.at(index(row, v)));
      residual[r][v] = load(p.residual + row.at(index(row, v)));
    }
  }
  // Aligned rows have the same gamma in the same thread. It is early where it does not cost many registers.
  constexpr bool gamma_early = C::aligned ? vectors <= 4 : rows == 1 && vectors <= 2;
  uint4 gamma[vectors];
  auto load_gammas = [&](const Row& row, int r) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (there(row, r, v))
        gamma[v] = C::aligned ? load(p.gamma + index(row, v) * vector) : load_gamma(p, row, index(row, v));
  };
  if constexpr (gamma_early) load_gammas(row_of(0), 0);

  if constexpr (!C::aligned) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const Row row = row_of(r);
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        if (!there(row, r, v) || within_matrix(row, v)) continue;
        const int i = index(row, v);
        x[r][v] = load_cut(p.x + row.at(i), of_matrix(row, i));
        residual[r][v] = load_cut(p.residual + row.at(i), of_matrix(row, i));
      }
    }
  }
  float squares[rows] = {};
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const Row row = row_of(r);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const int i = index(row, v);
      if constexpr (C::aligned) {
        x[r][v] = add_vector(x[r][v], residual[r][v], squares[r]);
        if (there(row, r, v)) store(p.h + row.at(i), x[r][v]);
      } else if (there(row, r, v)) {
        x[r][v] = add_cut(x[r][v], residual[r][v], of_row(p, row, i), squares[r]);
        if (row.column(i) >= 0) store_cut(p.h + row.at(i), x[r][v], of_matrix(row, i));
      }
    }
    squares[r] = warp_sum(squares[r]);
  }
  if (blockDim.x > warp_size) {
    const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
#pragma unroll
    for (int r = 0; r < rows; ++r)
      if (lane == 0) partial[r][warp] = squares[r];
    __syncthreads();  // partial[] is complete
#pragma unroll
    for (int r = 0; r < rows; ++r)
      squares[r] = warp_sum(lane < int(blockDim.x) / warp_size ? partial[r][lane] : 0.0f);
  }
  if constexpr (cluster > 1) squares[0] = sum_over_cluster(squares[0], sums, ptx::shared_address(&arrived));

#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const Row row = row_of(r);
    const float scale = rsqrtf(squares[r] / float(p.cols) + p.eps);
    if constexpr (!gamma_early) {
      if (r == 0 || !C::aligned) load_gammas(row, r);
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (!there(row, r, v)) continue;
      const int i = index(row, v);
      const uint4 y = scale_vector(x[r][v], gamma[v], scale);
      if constexpr (C::aligned) {
        store(p.y + row.at(i), y);
      } else {
        store_cut(p.y + row.at(i), y, of_row(p, row, i));
      }
    }
  }
}

template <class C>
cudaError_t launch_in_ctas(const FusedNorm& p, cudaStream_t stream) {
  auto* kernel = rows_in_ctas<C>;
  const int most_vectors = C::aligned ? p.cols / vector : ceil_div(p.cols + vector - 1, vector);
  const int threads = ceil_div(ceil_div(ceil_div(most_vectors, C::cluster), C::vectors), warp_size);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {C::cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(ceil_div(p.rows, C::rows)) * C::cluster;
  config.blockDim = threads * warp_size;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = C::cluster > 1;
  if (C::cluster > 8) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  return cudaLaunchKernelEx(&config, kernel, p);
}

}  // namespace ladder::rung_08::norm_shapes
