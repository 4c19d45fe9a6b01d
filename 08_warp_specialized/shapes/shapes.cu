// Other tiles than gemm.cu's 128x256, other clusters and other orders: what suits which size, and the rung's
// choice. In the order of the data: design.cuh, what there is to choose; tiles.cuh, which
// tiles a CTA computes; mainloop.cuh, global -> shared -> accumulator; epilogue.cuh, accumulator -> C;
// kernel.cuh.
#include <algorithm>
#include <string_view>

#include "08_warp_specialized/shapes/choice.h"
#include "08_warp_specialized/shapes/correction.h"
#include "08_warp_specialized/shapes/kernel.cuh"
#include "common/extension.h"

namespace ladder::rung_08 {

// gemm.cu
Text rows_of_vectors(const Gemm& p);
cudaError_t launch_128x256(const Gemm& p, cudaStream_t stream, bool early_start);

namespace {

using general::Design, general::launch, general::Order;

constexpr Design ping_pong{.rows_each = 2, .block_n = 128, .stages = 6, .ping_pong = true};

template <Design d>
constexpr Cluster in_cluster[] = {{.n = d.cluster_n, .m = d.cluster_m}};

template <Design d>
constexpr Choice choice(const char* name) {
  using C = general::Config<d>;
  return {.name = name,
          .kind = d.cluster_k > 1 ? Kind::straight_split : Kind::straight,
          .rows = C::block_m,
          .cols = C::block_n,
          .clusters = in_cluster<d>,
          .parts = d.cluster_k,
          .launch = [](const Gemm& p, const Launch&, cudaStream_t stream, bool early_start) {
            return launch<d>(p, stream, {}, early_start);
          }};
}

std::vector<Choice> of_all_kinds() {
  std::vector<Choice> all = {choice<general::split_4>("split_4"), choice<general::split_8>("split_8"),
                             choice<general::tile_128x256>("128x256")};
  all.back().launch = [](const Gemm& p, const Launch&, cudaStream_t stream, bool early_start) {
    return launch_128x256(p, stream, early_start);  // of gemm.cu
  };
  all.insert(all.end(), swapped_choices().begin(), swapped_choices().end());
  all.insert(all.end(), narrow_choices().begin(), narrow_choices().end());
  all.insert(all.end(), vector_choices().begin(), vector_choices().end());
  for (Choice& c : all) {
    for (const Card card : all_cards) {
      const auto& of = fitted_to(card).traits;
      const auto traits = std::ranges::find(of, std::string_view(c.name), &TraitsOf::kernel);
      if (traits != of.end()) c.traits[int(card)] = traits->values;
    }
  }
  return all;
}

}  // namespace

std::span<const Choice> all_choices() {
  static const std::vector<Choice> all = of_all_kinds();
  return all;
}
const Choice& as_known(const Choice& choice) {
  const auto known = std::ranges::find(all_choices(), choice.launch, &Choice::launch);
  return known != all_choices().end() ? *known : choice;
}

namespace {

// A choice takes a CPU longer than a launch, so a thread remembers those that it has made.
cudaError_t choose_once(const Gemm& p, int rank, Chosen* chosen) {
  struct Made {
    int device = -1, m, n, k, rank;
    bool workspace;
    Chosen chosen;
  };
  thread_local Made made[256];
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  const bool workspace = p.typed && p.typed->workspace;
  const unsigned hash = (unsigned(p.m) * 31 + unsigned(p.n)) * 31 + unsigned(p.k) + unsigned(rank);
  Made& at = made[(hash ^ hash >> 8 ^ hash >> 16) % std::size(made)];
  const bool known = at.device == device && at.m == p.m && at.n == p.n && at.k == p.k && at.rank == rank &&
                     at.workspace == workspace;
  if (!known) {
    error = choose(p, all_choices(), &at.chosen, rank);
    if (error == cudaSuccess) {
      at = {device, p.m, p.n, p.k, rank, workspace, at.chosen};
    } else {
      at.device = -1;
    }
  }
  *chosen = at.chosen;
  return error;
}

// rank: see choose().
template <bool early_start>
cudaError_t launch_ranked(const Gemm& p, int rank, cudaStream_t stream) {
  Chosen chosen;
  const cudaError_t error = choose_once(p, rank, &chosen);
  return error != cudaSuccess ? error : chosen.choice->launch(p, chosen.how, stream, early_start);
}
template <bool early_start>
cudaError_t launch_fastest(const Gemm& p, cudaStream_t stream) {
  return launch_ranked<early_start>(p, 0, stream);
}

template <bool early_start>
const Extension<Gemm> ranking{
    .workspace_bytes = workspace_of_parts, .prepare = prepare_parts, .ranked = launch_ranked<early_start>};

}  // namespace

// The general kernel with the tile of gemm.cu, for a test that holds both equal.
cudaError_t launch_general_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<general::tile_128x256>(p, stream);
}

Variants<Gemm> shapes() {
  static const Text what("by size one of ", int(all_choices().size()), " kernels: the estimate's choice");
  Variants<Gemm> variants = {
      {.name = "shared_a",
       .what = "pairs of CTAs beside each other, which share A",
       .launch = launch<Design{.cluster_m = 1, .cluster_n = 2, .group = 16}>},
      {.name = "cluster_of_4",
       .what = "two by two CTAs share A and B",
       .launch = launch<Design{.cluster_n = 2}>},
      {.name = "ping_pong", .what = "a 128x128 tile for each consumer, in turn", .launch = launch<ping_pong>},
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
       .dependent_launch = true,
       .extension = &ranking<true>},
      {.name = "warp_specialized",
       .what = what.c_str(),
       .launch = launch_fastest<false>,
       .extension = &ranking<false>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = rows_of_vectors;
  return variants;
}

}  // namespace ladder::rung_08
