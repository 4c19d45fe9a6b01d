// A row in the registers of a cluster. Each CTA has a part of the row, which it reads with ordinary 16-byte
// loads; the CTAs tell each other their sums through shared memory. So a CTA stays small however wide the row
// is, several share an SM, and while one waits for its sum the others read.
//
// A thread stores h as soon as all that it reads of the row is there, y when the sum is: stores begin while
// loads of the SM's other warps are still on their way.
#include <algorithm>

#include "08_warp_specialized/norm_fp8.cuh"
#include "common/ptx/cluster.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/mbarrier.cuh"

namespace ladder::rung_08 {
namespace {

using ptx::SharedAddress;

// When a thread stores its part of h.
enum class HStored {
  with_y,         // when all of the row has been read, by all its threads: reads before writes
  after_loads,    // when all that the thread reads has come, while others still wait for theirs
  between_loads,  // vector by vector, before the next one is read: interleaved
};

// What there is to choose. As it stands it is the rung; every ablation changes one line.
struct NormDesign {
  Precision precision = Precision::bf16;  // of y
  bool clusters = true;  // for rows of more than 2048 columns, instead of one CTA for every row
  HStored h_stored = HStored::after_loads;
  bool streaming = false;   // loads that bypass L1, stores that L2 shall evict first
  bool persistent = false;  // as many CTAs as run at once, instead of one for each row; without clusters
  bool early_start = true;  // while the grid before still runs
};

// ... and what follows from the width: a cluster, its CTAs' threads at most, and the vectors of a thread.
template <NormDesign d, int vectors_, int cluster_, int threads_>
struct NormConfig {
  static constexpr NormDesign design = d;
  static constexpr int vectors = vectors_, cluster = cluster_, most_threads = threads_;
  static_assert(!d.persistent || cluster == 1, "a sum may not be sent before the last one has been read");
};

template <bool streaming>
__device__ uint4 load_once(const __nv_bfloat16* from) {
  if constexpr (!streaming) return load(from);
  uint4 bits;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from));
  return bits;
}
template <bool streaming>
__device__ void store_once(__nv_bfloat16* to, uint4 bits) {
  if constexpr (streaming) {
    __stcs(reinterpret_cast<uint4*>(to), bits);
  } else {
    store(to, bits);
  }
}

// The sum of what the `warps` warps of a row have, in all their threads. `partial` is theirs, and free again
// when every thread of the CTA has passed the barrier of another call: callers take turns between two.
__device__ float sum_of_warps(float of_warp, float* partial, int warps) {
  if (warps == 1) return of_warp;
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = of_warp;
  __syncthreads();  // partial[] is complete
  return warp_sum(lane < warps ? partial[lane] : 0.0f);
}

// Vectors that each of a row's CTAs has at most: whole blocks, where some share a scale.
__host__ __device__ constexpr int vectors_of_cta(NormDesign d, int row_vectors, int cluster) {
  const int unit = d.precision == Precision::bf16 ? 1 : BlockScales::block / vector;
  return ceil_div(ceil_div(row_vectors, cluster), unit) * unit;
}

