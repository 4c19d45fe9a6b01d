// Other tiles than gemm.cu's 128x256, other clusters and other orders: what suits which size, and the
// estimate that chooses. In the order of the data: design.cuh, what there is to choose; tiles.cuh, which
// tiles a CTA computes; mainloop.cuh, global -> shared -> accumulator; epilogue.cuh, accumulator -> C;
// kernel.cuh.
#include "08_warp_specialized/shapes/kernel.cuh"

namespace ladder::rung_08 {

// gemm.cu
std::string rows_of_vectors(const Gemm& p);
cudaError_t launch_128x256(const Gemm& p, cudaStream_t stream, bool early_start);

namespace {

using general::Bf16, general::Design, general::launch, general::Order;

template <bool early_start>
cudaError_t launch_fastest(const Gemm& p, cudaStream_t stream) {
  int sms = 0;
  const cudaError_t error = general::count_sms(&sms);
  if (error != cudaSuccess) return error;
  const general::Choice<Bf16> smaller =
      general::fastest<Bf16, general::tile_64x64, general::split_2, general::split_4, general::split_8,
                       general::tile_64x128_share_a, general::tile_64x128_share_b, general::tile_128x128,
                       general::tile_128x192>(p, sms);
  if (general::estimate<general::tile_128x256, Bf16>(p, sms) < smaller.cycles)
    return launch_128x256(p, stream, early_start);
  return smaller.launch(p, stream, {}, early_start);
}

}  // namespace

// The general kernel with the tile of gemm.cu, for a test that holds both equal.
cudaError_t launch_general_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<general::tile_128x256>(p, stream);
}

Variants<Gemm> shapes() {
  Variants<Gemm> variants = {
      {.name = "shared_a",
       .what = "pairs of CTAs beside each other, which share A",
       .launch = launch<Design{.cluster_m = 1, .cluster_n = 2, .group = 16}>},
      {.name = "cluster_of_4",
       .what = "two by two CTAs share A and B",
       .launch = launch<Design{.cluster_n = 2}>},
      {.name = "ping_pong",
       .what = "a 128x128 tile for each consumer, in turn",
       .launch = launch<Design{.rows_each = 2, .block_n = 128, .stages = 6, .ping_pong = true}>},
      {.name = "hilbert",
       .what = "tiles along Hilbert curves",
       .launch = launch<Design{.order = Order::hilbert}>},
      {.name = "64x128_alone",
       .what = "64x128 tiles, one consumer, eight stages, no cluster",
       .launch = launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .cluster_m = 1, .group = 32}>},
      {.name = "64x128_down",
       .what = "64x128 tiles in pairs which share B and follow each other down B's columns",
       .launch = launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .group = 32}>},
      {.name = "64x64",
       .what = "64x64 tiles, one consumer, eight stages",
       .launch = launch<general::tile_64x64>},
      {.name = "split_2",
       .what = "64x64 tiles, two CTAs multiply half of k each and add their accumulators",
       .launch = launch<general::split_2>},
      {.name = "split_4",
       .what = "64x64 tiles, four CTAs multiply a quarter of k each and add their accumulators",
       .launch = launch<general::split_4>},
      {.name = "split_8",
       .what = "64x64 tiles, eight CTAs multiply an eighth of k each and add their accumulators",
       .launch = launch<general::split_8>},
      {.name = "64x128_share_a",
       .what = "64x128 tiles in pairs which share A and follow each other down B's columns",
       .launch = launch<general::tile_64x128_share_a>},
      {.name = "64x128_share_b",
       .what = "64x128 tiles in pairs which share B and follow each other along A's rows",
       .launch = launch<general::tile_64x128_share_b>},
      {.name = "128x128",
       .what = "128x128 tiles, two consumers, six stages, pairs share A",
       .launch = launch<general::tile_128x128>},
      {.name = "128x192",
       .what = "128x192 tiles, four stages, pairs share A",
       .launch = launch<general::tile_128x192>},
      {.name = "early_start",
       .what = "the rung in a chain: a grid starts while the one before still runs",
       .launch = launch_fastest<true>,
       .dependent_launch = true},
      {.name = "warp_specialized",
       .what = "by size one of nine tile shapes: the estimate's choice",
       .launch = launch_fastest<false>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::rung_08
