// The transposed product in some of its heights and clusters; see design.cuh. Those that split k do it within
// a cluster, as often as there are SMs for. `stream_k` gives every cluster the same number of k-tiles,
// wherever a tile begins or ends.
#include "08_warp_specialized/shapes/swapped/kernel.cuh"
#include "common/extension.h"

namespace ladder::rung_08 {

std::string rows_of_vectors(const Gemm& p);

namespace {

using swapped::Design;

// As many parts of k as leave each at least four k-tiles, and as run at once.
template <Design d>
cudaError_t split(const Gemm& p, cudaStream_t stream) {
  using C = swapped::Config<d>;
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const long long tiles = 1ll * ceil_div(p.m, C::block_m) * ceil_div(p.n, C::block_n);
  const int tiles_k = ceil_div(p.k, C::block_k);
  int parts = int(std::min<long long>({C::most_parts, sms * d.per_sm / tiles, tiles_k / 4}));
  while (parts > 1 && !C::takes(parts)) --parts;
  return swapped::launch<d>(p, std::max(parts, 1), 0, nullptr, stream, false);
}

template <Design d>
cudaError_t whole(const Gemm& p, cudaStream_t stream) {
  return swapped::launch<d>(p, 1, 0, nullptr, stream, false);
}

constexpr Design streamed{.rows = 152, .blocks = 2, .cluster_n = 2};
const Extension<Gemm> with_partials{
    .workspace_bytes = [](const Gemm&) { return swapped::workspace_bytes<streamed>(); },
    .prepare =
        [](const Gemm& p, cudaStream_t stream) {
          return cudaMemsetAsync(p.typed->workspace, 0, swapped::flags_bytes, stream);
        }};
cudaError_t stream_k(const Gemm& p, cudaStream_t stream) {
  return swapped::launch<streamed>(p, 1, 2, p.typed->workspace, stream, false);
}

}  // namespace

Variants<Gemm> swapped_operands() {
  Variants<Gemm> variants = {
      {.name = "swapped_64x8",
       .what = "transposed: tiles of 64 columns and 8 rows, three CTAs on an SM, k split in a cluster",
       .launch = split<Design{.rows = 8, .consumers = 1, .per_sm = 3, .split = true}>},
      {.name = "swapped_64x32",
       .what = "transposed: 64 columns and 32 rows, k split in a cluster",
       .launch = split<Design{.rows = 32, .consumers = 1, .split = true}>},
      {.name = "swapped_128x128",
       .what = "transposed: 128 columns and rows, k split in a cluster",
       .launch = split<Design{.rows = 128, .split = true}>},
      {.name = "swapped_64x48",
       .what = "transposed: 64 columns and 48 rows, eight CTAs share A and B",
       .launch = whole<Design{.rows = 48, .consumers = 1, .cluster_n = 4, .cluster_m = 2}>},
      {.name = "swapped_64x208",
       .what = "transposed: 64 columns and 208 rows for each consumer in turn, pairs share B",
       .launch = whole<Design{.rows = 208, .ping_pong = true, .cluster_m = 2}>},
      {.name = "swapped_128x168",
       .what = "transposed: 128 columns and 168 rows for each consumer in turn, pairs share A",
       .launch = whole<Design{.rows = 168, .blocks = 2, .ping_pong = true, .cluster_n = 2}>},
      {.name = "swapped_256x152",
       .what = "transposed: 256 columns and 152 rows, pairs share A",
       .launch = whole<streamed>},
      {.name = "stream_k",
       .what = "the same, and each pair has the same number of k-tiles of the last two waves",
       .launch = stream_k,
       .extension = &with_partials},
  };
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::rung_08
