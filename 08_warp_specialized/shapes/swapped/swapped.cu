// The transposed product in the heights and clusters that the rung chooses from; see design.cuh. Those that
// split k do it within a cluster. `stream_k` gives every cluster the same number of k-tiles, wherever a tile
// begins or ends.
#include "08_warp_specialized/shapes/choice.h"
#include "08_warp_specialized/shapes/swapped/kernel.cuh"
#include "common/extension.h"

namespace ladder::rung_08 {

std::string rows_of_vectors(const Gemm& p);

namespace {

using swapped::Design;

template <Design d>
constexpr Choice choice(const char* name) {
  using C = swapped::Config<d>;
  return {.name = name,
          .kind = d.split       ? Kind::split
                  : d.ping_pong ? Kind::in_turn
                                : Kind::whole,
          .rows = C::block_m,
          .cols = C::block_n,
          .cluster_m = d.cluster_m,
          .cluster_n = d.cluster_n,
          .per_sm = d.per_sm,
          .ping_pong = d.ping_pong,
          .parts = d.split ? C::most_parts : 1,
          .launch = [](const Gemm& p, int parts, cudaStream_t stream, bool early_start) {
            return swapped::launch<d>(p, parts, 0, nullptr, stream, early_start);
          }};
}

// The design alone, with the parts of k that the estimate takes.
template <Design d>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  constexpr Choice only[] = {choice<d>("")};
  Chosen chosen;
  const cudaError_t error = choose(p, only, &chosen);
  return error != cudaSuccess ? error : only[0].launch(p, chosen.parts, stream, false);
}

struct Entry {
  Choice choice;
  const char* what;
  cudaError_t (*launch)(const Gemm&, cudaStream_t);
};
template <Design d>
constexpr Entry entry(const char* name, const char* what) {
  return {choice<d>(name), what, launch<d>};
}

// The columns come first in a name.
constexpr Entry entries[] = {
    entry<Design{.rows = 8, .consumers = 1, .split = true}>(
        "swapped_64x8", "transposed: 64 columns and 8 rows, k split in a cluster"),
    entry<Design{.rows = 8, .consumers = 1}>(
        "swapped_64x8_streaming", "transposed: 64 columns and 8 rows, CTAs that go on from tile to tile"),
    entry<Design{.rows = 8, .per_sm = 2, .split = true}>(
        "swapped_128x8", "transposed: 128 columns and 8 rows, two CTAs on an SM, k split in a cluster"),
    entry<Design{.rows = 16, .consumers = 1}>(
        "swapped_64x16", "transposed: 64 columns and 16 rows, CTAs that go on from tile to tile"),
    entry<Design{.rows = 40, .consumers = 1, .split = true}>(
        "swapped_64x40", "transposed: 64 columns and 40 rows, k split in a cluster"),
    entry<Design{.rows = 128, .consumers = 1, .split = true}>(
        "swapped_64x128", "transposed: 64 columns and 128 rows, k split in a cluster"),
    entry<Design{.rows = 40, .consumers = 1, .cluster_m = 2}>(
        "swapped_64x40_share_b", "transposed: 64 columns and 40 rows, pairs share B"),
    entry<Design{.rows = 64, .consumers = 1, .cluster_m = 2}>(
        "swapped_64x64_share_b", "transposed: 64 columns and 64 rows, pairs share B"),
    entry<Design{.rows = 88, .consumers = 1, .cluster_n = 2, .cluster_m = 2}>(
        "swapped_64x88_share_both", "transposed: 64 columns and 88 rows, two by two CTAs share A and B"),
    entry<Design{.rows = 112, .consumers = 1, .cluster_n = 4}>(
        "swapped_64x112_share_a", "transposed: 64 columns and 112 rows, four CTAs share A"),
    entry<Design{.rows = 112, .ping_pong = true, .cluster_m = 2}>(
        "swapped_64x112_in_turn",
        "transposed: 64 columns and 112 rows for each consumer in turn, pairs share B"),
    entry<Design{.rows = 32, .cluster_n = 2}>("swapped_128x32",
                                              "transposed: 128 columns and 32 rows, pairs share A"),
    entry<Design{.rows = 64, .cluster_n = 4}>("swapped_128x64",
                                              "transposed: 128 columns and 64 rows, four CTAs share A"),
    entry<Design{.rows = 80, .cluster_m = 2}>("swapped_128x80",
                                              "transposed: 128 columns and 80 rows, pairs share B"),
    entry<Design{.rows = 96, .cluster_n = 4}>("swapped_128x96",
                                              "transposed: 128 columns and 96 rows, four CTAs share A"),
    entry<Design{.rows = 112, .cluster_n = 2, .cluster_m = 4}>(
        "swapped_128x112", "transposed: 128 columns and 112 rows, eight CTAs share A and B"),
    entry<Design{.rows = 120, .blocks = 2, .ping_pong = true, .cluster_n = 2}>(
        "swapped_128x120", "transposed: 128 columns and 120 rows for each consumer in turn, pairs share A"),
    entry<Design{.rows = 136, .blocks = 2, .ping_pong = true, .cluster_n = 2}>(
        "swapped_128x136", "transposed: 128 columns and 136 rows for each consumer in turn, pairs share A"),
    entry<Design{.rows = 144, .blocks = 2, .ping_pong = true, .cluster_m = 2}>(
        "swapped_128x144", "transposed: 128 columns and 144 rows for each consumer in turn, pairs share B"),
    entry<Design{.rows = 152, .blocks = 2, .ping_pong = true, .cluster_n = 2}>(
        "swapped_128x152", "transposed: 128 columns and 152 rows for each consumer in turn, pairs share A"),
    entry<Design{.rows = 160, .blocks = 2, .ping_pong = true, .cluster_n = 2}>(
        "swapped_128x160", "transposed: 128 columns and 160 rows for each consumer in turn, pairs share A"),
    entry<Design{.rows = 112, .blocks = 2, .cluster_n = 2}>(
        "swapped_256x112", "transposed: 256 columns and 112 rows, pairs share A")};

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

std::span<const Choice> swapped_choices() {
  static const std::vector<Choice> choices = [] {
    std::vector<Choice> all;
    for (const Entry& e : entries) all.push_back(e.choice);
    return all;
  }();
  return choices;
}

Variants<Gemm> swapped_operands() {
  Variants<Gemm> variants;
  for (const Entry& e : entries)
    variants.push_back({.name = e.choice.name, .what = e.what, .launch = e.launch});
  variants.push_back(
      {.name = "stream_k",
       .what = "transposed: 256 columns and 152 rows, and each pair has the same number of k-tiles of "
               "the last two waves",
       .launch = stream_k,
       .extension = &with_partials});
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::rung_08
