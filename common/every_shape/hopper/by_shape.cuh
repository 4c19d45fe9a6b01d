// Rung 08's general kernel in other tile shapes, and the choice among them, for whichever operands and
// epilogue a policy brings.
#pragma once

#include "08_warp_specialized/general/kernel.cuh"
#include "common/every_shape/estimate/estimate.h"

namespace ladder::every_shape {

namespace general = rung_08::general;
using general::Design;

// Pairs share one operand, and follow each other along the other one: what neighbours load through L2 at the
// same time is partly read only once.
constexpr Design tile_128x256 = general::tile_128x256;
constexpr Design tile_128x192{.block_n = 192, .cluster_m = 1, .cluster_n = 2, .group = 32};
constexpr Design tile_128x128{.block_n = 128, .stages = 6, .cluster_m = 1, .cluster_n = 2, .group = 32};
constexpr Design tile_64x128_share_a{
    .consumers = 1, .block_n = 128, .stages = 8, .cluster_m = 1, .cluster_n = 2, .group = 32};
constexpr Design tile_64x128_share_b{
    .consumers = 1, .block_n = 128, .stages = 8, .order = general::Order::rows};
constexpr Design tile_64x64{.consumers = 1, .block_n = 64, .stages = 8, .cluster_m = 1};
constexpr Design split(int parts) {
  Design design = tile_64x64;
  design.cluster_k = parts;
  design.persistent = false;
  return design;
}
constexpr Design split_2 = split(2), split_4 = split(4), split_8 = split(8);

template <Design d>
constexpr Cluster cluster_of[] = {{.n = d.cluster_n, .m = d.cluster_m}};

// A design as the estimate sees it. Without a name only the formula counts: the network has not seen it.
template <Design d, class P = general::Bf16>
constexpr Candidate candidate(const char* name = nullptr) {
  using C = general::Config<d, P>;
  return {.name = name,
          .kind = d.cluster_k > 1 ? Kind::straight_split : Kind::straight,
          .rows = C::block_m,
          .cols = C::block_n,
          .clusters = cluster_of<d>,
          .parts = d.cluster_k,
          .operand_bytes = C::operand};
}

// The design with the lowest estimate: its number in the list, and the estimate.
template <class P, Design... designs>
cudaError_t choose_design(const Gemm& p, int* which, double* cycles = nullptr) {
  static constexpr Candidate candidates[] = {candidate<designs, P>()...};
  Chosen chosen;
  const cudaError_t error = choose(p, candidates, &chosen);
  if (error != cudaSuccess) return error;
  *which = int(chosen.candidate - candidates);
  if (cycles) *cycles = chosen.cycles;
  return cudaSuccess;
}

// And its launch.
template <class P, Design... designs>
cudaError_t launch_by_shape(const Gemm& p, cudaStream_t stream, const typename P::Parameters& extra = {},
                            bool early_start = false) {
  static constexpr cudaError_t (*launches[])(const Gemm&, cudaStream_t, const typename P::Parameters&,
                                             bool) = {general::launch<designs, P>...};
  int which = 0;
  const cudaError_t error = choose_design<P, designs...>(p, &which);
  return error != cudaSuccess ? error : launches[which](p, stream, extra, early_start);
}

// Its name, for Extension::kernel.
template <Design d, class P>
Text name_of() {
  using C = general::Config<d, P>;
  Text name("", C::block_m, "x", C::block_n);
  if (C::cluster_k > 1) name.append(", k in ", C::cluster_k, " parts");
  return name;
}
template <class P, Design... designs>
Text kernel_by_shape(const Gemm& p) {
  int which = 0;
  if (choose_design<P, designs...>(p, &which) != cudaSuccess) return {};
  const Text names[] = {name_of<designs, P>()...};
  return names[which];
}

}  // namespace ladder::every_shape
