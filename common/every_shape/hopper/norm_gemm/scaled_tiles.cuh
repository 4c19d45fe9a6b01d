// The tiles among which a product that scales its rows is chosen.
#pragma once

#include "08_warp_specialized/norm_gemm/row_scales.cuh"
#include "common/every_shape/hopper/by_shape.cuh"

namespace ladder::every_shape {

using rung_08::NormOperands, rung_08::ScaleRows;

template <Design...>
struct Designs {};
using ScaledTiles = Designs<tile_64x64, split_2, split_4, split_8, tile_64x128_share_a, tile_64x128_share_b,
                            tile_128x128, tile_128x192, tile_128x256>;

template <Design... designs>
cudaError_t choose_among(Designs<designs...>, const Gemm& p, int* which, double* cycles) {
  return choose_design<ScaleRows, designs...>(p, which, cycles);
}
inline cudaError_t choose_scaled(const Gemm& p, int* which, double* cycles = nullptr) {
  return choose_among(ScaledTiles(), p, which, cycles);
}

template <Design... designs>
cudaError_t launch_among(Designs<designs...>, const Gemm& p, cudaStream_t stream, const NormOperands& norm,
                         bool early_start) {
  return launch_by_shape<ScaleRows, designs...>(p, stream, norm, early_start);
}

}  // namespace ladder::every_shape
