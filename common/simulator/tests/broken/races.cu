// Shared memory that threads use at the same time.
#include "common/simulator/tests/broken/broken.h"

template <bool fixed>
__global__ void missing_barrier(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  if (i < 32) values[i] = i;  // BUG(missing_barrier): race
  if (fixed) __syncthreads();
  out[i] = values[i & 31];  // BUG(missing_barrier): race
}
template <bool fixed>
void run_missing_barrier() {
  missing_barrier<fixed><<<1, 64>>>(device_array(64));
}

template <bool fixed>
__global__ void missing_second_barrier(const int* in, int* out, int tiles) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  int sum = 0;
  for (int t = 0; t < tiles; ++t) {
    tile[i] = in[t * 64 + i];  // BUG(missing_second_barrier): race
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      sum += tile[k] * k;  // BUG(missing_second_barrier): race
    }
    if (fixed) __syncthreads();
  }
  out[i] = sum;
}
template <bool fixed>
void run_missing_second_barrier() {
  missing_second_barrier<fixed><<<1, 64>>>(device_array(256), device_array(64), 4);
}

template <bool fixed>
__global__ void missing_syncwarp(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  values[i] = out[i];  // BUG(missing_syncwarp): race
  if (fixed) __syncwarp();
  out[i] = values[31 - i];  // BUG(missing_syncwarp): race
}
template <bool fixed>
void run_missing_syncwarp() {
  missing_syncwarp<fixed><<<1, 32>>>(device_array(32));
}

// Each warp waits for half of the block, and for the wrong half.
template <bool fixed>
__global__ void wrong_half(int* out) {
  __shared__ int values[128];
  const int i = threadIdx.x, half = i / 64;
  values[i] = 0;
  __syncthreads();
  values[i] = out[i];  // BUG(wrong_half): race
  asm volatile("bar.sync %0, 64;" ::"r"(1 + half) : "memory");
  out[i] = values[fixed ? i ^ 32 : i ^ 64];  // BUG(wrong_half): race
}
template <bool fixed>
void run_wrong_half() {
  wrong_half<fixed><<<1, 128>>>(device_array(128));
}

template <bool fixed>
__global__ void two_lanes_write_one_place(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  values[fixed ? i : i / 2] = i;  // BUG(two_lanes_write_one_place): race
  __syncthreads();
  out[i] = values[fixed ? i : i / 2];
}
template <bool fixed>
void run_two_lanes_write_one_place() {
  two_lanes_write_one_place<fixed><<<1, 32>>>(device_array(32));
}

template <bool fixed>
__global__ void count_without_atomic(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    if (fixed) {
      atomicAdd(&count, 1);
    } else {
      count += 1;  // BUG(count_without_atomic): race
    }
  }
  __syncthreads();
  out[threadIdx.x] = count;
}
template <bool fixed>
void run_count_without_atomic() {
  count_without_atomic<fixed><<<1, 128>>>(device_array(128));
}

std::span<const Case> race_cases() {
  static constexpr Case cases[] = {
      CASE(missing_barrier), CASE(missing_second_barrier),    CASE(missing_syncwarp),
      CASE(wrong_half),      CASE(two_lanes_write_one_place), CASE(count_without_atomic),
  };
  return cases;
}
