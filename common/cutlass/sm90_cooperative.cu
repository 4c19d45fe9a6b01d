// Two consumer warpgroups share a tile, each with half of its rows.
#include "common/cutlass/sm90.cuh"

namespace ladder::beside {
namespace {

template <int m, int n>
using Cooperative =
    Sm90<cute::Shape<cute::Int<m>, cute::Int<n>, cute::_64>, cute::Shape<cute::_2, cute::_1, cute::_1>,
         cutlass::gemm::KernelTmaWarpSpecializedCooperative,
         cutlass::epilogue::TmaWarpSpecializedCooperative>;

}  // namespace

Variants<Gemm> sm90_cooperative() {
  return {
      sm90_variant<Cooperative<256, 128>>("sm90_256x128_cooperative", "wgmma, k-tile 64, clusters of 2x1"),
      sm90_variant<Cooperative<128, 256>>("sm90_128x256_cooperative", "wgmma, k-tile 64, clusters of 2x1")};
}

}  // namespace ladder::beside
