// Shared and local memory: bounds, and what was never written.
#include "common/simulator/tests/broken/broken.h"

template <bool fixed>
__global__ void shared_past_end(int* out) {
  extern __shared__ int dynamic[];
  const int i = threadIdx.x;
  dynamic[fixed ? i : i + 1] = i;  // BUG(shared_past_end): shared memory out of bounds
  __syncthreads();
  out[i] = dynamic[i];
}
template <bool fixed>
void run_shared_past_end() {
  shared_past_end<fixed><<<1, 64, 64 * sizeof(int)>>>(device_array(64));
}

template <bool fixed>
__global__ void local_past_end(int* out, int length) {
  int values[8];
  for (int i = 0; i < 8; ++i) values[i] = out[i];
  const int i = fixed ? length & 7 : length;
  values[i] += 1;  // BUG(local_past_end): local memory out of bounds
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += values[k ^ (length & 7)];
  out[threadIdx.x] = sum;
}
template <bool fixed>
void run_local_past_end() {
  local_past_end<fixed><<<1, 32>>>(device_array(32), 1000);
}

template <bool fixed>
__global__ void shared_never_written(int* out) {
  __shared__ int values[32];
  const int i = threadIdx.x;
  if (fixed || i < 16) values[i] = i;
  __syncthreads();
  out[i] = values[i];  // BUG(shared_never_written): uninitialised read
}
template <bool fixed>
void run_shared_never_written() {
  shared_never_written<fixed><<<1, 32>>>(device_array(32));
}

template <bool fixed>
__global__ void padding_used(const Padded* from, int* out) {
  __shared__ Padded copies[32];
  const int i = threadIdx.x;
  copies[i] = from[i];
  __syncwarp();
  const int* words = reinterpret_cast<const int*>(&copies[i ^ 1]);
  out[i] = words[fixed ? 2 : 3] + 1;  // BUG(padding_used): uninitialised read
}
template <bool fixed>
void run_padding_used() {
  Padded* padded = nullptr;
  cudaMalloc(&padded, 32 * sizeof(Padded));
  make_padded<<<1, 32>>>(padded);
  padding_used<fixed><<<1, 32>>>(padded, device_array(32));
}

template <bool fixed>
__global__ void histogram_not_cleared(const int* in, int* out) {
  __shared__ int bins[16];
  const int i = threadIdx.x;
  if (fixed && i < 16) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[in[i] & 15], 1);  // BUG(histogram_not_cleared): uninitialised read
  __syncthreads();
  if (i < 16) out[i] = bins[i];
}
template <bool fixed>
void run_histogram_not_cleared() {
  histogram_not_cleared<fixed><<<1, 64>>>(device_array(64), device_array(16));
}

std::span<const Case> shared_memory_cases() {
  static constexpr Case cases[] = {
      CASE(shared_past_end), CASE(local_past_end),        CASE(shared_never_written),
      CASE(padding_used),    CASE(histogram_not_cleared),
  };
  return cases;
}
