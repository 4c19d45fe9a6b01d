// A product of one row on CUDA cores. There are two operations for each element of B, and all that counts is
// how fast B arrives. So here threads read it with ordinary 16-byte loads, all lanes of a row of a tile side
// by side: no tensor maps, no ring buffer, and nothing to fill before the first load.
//
// A CTA has 64 columns and a part of k, and a cluster has all of k.
#include "common/every_shape/estimate/estimate.h"
#include "common/every_shape/hopper/any_n_k.h"
#include "common/ptx/cluster.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/streaming_access.cuh"
#include "common/rows/norm.cuh"

namespace ladder::every_shape {

namespace {

constexpr int lanes = 8;  // side by side in a row of B, 8 columns each
constexpr int threads = 256, warps = threads / warp_size, groups = threads / lanes;
constexpr int cols = lanes * vector;
constexpr int step = 8;                // rows of B that a thread has in flight
constexpr int k_step = groups * step;  // and all of the CTA's threads
constexpr int per_sm = 4, most_parts = 8;

// A thread's sums over its part of k -> the CTA's sum of a column, in thread `column` of the first `cols`.
__device__ float column_sum(const float (&sums)[vector], float (&of_warp)[warps][cols]) {
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % lanes;
  float own[vector];
#pragma unroll
  for (int c = 0; c < vector; ++c) {
    own[c] = sums[c];
#pragma unroll
    for (int distance = lanes; distance < warp_size; distance *= 2)
      own[c] += __shfl_xor_sync(~0u, own[c], distance);
  }
  if (threadIdx.x % warp_size < lanes) {
    float4* const to = reinterpret_cast<float4*>(&of_warp[warp][lane * vector]);
    to[0] = make_float4(own[0], own[1], own[2], own[3]);
    to[1] = make_float4(own[4], own[5], own[6], own[7]);
  }
  __syncthreads();  // of_warp[] is complete
  float sum = 0;
  if (threadIdx.x < cols)
    for (int w = 0; w < warps; ++w) sum += of_warp[w][threadIdx.x];
  return sum;
}

__global__ void __launch_bounds__(threads, per_sm) matrix_vector(Gemm p, int parts, int k_of_part) {
  __shared__ alignas(16) float of_warp[warps][cols];
  __shared__ float received[cols];   // [part][this CTA's columns]
  __shared__ ptx::Mbarrier arrived;  // its phase completes when received[] is
  const int rank = parts > 1 ? ptx::cluster_rank() : 0, own = cols / parts;
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

  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
  const int tile = int(blockIdx.x) / parts * cols, col = tile + lane * vector;
  const int end = min((rank + 1) * k_of_part, p.k);
  float sums[vector] = {};
  for (int k0 = rank * k_of_part + group * step; k0 < end && col < p.n; k0 += k_step) {
    uint4 b[step];  // all are on their way before the first is needed; k is a multiple of 8
    const __nv_bfloat16* from = p.b + std::size_t(k0) * p.n + col;
#pragma unroll
    for (int i = 0; i < step; ++i) b[i] = ptx::load_past_l1(from + std::size_t(i) * p.n);
    const uint4 a = load(p.a + k0);
    const unsigned of_a[] = {a.x, a.y, a.z, a.w};
#pragma unroll
    for (int i = 0; i < step; ++i) {
      const unsigned pairs[] = {b[i].x, b[i].y, b[i].z, b[i].w};
      const float factor = i % 2 ? high_half(of_a[i / 2]) : low_half(of_a[i / 2]);
#pragma unroll
      for (int c = 0; c < vector; ++c)
        sums[c] += factor * (c % 2 ? high_half(pairs[c / 2]) : low_half(pairs[c / 2]));
    }
  }

  // Each CTA of the cluster sends the others the columns that are theirs. They are added in the order of k,
  // whichever arrives first. A CTA that waits for what its peers send cannot exit too early.
  if (parts > 1) ptx::cluster_wait();  // the peers have started, and their barriers are initialised
  const float sum = column_sum(sums, of_warp);
  if (threadIdx.x < cols) {
    float* const to = &received[rank * own + int(threadIdx.x) % own];
    if (parts > 1) {
      ptx::store_async(ptx::shared_address(to), sum, ptx::shared_address(&arrived), int(threadIdx.x) / own);
    } else {
      *to = sum;
    }
  }
  if (parts > 1) {
    ptx::mbarrier_wait(ptx::shared_address(&arrived), 0);
  } else {
    __syncthreads();
  }
  const int x = tile + rank * own + int(threadIdx.x);
  if (threadIdx.x >= own || x >= p.n) return;
  float all = 0;
  for (int part = 0; part < parts; ++part) all += received[part * own + threadIdx.x];
  p.c[x] = __float2bfloat16_rn(all);
}

cudaError_t launch(const Gemm& p, int parts, cudaStream_t stream, bool early_start) {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = early_start;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {unsigned(parts), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(ceil_div(p.n, cols) * parts);
  config.blockDim = threads;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = parts > 1 ? 2 : 1;
  const int k_of_part = ceil_div(ceil_div(p.k, vector), parts) * vector;
  return cudaLaunchKernelEx(&config, matrix_vector, p, parts, k_of_part);
}

constexpr Cluster alone[] = {{}};
constexpr Candidate candidates[] = {
    {.name = "vector_64x1",
     .kind = Kind::vector,
     .rows = 1,
     .cols = cols,
     .clusters = alone,
     .per_sm = per_sm,
     .parts = most_parts,
     .launch = [](const Gemm& p, const Launch& how, cudaStream_t stream, bool early_start) {
       return launch(p, how.parts, stream, early_start);
     }}};

cudaError_t launch_alone(const Gemm& p, cudaStream_t stream) {
  return launch_only(candidates[0], p, stream);
}

Text unsupported(const Gemm& p) {
  const Text refused = rows_of_vectors(p);
  return !refused.empty() || p.m == 1 ? refused : Text("m must be 1");
}

}  // namespace

std::span<const Candidate> vector_candidates() {
  return candidates;
}
Variants<Gemm> matrix_vector() {
  return {{.name = candidates[0].name,
           .what = "no tensor cores: one row, 64 columns for a CTA",
           .unsupported = unsupported,
           .launch = launch_alone}};
}

}  // namespace ladder::every_shape
