// The launches of this folder's two kernels, for shapes.cu, which chooses among them.
#pragma once

#include <cuda_runtime_api.h>

#include "common/rung.h"

namespace ladder::rung_09 {

// pairs.cu: the rung's kernel in the CTA pair's tiles of 256 rows and 256 or 128 columns. Serpentine: every
// second group of tile rows goes back from the last column.
cudaError_t launch_pairs(const Gemm& p, int tile_n, bool serpentine, cudaStream_t stream, bool early_start);

// swapped.cu: the transposed product in tiles of 32, 64 or 128 rows and 128 columns. `parts` of k: 1, 2, 4 or
// 8, and no more than k-tiles of 64.
constexpr int swapped_most_parts = 8;
cudaError_t launch_swapped(const Gemm& p, int rows, int parts, cudaStream_t stream, bool early_start);

// Of cudaLaunchKernelEx(): a grid of clusters, which with early_start may begin while the grid before it in
// the stream still runs.
struct Launch {
  cudaLaunchAttribute attributes[2]{};
  cudaLaunchConfig_t config{};

  Launch(int clusters, int cluster, int threads, int shared_bytes, cudaStream_t stream, bool early_start) {
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
