// The epilogue of gemm.cu, for a kernel in another file.
#pragma once

#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/tma.cuh"
#include "common/rung.h"

namespace ladder::rung_07 {
namespace {

using ptx::SharedAddress;

constexpr int warp_size = 32, warpgroup_size = 128, mma_m = 64, element = sizeof(__nv_bfloat16);

// A warpgroup's 64 rows of accumulators, in bf16, through shared memory to C. All MMAs that read `buffer`
// are complete, in every warpgroup of the CTA.
template <int columns>
__device__ void store_accumulator(const float (&accumulator)[columns / 8][4], SharedAddress buffer,
                                  const CUtensorMap& c, int row, int col) {
  constexpr int box_row = 64 * element, box = mma_m * box_row;  // bytes
  const int lane = threadIdx.x % warp_size, row_of_lane = threadIdx.x / warp_size % 4 * 16 + lane % 16;
#pragma unroll
  for (int j = 0; j < columns / 8; j += 2) {
    unsigned packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* const from = &accumulator[j + i / 2][i % 2 * 2];
      const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
      packed[i] = reinterpret_cast<const unsigned&>(pair);
    }
    const int chunk = (j % 8 + lane / 16) ^ row_of_lane % 8;  // of 16 bytes
    ptx::stmatrix_x4(buffer + j / 8 * box + row_of_lane * box_row + chunk * 16, packed);
  }
  // TMA reads through the async proxy: every thread fences what it wrote, then one issues the copies.
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x % warpgroup_size == 0) {
    for (int i = 0; i < columns / 64; ++i) ptx::tma_store(c, col + i * 64, row, buffer + i * box);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group_read<0>();  // the CTA's shared memory must outlive the copies' reads
  }
}

}  // namespace
}  // namespace ladder::rung_07
