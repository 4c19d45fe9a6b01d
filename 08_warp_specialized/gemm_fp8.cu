// The same kernel with operands of 8 bits: twice the products per byte and per cycle, added up by the tensor
// core alone, in 14 bits. gemm_promoted.cu does better.
#include "08_warp_specialized/kernel.cuh"
#include "08_warp_specialized/variants.h"

namespace ladder::rung_08 {
namespace {

// A tile's end weighs twice what it does in bf16: here the other consumer's tile hides it.
constexpr Design ping_pong{.rows_each = 2,
                           .block_n = 128,
                           .stages = 6,
                           .cluster_m = 1,
                           .cluster_n = 2,
                           .group = 16,
                           .ping_pong = true};

// The rung's choice among its tiles, with these operands.
template <Precision precision>
cudaError_t launch_fastest_of(const Gemm& p, cudaStream_t stream) {
  return launch_fastest<of(precision, tile_64x64), of(precision, split_2), of(precision, split_4),
                        of(precision, split_8), of(precision, tile_64x128_share_a),
                        of(precision, tile_64x128_share_b), of(precision, tile_128x128),
                        of(precision, tile_128x192), of(precision, tile_128x256), of(precision, ping_pong)>(
      p, stream);
}

}  // namespace

cudaError_t gemm_fp8_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<of(Precision::fp8, tile_128x256)>(p, stream);
}
cudaError_t gemm_fp8_ping_pong(const Gemm& p, cudaStream_t stream) {
  return launch<of(Precision::fp8, ping_pong)>(p, stream);
}
cudaError_t gemm_fp8_e5m2(const Gemm& p, cudaStream_t stream) {
  return launch_fastest_of<Precision::fp8_e5m2>(p, stream);
}
cudaError_t gemm_fp8_e4m3_e5m2(const Gemm& p, cudaStream_t stream) {
  return launch_fastest_of<Precision::fp8_e4m3_e5m2>(p, stream);
}
cudaError_t gemm_fp8_e5m2_e5m2(const Gemm& p, cudaStream_t stream) {
  return launch_fastest_of<Precision::fp8_e5m2_e5m2>(p, stream);
}
cudaError_t gemm_fp8_tensor(const Gemm& p, cudaStream_t stream) {
  return launch_fastest_of<Precision::fp8_tensor>(p, stream);
}
cudaError_t gemm_fp8(const Gemm& p, cudaStream_t stream) {
  return launch_fastest_of<Precision::fp8>(p, stream);
}

}  // namespace ladder::rung_08
