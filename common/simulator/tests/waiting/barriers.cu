// cuda::barrier: in shared memory an mbarrier, elsewhere a word that is polled.
#include <cuda/barrier>
#include <cuda/std/chrono>
#include <cuda/std/utility>

#include "common/simulator/tests/waiting/waiting.h"

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
using DeviceBarrier = cuda::barrier<cuda::thread_scope_device>;

// Two warps, phase after phase.
template <bool stuck>
__global__ void block_barrier(int* right, Shared*) {
  __shared__ BlockBarrier barrier;
  __shared__ int data[64];
  const int i = int(threadIdx.x);
  if (i == 0) init(&barrier, stuck ? 65 : 64);
  __syncthreads();
  bool ok = true;
  for (int phase = 0; phase < 4; ++phase) {
    data[i] = i + phase;
    barrier.arrive_and_wait();
    ok = ok && data[63 - i] == 63 - i + phase;
    barrier.arrive_and_wait();
  }
  right[i] = ok;
}

// Only the odd lanes of two warps take part; the others are done.
template <bool stuck>
__global__ void odd_lanes(int* right, Shared*) {
  __shared__ BlockBarrier barrier;
  __shared__ int data[64];
  const int i = int(threadIdx.x);
  if (i == 0) init(&barrier, 32);
  __syncthreads();
  right[i] = 1;
  if (i % 2 == 0) return;
  for (int phase = 0; phase < 3; ++phase) {
    data[i] = i * phase;
    if (stuck && phase == 1 && i == 5) return;
    barrier.arrive_and_wait();
    if (data[64 - i] != (64 - i) * phase) right[i] = 0;
    barrier.arrive_and_wait();
  }
}

// Half of a warp arrives and goes on; the other half waits for it.
template <bool stuck>
__global__ void arrive_or_wait(int* right, Shared*) {
  __shared__ BlockBarrier full, empty;
  __shared__ int data[16];
  const int lane = int(threadIdx.x);
  if (lane == 0) init(&full, 32), init(&empty, 32);
  __syncthreads();
  bool ok = true;
  if (lane < 16) {
    for (int k = 0; k < 5; ++k) {
      full.wait(full.arrive());
      ok = ok && data[15 - lane] == k * 16 + 15 - lane;
      (void)empty.arrive();
    }
  } else {
    for (int k = 0; k < 5; ++k) {
      data[lane - 16] = k * 16 + lane - 16;
      if (stuck && k == 3 && lane == 16) break;
      (void)full.arrive();
      empty.arrive_and_wait();
    }
  }
  right[lane] = ok;
}

// A token is kept while others arrive; one thread arrives for several.
template <bool stuck>
__global__ void tokens(int* right, Shared*) {
  __shared__ BlockBarrier barrier;
  __shared__ int data;
  const int i = int(threadIdx.x);
  if (i == 0) init(&barrier, 64 + 6), data = 0;
  __syncthreads();
  if (i == 50) data = 42;
  BlockBarrier::arrival_token token = i == 50 ? barrier.arrive(stuck ? 6 : 7) : barrier.arrive();
  int sum = 0;
  for (int k = 0; k < i; ++k) sum += k;
  barrier.wait(cuda::std::move(token));
  right[i] = data == 42 && sum == i * (i - 1) / 2;
}

// Lane i takes part in i + 1 phases.
template <bool stuck>
__global__ void drop(int* right, Shared*) {
  __shared__ BlockBarrier barrier;
  __shared__ int count;
  const int lane = int(threadIdx.x);
  if (lane == 0) init(&barrier, 32), count = 0;
  __syncthreads();
  for (int phase = 0; phase < lane; ++phase) {
    atomicAdd(&count, 1);
    barrier.arrive_and_wait();
  }
  if (!stuck || lane != 9) barrier.arrive_and_drop();
  right[lane] = 1;
  if (lane == 31) right[lane] = atomicAdd(&count, 0) == 31 * 32 / 2;
}

