// The other file of linked_files.cu.
#include "linked_files.h"

static __device__ int offset = 100;

__device__ int of_other_file(int i) {
  return table[i] * 10 + offset;
}

__global__ void use_here(int* out) {
  out[threadIdx.x] = of_other_file(static_cast<int>(threadIdx.x));
}

cudaError_t launch_of_other_file(int* out) {
  use_here<<<1, 4>>>(out);
  const cudaError_t error = cudaGetLastError();
  return error != cudaSuccess ? error : cudaDeviceSynchronize();
}
