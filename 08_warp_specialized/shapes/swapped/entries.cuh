// The transposed kernels that the rung chooses from. All that is known of one follows from its design.
#pragma once

#include "08_warp_specialized/shapes/choice.h"
#include "08_warp_specialized/shapes/swapped/kernel.cuh"

namespace ladder::rung_08::swapped {

struct Entry {
  Design design;
  Choice choice;
  cudaError_t (*launch)(const Gemm&, cudaStream_t);  // with the parts of k that the estimate takes
};

template <Design d>
constexpr Choice choice() {
  using C = Config<d>;
  return {.name = nullptr,  // of the variant: swapped.cu
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
            return launch<d>(p, parts, 0, nullptr, stream, early_start);
          }};
}

template <Design d>
cudaError_t launch_alone(const Gemm& p, cudaStream_t stream) {
  constexpr Choice only[] = {choice<d>()};
  Chosen chosen;
  const cudaError_t error = choose(p, only, &chosen);
  return error != cudaSuccess ? error : only[0].launch(p, chosen.parts, stream, false);
}

template <Design d>
constexpr Entry entry = {d, choice<d>(), launch_alone<d>};

std::span<const Entry> of_one_consumer();
std::span<const Entry> of_several_consumers();

}  // namespace ladder::rung_08::swapped
