// A product of a few rows on CUDA cores. With one row of A there are two operations for each element of B,
// and all that counts is how fast B arrives. So here threads read it with ordinary 16-byte loads, all lanes
// of a row of a tile side by side: no tensor maps, no ring buffer, and nothing to fill before the first load.
//
// A CTA has some columns and a part of k, and a cluster has all of k.
#include <algorithm>
#include <bit>

#include "08_warp_specialized/shapes/choice.h"
#include "common/norm.cuh"
#include "common/ptx/cluster.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/streaming_access.cuh"

namespace ladder::rung_08 {

Text rows_of_vectors(const Gemm& p);

namespace {

template <int rows_>
struct VectorConfig {
  static constexpr int rows = rows_;  // of A, at most
  static constexpr int lanes = 8;     // side by side in a row of B, 8 columns each
  static constexpr int threads = 256, warps = threads / warp_size, groups = threads / lanes;
  static constexpr int cols = lanes * vector;
  static constexpr int step = 8;                // rows of B that a thread has on their way
  static constexpr int k_step = groups * step;  // and all of the CTA's threads
  static constexpr int per_sm = rows <= 2 ? 4 : 2;
  static constexpr int most_parts = 8;
};

// sums of a thread's part of k -> the CTA's sum of its column, in thread `column` of the first C::cols.
template <class C>
__device__ float column_sum(const float (&sums)[vector], float (&of_warp)[C::warps][C::cols]) {
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % C::lanes;
  float own[vector];
#pragma unroll
  for (int c = 0; c < vector; ++c) {
    own[c] = sums[c];
#pragma unroll
    for (int distance = C::lanes; distance < warp_size; distance *= 2)
      own[c] += __shfl_xor_sync(~0u, own[c], distance);
  }
  __syncthreads();  // of_warp[] has been read
  if (threadIdx.x % warp_size < C::lanes) {
    float4* const to = reinterpret_cast<float4*>(&of_warp[warp][lane * vector]);
    to[0] = make_float4(own[0], own[1], own[2], own[3]);
    to[1] = make_float4(own[4], own[5], own[6], own[7]);
  }
  __syncthreads();  // and is complete
  float sum = 0;
  if (threadIdx.x < C::cols)
    for (int w = 0; w < C::warps; ++w) sum += of_warp[w][threadIdx.x];
  return sum;
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::per_sm) matrix_vector(Gemm p, int parts, int k_of_part) {
  __shared__ alignas(16) float of_warp[C::warps][C::cols];
  __shared__ float received[C::rows * C::cols];  // [part][row][this CTA's columns]
  __shared__ ptx::Mbarrier arrived;              // its phase completes when received[] is
  const int rank = parts > 1 ? ptx::cluster_rank() : 0, own = C::cols / parts;
  if (parts > 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(ptx::shared_address(&arrived), 1);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof received);
      ptx::fence_mbarrier_init();
    }
    ptx::cluster_arrive_relaxed();
  }
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();

  const int lane = threadIdx.x % C::lanes, group = threadIdx.x / C::lanes;
  const int tile = int(blockIdx.x) / parts * C::cols, col = tile + lane * vector;
  const int end = min((rank + 1) * k_of_part, p.k);
  float sums[C::rows][vector] = {};
  for (int k0 = rank * k_of_part + group * C::step; k0 < end && col < p.n; k0 += C::k_step) {
    uint4 a[C::rows], b[C::step];  // all are on their way before the first is needed; k is a multiple of 8
    const __nv_bfloat16* from = p.b + std::size_t(k0) * p.n + col;
#pragma unroll
    for (int i = 0; i < C::step; ++i) b[i] = ptx::load_past_l1(from + std::size_t(i) * p.n);
#pragma unroll
    for (int r = 0; r < C::rows; ++r) a[r] = r < p.m ? load(p.a + std::size_t(r) * p.k + k0) : uint4{};
#pragma unroll
    for (int i = 0; i < C::step; ++i) {
      const unsigned pairs[] = {b[i].x, b[i].y, b[i].z, b[i].w};
#pragma unroll
      for (int r = 0; r < C::rows; ++r) {
        const unsigned of_a[] = {a[r].x, a[r].y, a[r].z, a[r].w};
        const float factor = i % 2 ? high_half(of_a[i / 2]) : low_half(of_a[i / 2]);
#pragma unroll
        for (int c = 0; c < vector; ++c)
          sums[r][c] += factor * (c % 2 ? high_half(pairs[c / 2]) : low_half(pairs[c / 2]));
      }
    }
  }

