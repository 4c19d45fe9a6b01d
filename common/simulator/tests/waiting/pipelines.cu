// cuda::pipeline and cuda::memcpy_async: of a thread, of a block, with and without producers and consumers of
// its own.
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "common/simulator/tests/waiting/waiting.h"

namespace cg = cooperative_groups;
constexpr int stages = 2;
using PipelineState = cuda::pipeline_shared_state<cuda::thread_scope_block, stages>;

static __device__ inline void fill(Shared* shared) {  // words[i] = 3 * i
  if (threadIdx.x < 64) shared->words[threadIdx.x] = 3 * int(threadIdx.x);
  __syncthreads();
}

// Every thread waits for its own copies.
template <bool stuck>
__global__ void thread_pipeline(int* right, Shared* shared) {
  __shared__ int staged[stages][32];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  fill(shared);
  const int lane = int(threadIdx.x) % 32;
  if (threadIdx.x == 0) init(&barrier, stuck ? 65 : 64);
  __syncthreads();
  bool ok = true;
  if (threadIdx.x < 32) {
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    for (int k = 0; k < 2; ++k) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&staged[k][lane], &shared->words[32 * k + lane], sizeof(int), pipeline);
      pipeline.producer_commit();
    }
    for (int k = 0; k < 2; ++k) {
      pipeline.consumer_wait();
      ok = ok && staged[k][lane] == 3 * (32 * k + lane);
      pipeline.consumer_release();
    }
  }
  barrier.arrive_and_wait();
  right[threadIdx.x] = ok && staged[1][31 - lane] == 3 * (63 - lane);
}

// All threads of the block copy, and all read.
template <bool stuck>
__global__ void unified(int* right, Shared* shared) {
  __shared__ PipelineState state;
  __shared__ int staged[stages][64];
  fill(shared);
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int i = int(threadIdx.x);
  bool ok = true;
  for (int fetched = 0, k = 0; k < 6; ++k) {
    for (; fetched < 6 && fetched < k + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, staged[fetched % stages], shared->words, 64 * sizeof(int), pipeline);
      if (stuck && fetched == 4 && i == 9) {
        right[i] = 1;
        return;
      }
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    ok = ok && staged[k % stages][63 - i] == 3 * (63 - i);
    pipeline.consumer_release();
  }
  right[i] = ok;
}

// Warp 0 produces, warp 1 consumes.
template <bool stuck>
__global__ void warps_with_roles(int* right, Shared*) {
  __shared__ PipelineState state;
  __shared__ int staged[stages][32];
  const cg::thread_block block = cg::this_thread_block();
  const int i = int(threadIdx.x), lane = i % 32;
  const auto role = i < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  bool ok = true;
  for (int k = 0; k < 7; ++k) {
    if (role == cuda::pipeline_role::producer) {
      pipeline.producer_acquire();
      staged[k % stages][lane] = k * 100 + lane;
      if (!stuck || k != 5 || lane != 3) pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      ok = ok && staged[k % stages][31 - lane] == k * 100 + 31 - lane;
      pipeline.consumer_release();
    }
  }
  right[i] = ok;
}

// The even lanes of each warp produce what the odd ones consume, by copies of their own.
template <bool stuck>
__global__ void lanes_with_roles(int* right, Shared* shared) {
  __shared__ PipelineState state;
  __shared__ int staged[stages][32];
  fill(shared);
  const cg::thread_block block = cg::this_thread_block();
  const int i = int(threadIdx.x), place = i / 2;
  const auto role = i % 2 == 0 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  bool ok = true;
  for (int k = 0; k < 7; ++k) {
    if (role == cuda::pipeline_role::producer) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&staged[k % stages][place], &shared->words[place + k], sizeof(int), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      ok = ok && staged[k % stages][31 - place] == 3 * (31 - place + k);
      if (!stuck || k < 3 || i != 5) pipeline.consumer_release();
    }
  }
  right[i] = ok;
}

// The first 16 threads produce; consumers look at the clock.
template <bool stuck>
__global__ void counted_producers(int* right, Shared* shared) {
  __shared__ PipelineState state;
  __shared__ int staged[stages][16];
  fill(shared);
  const cg::thread_block block = cg::this_thread_block();
  const int i = int(threadIdx.x);
  auto pipeline = cuda::make_pipeline(block, &state, cuda::pipeline_role(i < 16 ? 0 : 1));
  bool ok = true;
  for (int k = 0; k < 4; ++k) {
    if (i < 16) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&staged[k % stages][i], &shared->words[i + k], sizeof(int), pipeline);
      if (!stuck || k < 2) pipeline.producer_commit();
    } else {
      while (!pipeline.consumer_wait_for(cuda::std::chrono::nanoseconds(300))) {
      }
      ok = ok && staged[k % stages][i % 16] == 3 * (i % 16 + k);
      pipeline.consumer_release();
    }
  }
  right[i] = ok;
}

// Copies that arrive at a barrier; only lane 0 of each warp issues them.
template <bool stuck>
__global__ void copies_arrive(int* right, Shared* shared) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int staged[64];
  fill(shared);
  const int i = int(threadIdx.x);
  if (i == 0) init(&barrier, 64);
  __syncthreads();
  if (i % 32 == 0) cuda::memcpy_async(&staged[i], &shared->words[i], cuda::aligned_size_t<16>(128), barrier);
  right[i] = 1;
  if (stuck && i == 63) return;
  barrier.arrive_and_wait();
  right[i] = staged[63 - i] == 3 * (63 - i);
}

std::span<const Case> pipeline_cases() {
  static constexpr Case cases[] = {
      CASE(thread_pipeline, 1, 64),  CASE(unified, 1, 64),           CASE(warps_with_roles, 1, 64),
      CASE(lanes_with_roles, 1, 64), CASE(counted_producers, 1, 64), CASE(copies_arrive, 1, 64),
  };
  return cases;
}
