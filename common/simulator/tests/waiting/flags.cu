// cuda::std::atomic_flag and atomic<bool>.
#include <cuda/std/atomic>

#include "common/simulator/tests/waiting/waiting.h"

// A spin lock of all lanes, as in a textbook.
template <bool stuck>
__global__ void flag_lock(int* right, Shared*) {
  __shared__ cuda::std::atomic_flag taken;
  __shared__ int count;
  const int i = int(threadIdx.x);
  if (i == 0) taken.clear(), count = 0;
  __syncthreads();
  while (taken.test_and_set(cuda::std::memory_order_acquire)) {
  }
  const int mine = count++;
  if (!stuck || mine != 11) taken.clear(cuda::std::memory_order_release);
  right[i] = mine < 64;
}

// The lock, tested before it is set, and waited for.
template <bool stuck>
__global__ void flag_wait(int* right, Shared* shared) {
  auto& taken = *reinterpret_cast<cuda::std::atomic_flag*>(shared->objects);
  int& count = shared->words[0];
  while (taken.test_and_set(cuda::std::memory_order_acquire))
    taken.wait(true, cuda::std::memory_order_relaxed);
  const int mine = count++;
  if (!stuck || mine != 11) {
    taken.clear(cuda::std::memory_order_release);
    taken.notify_one();
  }
  right[in_grid()] = mine < 64;
}

// Half of a warp waits for a flag that a lane of the other half sets.
template <bool stuck>
__global__ void bool_wait(int* right, Shared*) {
  __shared__ cuda::std::atomic<bool> ready;
  __shared__ int data[16];
  const int lane = int(threadIdx.x);
  if (lane == 0) new (&ready) cuda::std::atomic<bool>(false);
  __syncthreads();
  if (lane % 2 == 0) {
    ready.wait(false);
    right[lane] = data[lane / 2] == lane;
  } else {
    data[lane / 2] = lane - 1;
    __syncwarp(0xaaaaaaaa);
    if (lane == 17 && !stuck) {
      ready.store(true);
      ready.notify_all();
    }
    right[lane] = 1;
  }
}

std::span<const Case> flag_cases() {
  static constexpr Case cases[] = {
      CASE(flag_lock, 1, 64),
      CASE(flag_wait, 2, 32),
      CASE(bool_wait, 1, 32),
  };
  return cases;
}