// Polled by hand, with a time limit, and by parity.
template <bool stuck>
__global__ void try_wait(int* right, Shared*) {
  __shared__ BlockBarrier barrier;
  __shared__ int data;
  const int lane = int(threadIdx.x);
  if (lane == 0) init(&barrier, 3), data = 0;
  __syncthreads();
  bool ok = true;
  if (lane == 2) {
    BlockBarrier::arrival_token token = barrier.arrive();
    while (!barrier.try_wait_for(BlockBarrier::arrival_token(token), cuda::std::chrono::nanoseconds(500))) {
    }
    ok = data == 42;
  } else if (lane == 3) {
    (void)barrier.arrive();
    while (!barrier.try_wait_parity_for(false, cuda::std::chrono::microseconds(1))) {
    }
    ok = data == 42;
  } else if (lane == 20) {
    data = 42;
    if (!stuck) (void)barrier.arrive();
  } else if (lane == 25) {
    barrier.wait_parity(false);
    ok = data == 42;
  }
  right[lane] = ok;
}

// Between CTAs, in global memory; of each warp only a third takes part.
template <bool stuck>
__global__ void device_barrier(int* right, Shared* shared) {
  auto& barrier = *reinterpret_cast<DeviceBarrier*>(shared->objects);
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(shared->words[0]);
  const int i = int(in_grid());
  if (i == 0) {
    init(&barrier, 32);
    ready.store(1, cuda::memory_order_release);
  }
  right[i] = 1;
  if (i % 3 != 0) return;
  while (ready.load(cuda::memory_order_acquire) == 0) {
  }
  bool ok = true;
  for (int phase = 0; phase < 3; ++phase) {
    shared->words[1 + i / 3] = i + phase;
    if (stuck && phase == 2 && i == 33) return;
    barrier.arrive_and_wait();
    ok = ok && shared->words[1 + (93 - i) / 3] == 93 - i + phase;
    barrier.arrive_and_wait();
  }
  right[i] = ok;
}

// A barrier of a block, but in global memory: drops, tokens and partial warps with what is polled.
template <bool stuck>
__global__ void barrier_in_global(int* right, Shared* shared) {
  auto& barrier = *reinterpret_cast<BlockBarrier*>(shared->objects);
  const int i = int(threadIdx.x);
  if (i == 0) init(&barrier, 64);
  __syncthreads();
  right[i] = 1;
  if (i % 4 == 3) {
    if (!stuck) barrier.arrive_and_drop();
    return;
  }
  BlockBarrier::arrival_token token = barrier.arrive();
  barrier.wait(cuda::std::move(token));
  shared->words[i] = i;
  barrier.arrive_and_wait();
  const int other = i % 4 == 0 ? i + 2 : i - 1;
  right[i] = shared->words[other] == other;
}

// The thread that completes a phase calls a function.
struct Doubled {
  int* value;
  __device__ void operator()() { *value *= 2; }
};
template <bool stuck>
__global__ void completion(int* right, Shared*) {
  using Barrier = cuda::barrier<cuda::thread_scope_block, Doubled>;
  __shared__ Barrier barrier;
  __shared__ int value;
  const int lane = int(threadIdx.x);
  if (lane == 0) {
    value = 1;
    new (&barrier) Barrier(32, Doubled{&value});
  }
  __syncthreads();
  bool ok = true;
  for (int phase = 0; phase < 4; ++phase) {
    if (stuck && phase == 3 && lane == 31) break;
    barrier.arrive_and_wait();
    ok = ok && value == 2 << phase;
    barrier.arrive_and_wait();
    if (lane == 0) value /= 2;
    __syncwarp(stuck && phase == 3 ? 0x7fffffff : 0xffffffff);
  }
  right[lane] = ok;
}

std::span<const Case> barrier_cases() {
  static constexpr Case cases[] = {
      CASE(block_barrier, 1, 64),  CASE(odd_lanes, 1, 64),
      CASE(arrive_or_wait, 1, 32), CASE(tokens, 1, 64),
      CASE(drop, 1, 32),           CASE(try_wait, 1, 32),
      CASE(device_barrier, 2, 48), CASE(barrier_in_global, 1, 64),
      CASE(completion, 1, 32),
  };
  return cases;
}