// `cluster` CTAs for a row, or, where a row needs few threads, blockDim.y rows for a CTA. A thread has up to
// `vectors` vectors. cols is a multiple of 8 and at most cluster · blockDim.x · vectors · 8.
template <class C>
__global__ void __launch_bounds__(C::most_threads) row_in_cluster(FusedNorm p, QuantisedRows quantised) {
  constexpr NormDesign d = C::design;
  constexpr int vectors = C::vectors, cluster = C::cluster;
  __shared__ float partial[2][warp_size];  // of the CTA's warps
  __shared__ float sums[cluster];          // of the cluster's CTAs
  __shared__ ptx::Mbarrier arrived;        // all of sums[]
  const int rank = cluster > 1 ? ptx::cluster_rank() : 0, warps = blockDim.x / warp_size;
  if constexpr (cluster > 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(ptx::shared_address(&arrived), 1);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof sums);
      ptx::fence_mbarrier_init();
    }
    ptx::cluster_arrive_relaxed();  // waited for when the first sum is sent
  }
  if constexpr (d.early_start) {
    ptx::let_next_grid_start();
    ptx::wait_for_previous_grid();  // it may have written x, and read h
  }

  // This CTA's part of the row, in vectors; this thread's v-th.
  const int row_vectors = p.cols / vector, share = vectors_of_cta(d, row_vectors, cluster);
  const int begin = rank * share, end = min(begin + share, row_vectors);
  auto column = [&](int v) { return begin + v * int(blockDim.x) + int(threadIdx.x); };
  const int rows_at_once = gridDim.x / cluster * blockDim.y;
  int turn = 0;
  for (int row = blockIdx.x / cluster * blockDim.y + threadIdx.y;; row += rows_at_once) {
    const bool there = row < p.rows;
    if (!there && row - int(threadIdx.y) >= p.rows) break;  // none of the CTA's rows is
    const std::size_t start = std::size_t(row) * p.cols;
    // All loads of a row are on their way before the first is used. Of 16 vectors that would be too many
    // registers: four at a time, and gamma when it is needed. No load passes the stores of the batch before:
    // for all the compiler knows, they write x.
    constexpr bool fits = vectors <= 4;
    constexpr int batch = d.h_stored == HStored::between_loads ? 1 : fits ? vectors : 4;
    uint4 h[vectors], gamma[vectors];
    float squares = 0;
#pragma unroll
    for (int first = 0; first < vectors; first += batch) {
      uint4 x[batch], residual[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        x[i] = residual[i] = make_uint4(0, 0, 0, 0);
        if (!there || column(first + i) >= end) continue;
        x[i] = load_once<d.streaming>(p.x + start + column(first + i) * vector);
        residual[i] = load_once<d.streaming>(p.residual + start + column(first + i) * vector);
      }
      if constexpr (fits) {
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          if (first == 0 && column(v) < end) gamma[v] = load(p.gamma + column(v) * vector);
      }
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        h[first + i] = add_vector(x[i], residual[i], squares);
        if (d.h_stored != HStored::with_y && there && column(first + i) < end)
          store_once<d.streaming>(p.h + start + column(first + i) * vector, h[first + i]);
      }
    }

    float sum = sum_of_warps(warp_sum(squares), partial[turn] + threadIdx.y * warps, warps);
    if constexpr (cluster > 1) {
      ptx::cluster_wait();  // their barriers are there
      const SharedAddress barrier = ptx::shared_address(&arrived);
      if (threadIdx.x < cluster)
        ptx::store_async(ptx::shared_address(&sums[rank]), sum, barrier, threadIdx.x);
      ptx::mbarrier_wait(barrier, 0);
      sum = 0;
#pragma unroll
      for (float one : sums) sum += one;  // in the same order everywhere
    }
    const float scale = rsqrtf(sum / float(p.cols) + p.eps);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const bool stored = there && column(v) < end;
      if (!stored && d.precision == Precision::bf16) break;
      if (!fits && stored) gamma[v] = load(p.gamma + column(v) * vector);
      if constexpr (d.precision != Precision::bf16) {
        store_rounded(p, quantised, row, column(v), stored, h[v], gamma[v], scale);  // by all lanes
        continue;
      }
      if constexpr (d.h_stored == HStored::with_y)
        store_once<d.streaming>(p.h + start + column(v) * vector, h[v]);
      store_once<d.streaming>(p.y + start + column(v) * vector, scale_vector(h[v], gamma[v], scale));
    }
    if constexpr (!d.persistent) break;
    turn ^= 1;
  }
}

// Any width, one row per CTA: for rows too long for registers, and for rows that do not start on a 16-byte
// boundary because cols is no multiple of 8. x, residual, h and y share their alignment: the row is cut at
// the boundaries, and only its first and last vector may lie half outside. h is read back from L2.
constexpr int any_width_threads = 512;
__global__ void __launch_bounds__(any_width_threads) row_of_any_width(FusedNorm p) {
  __shared__ float partial[warp_size];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int before_start = start % vector;  // elements from the boundary to the start of the row
  auto for_row = [&](auto&& whole, auto&& single) {
    for (int col = threadIdx.x * vector - before_start; col < p.cols; col += any_width_threads * vector) {
      if (col >= 0 && col + vector <= p.cols) {
        whole(col);
      } else {
        for (int i = 0; i < vector; ++i)
          if (col + i >= 0 && col + i < p.cols) single(col + i);
      }
    }
  };

  float squares = 0;
  for_row(
      [&](int col) {
        store(p.h + start + col,
              add_vector(load(p.x + start + col), load(p.residual + start + col), squares));
      },
      [&](int col) {
        const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
        p.h[start + col] = __float2bfloat16_rn(sum);
        squares += __bfloat162float(p.h[start + col]) * __bfloat162float(p.h[start + col]);
      });

  const float scale =
      rsqrtf(sum_of_warps(warp_sum(squares), partial, any_width_threads / warp_size) / float(p.cols) + p.eps);
  for_row(
      [&](int col) {
        unsigned gamma[vector / 2];  // not aligned with the row: one by one, and from L1 after the first row
#pragma unroll
        for (int i = 0; i < vector / 2; ++i) gamma[i] = pack(p.gamma[col + 2 * i], p.gamma[col + 2 * i + 1]);
        store(p.y + start + col, scale_vector(load(p.h + start + col),
                                              make_uint4(gamma[0], gamma[1], gamma[2], gamma[3]), scale));
      },
      [&](int col) {
        const float h = __bfloat162float(p.h[start + col]);
        p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
      });
}

