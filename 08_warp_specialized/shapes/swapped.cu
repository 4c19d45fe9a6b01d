// The transposed product in the heights that the rung chooses among.
#include "08_warp_specialized/shapes/swapped.cuh"
#include "common/extension.h"

namespace ladder::rung_08 {

std::string rows_of_vectors(const Gemm& p);

namespace {

template <swapped::Design d, int parts, int waves = 0>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  return swapped::launch<d>(p, parts, waves, p.typed ? p.typed->workspace : nullptr, stream, false);
}

constexpr std::size_t flags_bytes = 16384;
const Extension<Gemm> with_workspace{
    .workspace_bytes = [](const Gemm&) -> std::size_t { return flags_bytes + std::size_t(132) * 256 * 512; },
    .prepare = [](const Gemm& p, cudaStream_t stream) { return cudaMemsetAsync(p.typed->workspace, 0, flags_bytes, stream); }};

}  // namespace

Variants<Gemm> swapped_rows() {
  using swapped::Design;
  Variants<Gemm> variants = {
      {.name = "sw8x5", .what = "t", .launch = launch<Design{.rows = 8, .per_sm = 2, .split = true}, 5>},
      {.name = "sw24x8", .what = "t", .launch = launch<Design{.rows = 24, .consumers = 1, .per_sm = 3, .split = true}, 8>},
      {.name = "sw64x3", .what = "t", .launch = launch<Design{.rows = 64, .per_sm = 2, .split = true}, 3>},
      {.name = "sw40", .what = "t", .launch = launch<Design{.rows = 40, .consumers = 1, .split = true}, 2>},
      {.name = "swp168", .what = "t", .launch = launch<Design{.rows = 168, .blocks = 2, .ping_pong = true, .cluster_m = 2}, 1, 1>, .extension = &with_workspace},
      {.name = "swp64", .what = "t", .launch = launch<Design{.rows = 72, .ping_pong = true, .cluster_n = 4, .cluster_m = 2}, 1, 0>, .extension = &with_workspace},
      {.name = "swc152", .what = "t", .launch = launch<Design{.rows = 152, .blocks = 2, .cluster_n = 2}, 1, 2>, .extension = &with_workspace},
      {.name = "sw256", .what = "t", .launch = launch<Design{.rows = 256, .cluster_n = 2}, 1, 2>, .extension = &with_workspace},
  };
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::rung_08
