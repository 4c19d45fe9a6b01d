// Rung 08's general kernel in eleven designs, from 64x64 to rung 08's own 128x256.
#include "common/every_shape/hopper/any_n_k.h"
#include "common/every_shape/hopper/by_shape.cuh"

namespace ladder::every_shape {
namespace {

using general::launch;

template <Design d>
constexpr Candidate with_launch(const char* name) {
  Candidate c = candidate<d>(name);
  c.launch = [](const Gemm& p, const Launch&, cudaStream_t stream, bool early_start) {
    return launch<d>(p, stream, {}, early_start);
  };
  return c;
}

constexpr Candidate candidates[] = {with_launch<split_4>("split_4"), with_launch<split_8>("split_8"),
                                    with_launch<tile_128x256>("128x256")};

}  // namespace

std::span<const Candidate> straight_candidates() {
  return candidates;
}

Variants<Gemm> straight_tiles() {
  Variants<Gemm> variants = {

      {.name = "64x128_alone",
       .what = "64x128 tiles, one consumer, eight stages, no cluster",
       .launch = launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .cluster_m = 1, .group = 32}>},
      {.name = "64x128_down",
       .what = "64x128 tiles in pairs which share B and follow each other down B's columns",
       .launch = launch<Design{.consumers = 1, .block_n = 128, .stages = 8, .group = 32}>},
      {.name = "64x64", .what = "64x64 tiles, one consumer, eight stages", .launch = launch<tile_64x64>},
      {.name = "split_2",
       .what = "64x64 tiles, two CTAs multiply half of k each and add their accumulators",
       .launch = launch<split_2>},
      {.name = "split_4",
       .what = "64x64 tiles, four CTAs multiply a quarter of k each and add their accumulators",
       .launch = launch<split_4>},
      {.name = "split_8",
       .what = "64x64 tiles, eight CTAs multiply an eighth of k each and add their accumulators",
       .launch = launch<split_8>},
      {.name = "64x128_share_a",
       .what = "64x128 tiles in pairs which share A and follow each other down B's columns",
       .launch = launch<tile_64x128_share_a>},
      {.name = "64x128_share_b",
       .what = "64x128 tiles in pairs which share B and follow each other along A's rows",
       .launch = launch<tile_64x128_share_b>},
      {.name = "128x128",
       .what = "128x128 tiles, two consumers, six stages, pairs share A",
       .launch = launch<tile_128x128>},
      {.name = "128x192",
       .what = "128x192 tiles, four stages, pairs share A",
       .launch = launch<tile_128x192>},
      {.name = "128x256",
       .what = "128x256 tiles, four stages, pairs share B: rung 08's",
       .launch = launch<tile_128x256>},
  };
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::every_shape
