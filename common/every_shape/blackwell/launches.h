// The launches of this folder's two kernels, for shapes.cu, which chooses among them.
#pragma once

#include <cuda_runtime_api.h>

#include "09_tcgen05/launch.h"
#include "common/rung.h"

namespace ladder::every_shape {

// pairs.cu: rung 09's kernel in the CTA pair's tiles of 256 rows and 256 or 128 columns. Serpentine: every
// second group of tile rows goes back from the last column.
cudaError_t launch_pairs(const Gemm& p, int tile_n, bool serpentine, cudaStream_t stream, bool early_start);

// transposed.cu: the transposed product in tiles of 32, 64 or 128 rows and 128 columns. `parts` of k: 1, 2, 4
// or 8, and no more than k-tiles of 64.
constexpr int transposed_most_parts = 8;
cudaError_t launch_transposed(const Gemm& p, int rows, int parts, cudaStream_t stream, bool early_start);

}  // namespace ladder::every_shape
