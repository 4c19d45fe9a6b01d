// cuda::atomic and cuda::atomic_ref: polled, handed on, mixed with volatile and plain accesses.
#include <cuda/atomic>

#include "common/simulator/tests/waiting/waiting.h"

using DeviceRef = cuda::atomic_ref<int, cuda::thread_scope_device>;
using BlockRef = cuda::atomic_ref<int, cuda::thread_scope_block>;

// One lane polls what another lane of its warp stores, further down in the code and further up.
template <bool stuck>
__global__ void relaxed_flag(int* right, Shared* shared) {
  const DeviceRef first(shared->words[0]), second(shared->words[1]);
  const int lane = int(threadIdx.x);
  if (lane == 0) {
    while (first.load(cuda::memory_order_relaxed) == 0) {
    }
  } else if (lane == 7) {
    if (!stuck) first.store(1, cuda::memory_order_relaxed);
  }
  if (lane == 9) {
    second.store(1, cuda::memory_order_relaxed);
  } else if (lane == 4) {
    while (second.load(cuda::memory_order_relaxed) == 0) {
    }
  }
  right[lane] = 1;
}

// All other lanes poll, by a volatile load and a fence, what a lane releases after a plain store.
template <bool stuck>
__global__ void volatile_poll(int* right, Shared*) {
  __shared__ int flag, data;
  const int lane = int(threadIdx.x);
  if (lane == 0) flag = 0;
  __syncthreads();
  if (lane == 13) {
    data = 42;
    if (!stuck) BlockRef(flag).store(1, cuda::memory_order_release);
  } else {
    while (*const_cast<volatile int*>(&flag) == 0) {
    }
    __threadfence_block();
  }
  right[lane] = data == 42;
}

// The other way around: a fence and a volatile store, acquired.
template <bool stuck>
__global__ void volatile_store(int* right, Shared*) {
  __shared__ int flag, data;
  const int lane = int(threadIdx.x);
  if (lane == 0) flag = 0;
  __syncthreads();
  if (lane < 16) {
    while (BlockRef(flag).load(cuda::memory_order_acquire) == 0) __nanosleep(20);
  } else if (lane == 16) {
    data = 42;
    __threadfence_block();
    if (!stuck) *const_cast<volatile int*>(&flag) = 1;
  }
  right[lane] = lane > 16 || data == 42;
}

// Relaxed accesses between fences of the library.
template <bool stuck>
__global__ void fences(int* right, Shared* shared) {
  const cuda::atomic_ref<int, cuda::thread_scope_system> flag(shared->words[0]);
  int& data = shared->words[1];
  const int lane = int(threadIdx.x);
  if (lane % 2 == 0) {
    while (flag.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
    right[lane] = data == 42;
  } else {
    if (lane == 5) {
      data = 42;
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_system);
      if (!stuck) flag.store(1, cuda::memory_order_relaxed);
    }
    right[lane] = 1;
  }
}

// Every lane's turn comes once the lane above it has had its own.
template <bool stuck>
__global__ void turns(int* right, Shared*) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
  __shared__ int count;
  const int lane = int(threadIdx.x);
  if (lane == 0) new (&turn) cuda::atomic<int, cuda::thread_scope_block>(31), count = 0;
  __syncthreads();
  int expected = lane;
  while (!turn.compare_exchange_weak(expected, -1, cuda::memory_order_acquire)) expected = lane;
  ++count;
  right[lane] = count == 32 - lane;
  if (!stuck || lane != 20) turn.store(lane - 1, cuda::memory_order_release);
}

// wait() and notify: two lanes of one warp and a third of the other one pass a number on.
template <bool stuck>
__global__ void wait_notify(int* right, Shared* shared) {
  cuda::atomic_ref<int, cuda::thread_scope_device> number(shared->words[0]);
  const int i = int(threadIdx.x), place = i == 3 ? 0 : i == 30 ? 1 : i == 40 ? 2 : -1;
  if (place >= 0) {
    for (int step = place; step < 12; step += 3) {
      for (int seen = number.load(); seen != step; seen = number.load()) number.wait(seen);
      if (stuck && step == 7) break;
      number.store(step + 1, cuda::memory_order_release);
      number.notify_all();
    }
  }
  right[i] = 1;
}

