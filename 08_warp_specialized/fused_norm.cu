// A row in the registers of a cluster. Each CTA reads its part of the row with ordinary 16-byte loads, and
// the CTAs exchange their sums of squares through each other's shared memory. So a CTA stays small however
// wide the row is: several share an SM, and while one waits for the sum, the others read.
//
// A thread stores h as soon as its own loads have arrived, and y once the sum has: stores begin while loads
// of the SM's other warps are still in flight.
#include "common/ptx/cluster.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/streaming_access.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_08 {
namespace {

// When a thread stores its part of h.
enum class HStored {
  with_y,         // when all threads of the row have read their parts: reads before writes
  after_loads,    // when its own loads have arrived, while other threads still wait for theirs
  between_loads,  // vector by vector, before it reads the next one: interleaved
};

// The defaults are the rung; every ablation changes one field.
struct NormDesign {
  bool clusters = true;  // for rows of more than 4096 columns, instead of one CTA for every row
  HStored h_stored = HStored::after_loads;
  bool streaming = false;  // loads that bypass L1, stores that L2 evicts first
};

// And what follows from the width: a row's CTAs, the most threads of each, the vectors of a thread.
template <NormDesign d, int vectors_, int cluster_, int most_threads_>
struct NormConfig {
  static constexpr NormDesign design = d;
  static constexpr int vectors = vectors_, cluster = cluster_, most_threads = most_threads_;
  static constexpr int most_rows = cluster == 1 ? 4 : 1;  // of a CTA: 128 threads, where a row is one warp's
};

template <bool streaming>
__device__ uint4 load_once(const __nv_bfloat16* from) {
  return streaming ? ptx::load_past_l1(from) : load(from);
}
template <bool streaming>
__device__ void store_once(__nv_bfloat16* to, uint4 bits) {
  streaming ? ptx::store_evict_first(to, bits) : store(to, bits);
}

// The sum over the cluster of `of_cta`, in all its threads. Every CTA sends to every other's sums[] and waits
// for its own to arrive before it goes on, so none exits while another still sends to it.
template <int cluster>
__device__ float cluster_sum(float of_cta, float (&sums)[cluster], ptx::SharedAddress barrier) {
  ptx::cluster_wait();  // every CTA has initialised its barrier
  if (threadIdx.x < cluster)
    ptx::store_async(ptx::shared_address(&sums[ptx::cluster_rank()]), of_cta, barrier, threadIdx.x);
  ptx::mbarrier_wait(barrier, 0);
  float sum = 0;
#pragma unroll
  for (float one : sums) sum += one;  // in the same order in every CTA
  return sum;
}

// `cluster` CTAs have a row, or, where a row needs few threads, a CTA has blockDim.y rows. A thread has up to
// `vectors` vectors. cols is a multiple of 8 and at most cluster · blockDim.x · vectors · 8.
template <class C>
__global__ void __launch_bounds__(C::most_threads) row_in_cluster(FusedNorm p) {
  constexpr NormDesign d = C::design;
  constexpr int vectors = C::vectors, cluster = C::cluster;
  __shared__ float partial[C::most_rows][warp_size];  // of the warps of each of the CTA's rows
  __shared__ float sums[cluster];                     // of the cluster's CTAs
  __shared__ ptx::Mbarrier arrived;                   // its phase completes when sums[] have arrived
  if constexpr (cluster > 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(ptx::shared_address(&arrived), 1);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof sums);
      ptx::fence_mbarrier_init();
    }
    ptx::cluster_arrive_relaxed();  // cluster_sum() waits
  }
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();  // it may have written x, and read h

  // This CTA's part of the row, in vectors: none of a row past the last, if the CTA has several.
  const int row = blockIdx.x / cluster * blockDim.y + threadIdx.y, row_vectors = p.cols / vector;
  const int share = ceil_div(row_vectors, cluster), begin = cluster > 1 ? ptx::cluster_rank() * share : 0;
  const int end = row < p.rows ? min(begin + share, row_vectors) : 0;
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return begin + v * int(blockDim.x) + int(threadIdx.x); };  // of the v-th vector

  // A thread issues all its loads before it uses the first. With 16 vectors it would need too many registers:
  // then it loads four at a time, and gamma late. The compiler moves no load up past the stores of the batch
  // before, because they might write x.
  constexpr bool gamma_early = vectors <= 4;
  constexpr int batch = d.h_stored == HStored::between_loads ? 1 : vectors <= 4 ? vectors : 4;
  uint4 h[vectors], gamma[vectors];
  float squares = 0;
