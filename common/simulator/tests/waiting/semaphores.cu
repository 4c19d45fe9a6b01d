// cuda::counting_semaphore, cuda::binary_semaphore and cuda::latch.
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/chrono>

#include "common/simulator/tests/waiting/waiting.h"

// Three may be inside at a time.
template <bool stuck>
__global__ void counting(int* right, Shared*) {
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 3>;
  __shared__ Semaphore places;
  __shared__ int inside;
  const int i = int(threadIdx.x);
  if (i == 0) new (&places) Semaphore(3), inside = 0;
  __syncthreads();
  places.acquire();
  const int now = atomicAdd(&inside, 1);
  __nanosleep(20);
  atomicSub(&inside, 1);
  if (!stuck || i % 8 != 0) places.release();
  right[i] = now < 3;
}

// A semaphore as a lock around plain accesses, of all lanes of two CTAs.
template <bool stuck>
__global__ void binary(int* right, Shared* shared) {
  using Semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;
  auto& lock = *reinterpret_cast<Semaphore*>(shared->objects);
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(shared->words[1]);
  if (in_grid() == 0) {
    new (&lock) Semaphore(1);
    ready.store(1, cuda::memory_order_release);
  }
  while (ready.load(cuda::memory_order_acquire) == 0) {
  }
  lock.acquire();
  const int mine = shared->words[0]++;
  right[in_grid()] = mine < 96;
  if (!stuck || mine != 50) lock.release();
}

// Lanes of one warp as producer and consumer, with a semaphore for what is full and one for what is empty.
template <bool stuck>
__global__ void bounded_buffer(int* right, Shared*) {
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 4>;
  __shared__ Semaphore full, empty;
  __shared__ int buffer[4];
  const int lane = int(threadIdx.x);
  if (lane == 0) new (&full) Semaphore(0), new (&empty) Semaphore(4);
  __syncthreads();
  bool ok = true;
  if (lane == 11) {
    for (int k = 0; k < 20; ++k) {
      full.acquire();
      ok = ok && buffer[k % 4] == k * k;
      empty.release();
    }
  } else if (lane == 22) {
    for (int k = 0; k < (stuck ? 19 : 20); ++k) {
      empty.acquire();
      buffer[k % 4] = k * k;
      full.release();
    }
  }
  right[lane] = ok;
}

// Waits that end by the clock, before one that does not.
template <bool stuck>
__global__ void timed(int* right, Shared*) {
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block>;
  __shared__ Semaphore places;
  const int lane = int(threadIdx.x);
  if (lane == 0) new (&places) Semaphore(0);
  __syncthreads();
  const bool none = !places.try_acquire() && !places.try_acquire_for(cuda::std::chrono::microseconds(2));
  __syncwarp();
  if (lane == 31) {
    places.release(stuck ? 30 : 31);
  } else {
    places.acquire();
  }
  right[lane] = none;
}

// Half of the lanes count down, the other half waits.
template <bool stuck>
__global__ void latch(int* right, Shared*) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ alignas(Latch) unsigned char object[sizeof(Latch)];  // a latch has no default constructor
  __shared__ int data[32];
  auto& done = *reinterpret_cast<Latch*>(object);
  const int lane = int(threadIdx.x);
  if (lane == 0) new (&done) Latch(16);
  __syncthreads();
  if (lane % 2 == 0) {
    done.wait();
    right[lane] = data[lane] == lane && done.try_wait();
  } else {
    data[lane - 1] = lane - 1;
    if (!stuck || lane != 15) done.count_down();
    right[lane] = 1;
  }
}

// Threads of two CTAs meet at a latch; some arrive for two.
template <bool stuck>
__global__ void latch_of_a_grid(int* right, Shared* shared) {
  using Latch = cuda::latch<cuda::thread_scope_device>;
  auto& all = *reinterpret_cast<Latch*>(shared->objects);
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(shared->words[0]), sum(shared->words[1]);
  const int i = int(in_grid());
  if (i == 40) {
    new (&all) Latch(stuck ? 97 : 96);
    ready.store(1, cuda::memory_order_release);
    ready.notify_all();
  } else {
    ready.wait(0, cuda::memory_order_acquire);
  }
  sum.fetch_add(i, cuda::memory_order_relaxed);
  all.arrive_and_wait(i % 2 == 0 ? 2 : 1);
  right[i] = sum.load(cuda::memory_order_relaxed) == 63 * 32;
}

std::span<const Case> semaphore_cases() {
  static constexpr Case cases[] = {
      CASE(counting, 1, 64), CASE(binary, 2, 48), CASE(bounded_buffer, 1, 32),
      CASE(timed, 1, 32),    CASE(latch, 1, 32),  CASE(latch_of_a_grid, 2, 32),
  };
  return cases;
}
