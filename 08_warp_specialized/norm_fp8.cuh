// The norm's y in e4m3 with a scale for every 128 neighbours: what the gemm after it reads as its A.
#pragma once

#include "common/extension.h"
#include "common/norm.cuh"
#include "common/ptx/narrow.cuh"

namespace ladder::rung_08 {

// Stores y of a thread's vector, the `col`th of the row; `there`: before the row's end, and else h is 0. By
// all lanes of a warp, whose vectors are neighbours, the first a multiple of 16: 16 lanes have a block.
__device__ inline void store_rounded(const FusedNorm& p, const QuantisedRows& quantised, int row, int col,
                                     bool there, uint4 h, uint4 gamma, float scale) {
  constexpr int lanes = BlockScales::block / vector;
  if (!there) gamma = make_uint4(0, 0, 0, 0);  // has not been loaded
  const unsigned hs[4] = {h.x, h.y, h.z, h.w}, gammas[4] = {gamma.x, gamma.y, gamma.z, gamma.w};
  float y[vector], largest = 0;
#pragma unroll
  for (int i = 0; i < vector; ++i) {
    y[i] = i % 2 == 0 ? low_half(hs[i / 2]) * scale * low_half(gammas[i / 2])
                      : high_half(hs[i / 2]) * scale * high_half(gammas[i / 2]);
    largest = fmaxf(largest, fabsf(y[i]));
  }
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFFu, largest, distance));
  const float of_block = largest / 448, inverse = 448 / largest;
  if (largest >= 0x1p-100f) {
#pragma unroll
    for (float& value : y) value *= inverse;  // one division for eight
  } else {                                    // whose inverse fp32 may not hold
#pragma unroll
    for (float& value : y) value = of_block == 0 ? 0 : value / of_block;
  }
  if (!there) return;
  const QuantisedLayout layout(Precision::fp8_block, p.rows, p.cols);
  *reinterpret_cast<uint2*>(quantised.elements + row * layout.pitch() + col * vector) =
      make_uint2(ptx::e4m3x2(y[0], y[1]) | ptx::e4m3x2(y[2], y[3]) << 16,
                 ptx::e4m3x2(y[4], y[5]) | ptx::e4m3x2(y[6], y[7]) << 16);
  if (col % lanes == 0)
    *reinterpret_cast<float*>(quantised.scales + layout.scale_at(row, col / lanes)) = of_block;
}

}  // namespace ladder::rung_08
