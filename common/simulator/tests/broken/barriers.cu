// Barriers and locks that threads never pass.
#include "common/simulator/tests/broken/broken.h"

template <bool fixed>
__global__ void divergent_barrier(int* out) {
  const int i = threadIdx.x;
  int value = out[i];
  if (fixed || i % 2 == 1) {
    value += 1;
    __syncthreads();  // BUG(divergent_barrier): divergent barrier
  }
  out[i] = value;
}
template <bool fixed>
void run_divergent_barrier() {
  divergent_barrier<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void exit_before_barrier(const int* in, int* out, int n) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  if (!fixed && i >= n) return;
  values[i] = i < n ? in[i] : 0;
  __syncthreads();  // BUG(exit_before_barrier): divergent barrier
  if (i < n) out[i] = values[n - 1 - i];
}
template <bool fixed>
void run_exit_before_barrier() {
  exit_before_barrier<fixed><<<1, 64>>>(device_array(40), device_array(40), 40);
}

template <bool fixed>
__global__ void barrier_count_too_large(int* out) {
  const int threads = fixed ? 64 : 96;
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");  // BUG(barrier_count_too_large): deadlock
  out[threadIdx.x] = 0;
}
template <bool fixed>
void run_barrier_count_too_large() {
  barrier_count_too_large<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void flag_never_set(volatile int* flag, int* out) {
  if (fixed && threadIdx.x == 32) *flag = 2;
  if (threadIdx.x == 0) {
    while (*flag != 2) {  // BUG(flag_never_set): deadlock
    }
  }
  out[threadIdx.x] = 0;
}
template <bool fixed>
void run_flag_never_set() {
  flag_never_set<fixed><<<1, 64>>>(device_array(1), device_array(64));
}

template <bool fixed>
__global__ void crosswise(int* out) {
  if (fixed || threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG(crosswise): deadlock
    asm volatile("bar.sync 2, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");  // BUG(crosswise): deadlock
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  out[threadIdx.x] = 0;
}
template <bool fixed>
void run_crosswise() {
  crosswise<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void lock_never_released(int* lock, int* out) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {  // BUG(lock_never_released): deadlock
    }
    out[blockIdx.x] = 1;
    __threadfence();
    if (fixed) atomicExch(lock, 0);
  }
}
template <bool fixed>
void run_lock_never_released() {
  int* lock = device_array(1);
  cudaMemset(lock, 0, sizeof(int));
  lock_never_released<fixed><<<4, 32>>>(lock, device_array(4));
}

std::span<const Case> barrier_cases() {
  static constexpr Case cases[] = {
      CASE(divergent_barrier), CASE(exit_before_barrier), CASE(barrier_count_too_large),
      CASE(flag_never_set),    CASE(crosswise),           CASE(lock_never_released),
  };
  return cases;
}
