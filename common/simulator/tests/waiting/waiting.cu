// `waiting NAME` runs a kernel and prints the CUDA error and whether every thread has seen what it should,
// `waiting NAME stuck` its twin; `waiting` lists the names.
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/simulator/tests/waiting/waiting.h"

int main(int argc, char** argv) {
  const bool stuck = argc > 2 && std::strcmp(argv[2], "stuck") == 0;
  for (const std::span<const Case> cases :
       {atomic_cases(), flag_cases(), barrier_cases(), pipeline_cases(), semaphore_cases()}) {
    for (const Case& one : cases) {
      if (argc < 2) {
        std::printf("%s\n", one.name);
      } else if (std::strcmp(argv[1], one.name) == 0) {
        std::vector<int> right(one.blocks * one.threads);
        int* device_right = nullptr;
        Shared* shared = nullptr;
        cudaMalloc(&device_right, right.size() * sizeof(int));
        cudaMemset(device_right, 0, right.size() * sizeof(int));
        cudaMalloc(&shared, sizeof(Shared));
        cudaMemset(shared, 0, sizeof(Shared));
        (stuck ? one.stuck : one.kernel)<<<one.blocks, one.threads>>>(device_right, shared);
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess) {
          error = cudaMemcpy(right.data(), device_right, right.size() * sizeof(int), cudaMemcpyDeviceToHost);
        }
        bool all = true;
        for (const int one_right : right) all = all && one_right == 1;
        std::printf("%s, %s\n", cudaGetErrorName(error), all ? "right" : "WRONG");
        return 0;
      }
    }
  }
  return argc < 2 ? 0 : 2;
}