#pragma unroll
  for (int first = 0; first < vectors; first += batch) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      x[i] = residual[i] = make_uint4(0, 0, 0, 0);
      if (column(first + i) >= end) continue;
      x[i] = load_once<d.streaming>(p.x + start + column(first + i) * vector);
      residual[i] = load_once<d.streaming>(p.residual + start + column(first + i) * vector);
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (gamma_early && first == 0 && column(v) < end) gamma[v] = load(p.gamma + column(v) * vector);
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      h[first + i] = add_vector(x[i], residual[i], squares);
      if (d.h_stored != HStored::with_y && column(first + i) < end)
        store_once<d.streaming>(p.h + start + column(first + i) * vector, h[first + i]);
    }
  }

  float sum = row_sum(squares, partial[threadIdx.y]);
  if constexpr (cluster > 1) sum = cluster_sum(sum, sums, ptx::shared_address(&arrived));
  const float scale = rsqrtf(sum / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= end) break;
    if (!gamma_early) gamma[v] = load(p.gamma + column(v) * vector);
    if (d.h_stored == HStored::with_y) store_once<d.streaming>(p.h + start + column(v) * vector, h[v]);
    store_once<d.streaming>(p.y + start + column(v) * vector, scale_vector(h[v], gamma[v], scale));
  }
}

template <class C, bool early_start>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  auto* kernel = row_in_cluster<C>;
  const int share = ceil_div(p.cols / vector, C::cluster);
  const int threads = ceil_div(ceil_div(share, C::vectors), warp_size) * warp_size;
  const int rows_per_cta = threads < C::most_rows * warp_size ? C::most_rows * warp_size / threads : 1;
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = early_start;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {C::cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(ceil_div(p.rows, rows_per_cta)) * C::cluster;
  config.blockDim = dim3(threads, rows_per_cta);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = C::cluster > 1 ? 2 : 1;  // a cluster of one is launched as none: that starts faster
  if (C::cluster > 8) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  return cudaLaunchKernelEx(&config, kernel, p);
}

// Small CTAs, but in a cluster none reads less than 8 KiB: CTAs start at a limited rate.
template <NormDesign d, bool early_start = false>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector != 0) return launch_any_width(p, stream);
  if constexpr (d.clusters) {
    if (p.cols <= 2048) return launch<NormConfig<d, 1, 1, 256>, early_start>(p, stream);
    if (p.cols <= 4096) return launch<NormConfig<d, 2, 1, 256>, early_start>(p, stream);
    if (p.cols <= 8192) return launch<NormConfig<d, 1, 2, 512>, early_start>(p, stream);
    if (p.cols <= 16384) return launch<NormConfig<d, 4, 2, 256>, early_start>(p, stream);
    if (p.cols <= 32768) return launch<NormConfig<d, 4, 4, 256>, early_start>(p, stream);
    if (p.cols <= 262144) return launch<NormConfig<d, 4, 16, 512>, early_start>(p, stream);
    if (p.cols <= 1048576) return launch<NormConfig<d, 16, 16, 512>, early_start>(p, stream);
  } else {
    if (p.cols <= 8192) return launch<NormConfig<d, 1, 1, 1024>, early_start>(p, stream);
    if (p.cols <= 16384) return launch<NormConfig<d, 2, 1, 1024>, early_start>(p, stream);
    if (p.cols <= 32768) return launch<NormConfig<d, 4, 1, 1024>, early_start>(p, stream);
    if (p.cols <= 65536) return launch<NormConfig<d, 16, 1, 512>, early_start>(p, stream);
  }
  return launch_any_width(p, stream);
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {{.name = "streaming",
           .what = "loads that bypass L1, stores that L2 evicts first",
           .launch = launch_by_width<NormDesign{.streaming = true}>},
          {.name = "late_h",
           .what = "loads before stores: h stored with y, when all of the row has arrived",
           .launch = launch_by_width<NormDesign{.h_stored = HStored::with_y}>},
          {.name = "interleaved",
           .what = "loads between stores: a vector of h stored before the thread loads the next",
           .launch = launch_by_width<NormDesign{.h_stored = HStored::between_loads}>},
          {.name = "no_clusters",
           .what = "a CTA for each row, however wide",
           .launch = launch_by_width<NormDesign{.clusters = false}>},
          {.name = "early_start",
           .what = "the rung in a chain: a grid starts while the one before still runs",
           .launch = launch_by_width<NormDesign{}, true>,
           .dependent_launch = true},
          {.name = "row_in_cluster",
           .what = "a row in the registers of a cluster, h stored when a thread's loads have arrived",
           .launch = launch_by_width<NormDesign{}>}};
}

}  // namespace ladder::rung_08
