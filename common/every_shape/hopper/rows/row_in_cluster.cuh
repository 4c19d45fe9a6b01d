// What the row operators of this folder share: a row in the registers of a cluster, as in rung 08's fused
// norm, and reductions over it through the CTAs' shared memory.
#pragma once

#include "common/ptx/cluster.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/rows/row_operators.cuh"

namespace ladder::every_shape::rows {

// What follows from the width: a row's CTAs, the most threads of each, the vectors of a thread.
template <int vectors_, int cluster_, int most_threads_>
struct Config {
  static constexpr int vectors = vectors_, cluster = cluster_, most_threads = most_threads_;
  static constexpr int most_rows = cluster == 1 ? 4 : 1;  // of a CTA: 128 threads, where a row is one warp's
  // CTAs that an SM has registers for, at least.
  static constexpr int per_sm = most_threads == 512 && vectors <= 4 && cluster <= 8 ? 2 : 1;
};

// This CTA's part of a row, in vectors: none of a row past the last, if the CTA has several.
template <class C>
struct Part {
  std::size_t start;  // the row's first element
  int begin, end;

  __device__ Part(int rows, int cols) {
    const int row = blockIdx.x / C::cluster * blockDim.y + threadIdx.y, row_vectors = cols / vector;
    const int share = ceil_div(row_vectors, C::cluster);
    start = std::size_t(row) * cols;
    begin = C::cluster > 1 ? ptx::cluster_rank() * share : 0;
    end = row < rows ? min(begin + share, row_vectors) : 0;
  }
  // Of the thread's v-th vector.
  __device__ int index(int v) const { return begin + v * int(blockDim.x) + int(threadIdx.x); }
  __device__ bool has(int v) const { return index(v) < end; }
  __device__ int column(int v) const { return index(v) * vector; }
};

// The shared memory of one reduction over a row. It is used once: no CTA has to know when its peers have
// read.
template <class C, class T>
struct Reduction {
  T partial[C::most_rows][warp_size];  // of the warps of each of the CTA's rows
  T of_ctas[C::cluster];
  ptx::Mbarrier arrived;  // its phase completes when of_ctas[] have arrived

  // By one thread, before fence_mbarrier_init().
  __device__ void init() {
    ptx::mbarrier_init(ptx::shared_address(&arrived), 1);
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof of_ctas);
  }

  // Every CTA sends to every other's of_ctas[] and waits for its own to arrive before it goes on, so none
  // exits while another still sends to it.
  __device__ void exchange(T of_cta) {
    constexpr int words = sizeof(T) / sizeof(float);
    const float* const word = reinterpret_cast<const float*>(&of_cta);
    const ptx::SharedAddress to = ptx::shared_address(&of_ctas[ptx::cluster_rank()]);
    if (threadIdx.x < C::cluster) {
#pragma unroll
      for (int i = 0; i < words; ++i)
        ptx::store_async(to + i * sizeof(float), word[i], ptx::shared_address(&arrived), threadIdx.x);
    }
    ptx::mbarrier_wait(ptx::shared_address(&arrived), 0);
  }
};

// Initialises the reductions' barriers. cluster_wait() before the first reduction waits until every CTA has.
template <class C, class... Reductions>
__device__ void init(Reductions&... reductions) {
  if constexpr (C::cluster > 1) {
    if (threadIdx.x == 0) {
      (reductions.init(), ...);
      ptx::fence_mbarrier_init();
    }
    ptx::cluster_arrive_relaxed();
  }
}
template <class C>
__device__ void wait_for_peers() {
  if constexpr (C::cluster > 1) ptx::cluster_wait();
}

// What the CTAs of a cluster have sent, merged as warp_merge() does.
template <int cluster>
__device__ float merge(const float (&maxima)[cluster]) {
  float largest = lowest;
#pragma unroll
  for (float one : maxima) largest = fmaxf(largest, one);
  return largest;
}
template <int cluster>
__device__ Exponentials merge(const Exponentials (&parts)[cluster]) {
  Exponentials all{lowest, 0};
#pragma unroll
  for (Exponentials one : parts) all.largest = fmaxf(all.largest, one.largest);
#pragma unroll
  for (Exponentials one : parts) all.sum += one.sum * __expf(one.largest - all.largest);
  return all;
}

// The sum over the row, and what all its values merge to; in the same order, and so equal, in every CTA.
template <class C>
__device__ float sum(float value, Reduction<C, float>& reduction) {
  float all = row_sum(value, reduction.partial[threadIdx.y]);
  if constexpr (C::cluster > 1) {
    reduction.exchange(all);
    all = 0;
#pragma unroll
    for (float one : reduction.of_ctas) all += one;
  }
  return all;
}
template <class C, class T>
__device__ T merged(T value, T none, Reduction<C, T>& reduction) {
  const T of_cta = row_merge(value, none, reduction.partial[threadIdx.y]);
  if constexpr (C::cluster == 1) {
    return of_cta;
  } else {
    reduction.exchange(of_cta);
    return merge(reduction.of_ctas);
  }
}

template <class C, class Problem>
cudaError_t launch(void (*kernel)(Problem), const Problem& p, cudaStream_t stream) {
  const int share = ceil_div(p.cols / vector, C::cluster);
  const int threads = ceil_div(ceil_div(share, C::vectors), warp_size) * warp_size;
  const int rows_per_cta = threads < C::most_rows * warp_size ? C::most_rows * warp_size / threads : 1;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {C::cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(ceil_div(p.rows, rows_per_cta)) * C::cluster;
  config.blockDim = dim3(threads, rows_per_cta);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = C::cluster > 1 ? 1 : 0;
  if (C::cluster > 8) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  return cudaLaunchKernelEx(&config, kernel, p);
}

// Whole vectors, as many as 16 CTAs of 512 threads hold with `most_vectors` each; others go another way.
template <int most_vectors>
bool in_registers(int cols) {
  return cols % vector == 0 && cols <= 16 * 512 * most_vectors * vector;
}

// The configuration for a width of LayerNorm and softmax: launch(configuration). They read half as much as
// the fused norm, so a thread has four vectors wherever the row allows it, and a cluster begins at rows twice
// as wide: with one vector each, or two CTAs for 8192 columns, an SM has too few loads in flight.
template <int most_vectors, class Launch>
cudaError_t by_width(int cols, const Launch& launch) {
  if (cols <= 256) return launch(Config<1, 1, 128>());
  if (cols <= 512) return launch(Config<2, 1, 128>());
  if (cols <= 1024) return launch(Config<4, 1, 128>());
  if (cols <= 4096) return launch(Config<2, 1, 256>());
  if (cols <= 8192) return launch(Config<4, 1, 256>());
  if (cols <= 16384) return launch(Config<4, 4, 128>());
  if (cols <= 32768) return launch(Config<4, 2, 512>());
  if (cols <= 65536) return launch(Config<4, 4, 512>());
  if (cols <= 131072) return launch(Config<4, 8, 512>());
  if (cols <= 262144) return launch(Config<4, 16, 512>());
  return launch(Config<most_vectors, 16, 512>());
}

}  // namespace ladder::every_shape::rows
