// The launch of a grid of clusters, for the kernels beside gemm.cu.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ladder::rung_09 {

// Of cudaLaunchKernelEx(). With early_start the grid may begin while the one before it in the stream still
// runs.
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

}  // namespace ladder::rung_09
