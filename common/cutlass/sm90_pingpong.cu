// Two consumer warpgroups have a tile each, and one multiplies while the other stores. A warpgroup's
// registers hold all of its tile's accumulators, so tiles are half as large.
#include "common/cutlass/sm90.cuh"

namespace ladder::beside {
namespace {

template <int m, int n>
using PingPong =
    Sm90<cute::Shape<cute::Int<m>, cute::Int<n>, cute::_64>, cute::Shape<cute::_2, cute::_1, cute::_1>,
         cutlass::gemm::KernelTmaWarpSpecializedPingpong, cutlass::epilogue::TmaWarpSpecialized>;

}  // namespace

Variants<Gemm> sm90_pingpong() {
  return {sm90_variant<PingPong<64, 256>>("sm90_64x256_pingpong", "wgmma, k-tile 64, clusters of 2x1"),
          sm90_variant<PingPong<128, 128>>("sm90_128x128_pingpong", "wgmma, k-tile 64, clusters of 2x1")};
}

}  // namespace ladder::beside
