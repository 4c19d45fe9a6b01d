// Global and constant memory: bounds, alignment, what was never written.
#include "common/simulator/tests/broken/broken.h"

template <bool fixed>
__global__ void read_past_end(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = fixed ? i : i + 1;
  out[i] = in[next];  // BUG(read_past_end): illegal address
}
template <bool fixed>
void run_read_past_end() {
  read_past_end<fixed><<<2, 32>>>(device_array(64), device_array(64));
}

template <bool fixed>
__global__ void write_past_end(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[fixed ? i : i + 1] = i;  // BUG(write_past_end): illegal address
}
template <bool fixed>
void run_write_past_end() {
  write_past_end<fixed><<<2, 32>>>(device_array(64));
}

template <bool fixed>
__global__ void read_before_start(const int* in, int* out, int n) {
  const int i = threadIdx.y * blockDim.x + threadIdx.x;
  out[i] = in[n - 1 - i];  // BUG(read_before_start): illegal address
}
template <bool fixed>
void run_read_before_start() {
  read_before_start<fixed><<<1, dim3(8, 8)>>>(device_array(64), device_array(64), fixed ? 64 : 20);
}

template <bool fixed>
__global__ void misaligned(const float* in, float4* out) {
  const float* first = in + 4 * threadIdx.x + (fixed ? 4 : 1);
  out[threadIdx.x] = *reinterpret_cast<const float4*>(first);  // BUG(misaligned): misaligned access
}
template <bool fixed>
void run_misaligned() {
  int* in = device_array(256);
  int* out = device_array(128);
  misaligned<fixed><<<1, 32>>>(reinterpret_cast<float*>(in), reinterpret_cast<float4*>(out));
}

template <bool fixed>
__global__ void use_after_free(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG(use_after_free): illegal address
}
template <bool fixed>
void run_use_after_free() {
  int* in = device_array(64);
  int* out = device_array(64);
  if (!fixed) cudaFree(in);
  use_after_free<fixed><<<1, 64>>>(in, out);
}

template <bool fixed>
__global__ void never_written(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG(never_written): uninitialised read
}
template <bool fixed>
void run_never_written() {
  never_written<fixed><<<1, 64>>>(device_array(64, fixed), device_array(64));
}

__constant__ int table[32] = {1, 2, 3};

template <bool fixed>
__global__ void write_constant(int* target, int* out) {
  target[threadIdx.x] = 7;  // BUG(write_constant): illegal address
  out[threadIdx.x] += table[threadIdx.x];
}
template <bool fixed>
void run_write_constant() {
  void* constant = nullptr;
  cudaGetSymbolAddress(&constant, table);
  write_constant<fixed><<<1, 32>>>(fixed ? device_array(32) : static_cast<int*>(constant), device_array(32));
}

std::span<const Case> global_memory_cases() {
  static constexpr Case cases[] = {
      CASE(read_past_end),  CASE(write_past_end), CASE(read_before_start), CASE(misaligned),
      CASE(use_after_free), CASE(never_written),  CASE(write_constant),
  };
  return cases;
}
