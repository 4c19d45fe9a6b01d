// The launch of a grid of clusters, for the kernels beside gemm.cu.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/rung.h"

namespace ladder::rung_09 {

// What cudaLaunchKernelEx() takes. With early_start the grid may begin while the one before it in the stream
// still runs.
struct Launch {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};

  Launch(int clusters, int cluster, int threads, int shared_bytes, cudaStream_t stream,
         bool early_start = false) {
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {unsigned(cluster), 1, 1};
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = unsigned(clusters) * unsigned(cluster);
    config.blockDim = unsigned(threads);
    config.dynamicSmemBytes = std::size_t(shared_bytes);
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = early_start ? 2 : 1;
  }
  Launch(const Launch&) = delete;  // config points to attributes
};

// Launches a kernel with a cluster for each tile of C, p.m x p.n; C is its Config.
template <class C, class Operands>
cudaError_t launch_tiles(void (*kernel)(Operands), const Operands& p, cudaStream_t stream,
                         bool early_start = false) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const Launch launch(ceil_div(p.m, C::tile_m) * ceil_div(p.n, C::tile_n), C::ctas, C::threads,
                      C::shared_bytes, stream, early_start);
  return cudaLaunchKernelEx(&launch.config, kernel, p);
}

}  // namespace ladder::rung_09