  // Each CTA of the cluster sends the others the columns that are theirs. They are added in the order of k,
  // whichever arrives first. Who waits for what is sent to it cannot exit too early.
  if (parts > 1) ptx::cluster_wait();  // the peers have started, and their barriers are initialised
#pragma unroll
  for (int r = 0; r < C::rows; ++r) {
    const float sum = column_sum<C>(sums[r], of_warp);
    if (threadIdx.x >= C::cols) continue;
    const int owner = int(threadIdx.x) / own;
    float* const to = &received[(rank * C::rows + r) * own + int(threadIdx.x) % own];
    if (parts > 1) {
      ptx::store_async(ptx::shared_address(to), sum, ptx::shared_address(&arrived), owner);
    } else {
      *to = sum;
    }
  }
  if (parts > 1) {
    ptx::mbarrier_wait(ptx::shared_address(&arrived), 0);
  } else {
    __syncthreads();
  }
  for (int i = threadIdx.x; i < C::rows * own; i += C::threads) {
    const int row = i / own, x = tile + rank * own + i % own;
    if (row >= p.m || x >= p.n) continue;
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += received[part * C::rows * own + i];
    p.c[std::size_t(row) * p.n + x] = __float2bfloat16_rn(sum);
  }
}

template <class C>
cudaError_t launch(const Gemm& p, int parts, cudaStream_t stream, bool early_start) {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = early_start;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {unsigned(parts), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(ceil_div(p.n, C::cols) * parts);
  config.blockDim = C::threads;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = parts > 1 ? 2 : 1;
  const int k_of_part = ceil_div(ceil_div(p.k, vector), parts) * vector;
  return cudaLaunchKernelEx(&config, matrix_vector<C>, p, parts, k_of_part);
}

constexpr Cluster alone[] = {{}};

template <class C>
constexpr Choice choice(const char* name) {
  return {.name = name,
          .kind = Kind::vector,
          .rows = C::rows,
          .cols = C::cols,
          .clusters = alone,
          .per_sm = C::per_sm,
          .parts = C::most_parts,
          .launch = [](const Gemm& p, const Launch& how, cudaStream_t stream, bool early_start) {
            return launch<C>(p, how.parts, stream, early_start);
          }};
}
constexpr Choice choices[] = {choice<VectorConfig<1>>("vector_64x1"), choice<VectorConfig<4>>("vector_64x4")};

template <int i>
cudaError_t launch_alone(const Gemm& p, cudaStream_t stream) {
  Chosen chosen;
  const cudaError_t error = choose(p, {&choices[i], 1}, &chosen);
  return error != cudaSuccess ? error : chosen.choice->launch(p, chosen.how, stream, false);
}

template <int i>
Text unsupported(const Gemm& p) {
  const Text refused = rows_of_vectors(p);
  return !refused.empty() || p.m <= choices[i].rows ? refused : Text("m is at most ", choices[i].rows);
}

template <int i>
Variant<Gemm> variant(const char* what) {
  return {.name = choices[i].name, .what = what, .unsupported = unsupported<i>, .launch = launch_alone<i>};
}

}  // namespace

std::span<const Choice> vector_choices() {
  return choices;
}
Variants<Gemm> matrix_vector() {
  return {variant<0>("no tensor cores: one row, 64 columns for a CTA"),
          variant<1>("no tensor cores: up to 4 rows, 64 columns for a CTA")};
}

}  // namespace ladder::rung_08
