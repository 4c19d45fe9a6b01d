// `broken NAME` runs a mistake, `broken NAME fixed` its twin, `broken` lists the names. The last line of
// output is the name of the CUDA error.
#include <cstring>

#include "common/simulator/tests/broken/broken.h"

int main(int argc, char** argv) {
  const bool fixed = argc > 2 && std::strcmp(argv[2], "fixed") == 0;
  for (const std::span<const Case> cases : {global_memory_cases(), shared_memory_cases(), race_cases(),
                                            copy_cases(), barrier_cases(), raised_cases()}) {
    for (const Case& one : cases) {
      if (argc < 2) {
        std::printf("%s\n", one.name);
      } else if (std::strcmp(argv[1], one.name) == 0) {
        (fixed ? one.fixed : one.broken)();
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        std::printf("%s\n", cudaGetErrorName(error));
        return 0;
      }
    }
  }
  return argc < 2 ? 0 : 2;
}