template <NormDesign d, int vectors, int cluster, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  constexpr int least_threads = 128;  // of a CTA
  auto* kernel = row_in_cluster<NormConfig<d, vectors, cluster, most_threads>>;
  const int share = vectors_of_cta(d, p.cols / vector, cluster);
  const int threads = ceil_div(ceil_div(share, vectors), warp_size) * warp_size;
  const int rows_per_cta = cluster == 1 ? std::max(1, least_threads / threads) : 1;
  // A cluster of one is launched as none: CTAs that ask for a cluster start more slowly.
  cudaLaunchAttribute attributes[2]{};
  int count = 0;
  if (cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {cluster, 1, 1};
  }
  if (d.early_start) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(threads, rows_per_cta);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  cudaError_t error = cudaSuccess;
  if constexpr (cluster > 8)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  int clusters = ceil_div(p.rows, rows_per_cta);
  if constexpr (d.persistent) {
    int device = 0, sms = 0, at_once = 0;
    if (error == cudaSuccess) error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
      error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, threads * rows_per_cta, 0);
    clusters = std::min(clusters, at_once * sms);
  }
  if (error != cudaSuccess) return error;
  config.gridDim = unsigned(clusters) * cluster;
  return cudaLaunchKernelEx(&config, kernel, p, p.quantised ? *p.quantised : QuantisedRows{});
}

// Small CTAs, but none that reads less than 8 KiB where it belongs to a cluster: an SM can start only so
// many. The chapter derives it.
template <NormDesign d>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector == 0) {
    if constexpr (d.clusters) {
      if (p.cols <= 2048) return launch<d, 1, 1, 256>(p, stream);
      if (p.cols <= 4096) return launch<d, 2, 1, 256>(p, stream);
      if (p.cols <= 8192) return launch<d, 1, 2, 512>(p, stream);
      if (p.cols <= 16384) return launch<d, 4, 2, 256>(p, stream);
      if (p.cols <= 32768) return launch<d, 4, 4, 256>(p, stream);
      if (p.cols <= 262144) return launch<d, 4, 16, 512>(p, stream);
      if (p.cols <= 1048576) return launch<d, 16, 16, 512>(p, stream);
    } else {
      if (p.cols <= 8192) return launch<d, 1, 1, 1024>(p, stream);
      if (p.cols <= 16384) return launch<d, 2, 1, 1024>(p, stream);
      if constexpr (!d.persistent) {  // a loop over rows would take registers that more vectors need
        if (p.cols <= 32768) return launch<d, 4, 1, 1024>(p, stream);
        if (p.cols <= 65536) return launch<d, 16, 1, 512>(p, stream);
      }
    }
  }
  if (d.precision != Precision::bf16) return cudaErrorInvalidValue;  // refused before
  row_of_any_width<<<p.rows, any_width_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

static std::string rows_in_registers(const FusedNorm& p) {
  if (p.cols % vector == 0 && p.cols <= 1048576) return {};
  return "cols must be a multiple of 8, and at most 1048576: a row is in registers of a cluster";
}

// fused_norm_ring.cu
std::string rows_in_ring(const FusedNorm& p);
cudaError_t fused_norm_ring_1_stage(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_ring(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_ring_3_stages(const FusedNorm& p, cudaStream_t stream);

Variants<FusedNorm> fused_norm() {
  static constexpr Extension<FusedNorm> fp8_block{.precision = Precision::fp8_block};
  return {{.name = "ring_1_stage",
           .what = "rows fetched by a warp's bulk copies, one batch ahead of those that compute",
           .unsupported = rows_in_ring,
           .launch = fused_norm_ring_1_stage},
          {.name = "ring",
           .what = "the same, two batches ahead",
           .unsupported = rows_in_ring,
           .launch = fused_norm_ring},
          {.name = "ring_3_stages",
           .what = "three batches ahead",
           .unsupported = rows_in_ring,
           .launch = fused_norm_ring_3_stages},
          {.name = "persistent",
           .what = "16-byte loads by all threads; a CTA for a row, and it stays for many",
           .launch = launch_by_width<NormDesign{.clusters = false, .persistent = true}>},
          {.name = "streaming",
           .what = "a cluster for each row; loads past L1, stores that L2 evicts first",
           .launch = launch_by_width<NormDesign{.streaming = true}>},
          {.name = "late_h",
           .what = "reads before writes: h stored with y, when all of the row has been read",
           .launch = launch_by_width<NormDesign{.h_stored = HStored::with_y}>},
          {.name = "interleaved",
           .what = "reads between writes: a vector of h stored before the thread reads the next",
           .launch = launch_by_width<NormDesign{.h_stored = HStored::between_loads}>},
          {.name = "late_start",
           .what = "a grid starts when the one before has ended",
           .launch = launch_by_width<NormDesign{.early_start = false}>},
          {.name = "no_clusters",
           .what = "a CTA for each row, however wide",
           .launch = launch_by_width<NormDesign{.clusters = false}>},
          {.name = "fp8_block",
           .what = "y in e4m3 with a scale for every 128 elements",
           .unsupported = rows_in_registers,
           .launch = launch_by_width<NormDesign{.precision = Precision::fp8_block}>,
           .extension = &fp8_block},
          {.name = "row_in_cluster",
           .what = "a row in the registers of a cluster, h stored when a thread's loads have come",
           .launch = launch_by_width<NormDesign{}>}};
}

}  // namespace ladder::rung_08
