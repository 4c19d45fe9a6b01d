// Linked with CUDA's static runtime, which the simulator cannot replace, but can report (CMakeLists.txt).
#include <cuda_runtime.h>

#include <cstdio>

__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