// A whole warp waits for its last lane, with values of all sizes.
template <typename T>
__device__ bool released(cuda::atomic<T, cuda::thread_scope_block>& value, bool release) {
  __shared__ int data;
  const int lane = int(threadIdx.x);
  if (lane == 31) {
    data = int(sizeof(T));
    if (release) value.store(T{1}, cuda::memory_order_release), value.notify_all();
  } else {
    value.wait(T{0}, cuda::memory_order_acquire);
  }
  const bool right = data == int(sizeof(T));
  __syncthreads();
  return right;
}
template <bool stuck>
__global__ void sizes(int* right, Shared*) {
  __shared__ cuda::atomic<unsigned char, cuda::thread_scope_block> byte;
  __shared__ cuda::atomic<short, cuda::thread_scope_block> half;
  __shared__ cuda::atomic<float, cuda::thread_scope_block> single;
  __shared__ cuda::atomic<unsigned long long, cuda::thread_scope_block> wide;
  if (threadIdx.x == 0) {
    new (&byte) cuda::atomic<unsigned char, cuda::thread_scope_block>(0);
    new (&half) cuda::atomic<short, cuda::thread_scope_block>(0);
    new (&single) cuda::atomic<float, cuda::thread_scope_block>(0);
    new (&wide) cuda::atomic<unsigned long long, cuda::thread_scope_block>(0);
  }
  __syncthreads();
  right[threadIdx.x] =
      released(byte, true) && released(half, true) && released(single, true) && released(wide, !stuck);
}

// Atomics of a byte are made of those of a word. Its neighbours belong to other lanes, or were never written.
template <bool stuck>
__global__ void bytes(int* right, Shared*) {
  __shared__ alignas(4) unsigned char cells[8];
  const int lane = int(threadIdx.x);
  if (lane == 0) cells[1] = cells[6] = 0;
  __syncthreads();
  cuda::atomic_ref<unsigned char, cuda::thread_scope_block> count(cells[1]), full(cells[6]);
  if (count.fetch_add(1, cuda::memory_order_acq_rel) == 31) {
    if (!stuck) full.store(1, cuda::memory_order_release);
  } else {
    while (full.load(cuda::memory_order_acquire) == 0) {
    }
  }
  if (lane == 3) cells[2] = 9;
  right[lane] = count.load() == 32 && (lane != 3 || cells[2] == 9);
}

// A ticket lock of all lanes of all CTAs around plain accesses.
template <bool stuck>
__global__ void tickets(int* right, Shared* shared) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> next(shared->words[0]), serving(shared->words[1]);
  int& value = shared->words[2];
  const int ticket = next.fetch_add(1, cuda::memory_order_relaxed);
  while (serving.load(cuda::memory_order_acquire) != ticket) {
  }
  right[in_grid()] = value == ticket * 3;
  value += 3;
  if (!stuck || ticket != 40) serving.store(ticket + 1, cuda::memory_order_release);
}

// A warp polls a counter that the last of its own lanes completes.
template <bool stuck>
__global__ void counted(int* right, Shared* shared) {
  const DeviceRef count(shared->words[0]);
  const int lane = int(threadIdx.x), want = stuck ? 33 : 32;
  for (int k = 0; k < lane; ++k) __nanosleep(5);
  count.fetch_add(1, cuda::memory_order_release);
  while (count.load(cuda::memory_order_acquire) < want) {
  }
  right[lane] = 1;
}

std::span<const Case> atomic_cases() {
  static constexpr Case cases[] = {
      CASE(relaxed_flag, 1, 32), CASE(volatile_poll, 1, 32), CASE(volatile_store, 1, 32), CASE(fences, 1, 32),
      CASE(turns, 1, 32),        CASE(wait_notify, 1, 64),   CASE(sizes, 1, 32),          CASE(bytes, 1, 32),
      CASE(tickets, 2, 48),      CASE(counted, 1, 32),
  };
  return cases;
}
