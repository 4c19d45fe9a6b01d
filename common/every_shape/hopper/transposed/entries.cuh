// The transposed kernels that every_shape chooses from. All that is known of one follows from its design.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>

#include "common/every_shape/estimate/estimate.h"
#include "common/every_shape/hopper/any_n_k.h"
#include "common/every_shape/hopper/transposed/kernel.cuh"
#include "common/extension.h"

namespace ladder::every_shape::transposed {

struct Entry {
  Design design;
  Candidate candidate;
  Text (*unsupported)(const Gemm&);
  cudaError_t (*launch)(const Gemm&, cudaStream_t);  // with the parts of k that the estimate takes
  std::size_t (*workspace_bytes)(const Gemm&);       // null where it has none
};

constexpr int most_parts_in_memory = 32;

// The swizzle's pattern has 8 rows, so no CTA loads less of A.
template <Design d>
constexpr std::span<const Cluster> clusters() {
  const std::span<const Cluster> all = all_clusters;
  return all.first(d.split || d.rows < 16 ? 1 : d.rows < 32 ? 6 : 8);
}

template <Design d>
constexpr Candidate candidate() {
  using C = Config<d>;
  return {.name = nullptr,  // of the variant: transposed.cu
          .kind = d.split       ? Kind::split
                  : d.in_memory ? Kind::in_memory
                  : d.ping_pong ? Kind::ping_pong
                                : Kind::whole,
          .rows = C::block_m,
          .cols = C::block_n,
          .clusters = clusters<d>(),
          .per_sm = d.per_sm,
          .parts = d.split       ? C::most_parts
                   : d.in_memory ? most_parts_in_memory
                                 : 1,
          .launch = [](const Gemm& p, const Launch& how, cudaStream_t stream, bool early_start) {
            return launch<d>(p, how, p.typed ? p.typed->workspace : nullptr, stream, early_start);
          }};
}

template <Design d>
cudaError_t launch_alone(const Gemm& p, cudaStream_t stream) {
  return launch_only(candidate<d>(), p, stream);
}

template <Design d>
std::size_t workspace_for(const Gemm& p) {
  using C = Config<d>;
  long long most = 0;
  for (const Cluster& c : clusters<d>()) {
    const long long tiles =
        1ll * ceil_div(p.m, C::block_m * c.m) * ceil_div(p.n, C::block_n * c.n) * c.size();
    most = std::max(most, std::min<long long>(most_ctas, tiles * most_parts_in_memory));
  }
  return workspace_bytes<d>(int(most));
}

// Where k is split in a cluster, a row of tiles is a row of the grid.
template <Design d>
Text unsupported(const Gemm& p) {
  constexpr int most = 65535;
  if (d.split && ceil_div(p.m, d.rows) > most) return {"m must be at most ", most * d.rows};
  return rows_of_vectors(p);
}

template <Design d>
constexpr Entry entry = {d, candidate<d>(), unsupported<d>, launch_alone<d>,
                         d.in_memory ? workspace_for<d> : nullptr};

// Of designs that differ in their rows.
template <Design d, int... rows>
constexpr std::array<Entry, sizeof...(rows)> entries = {entry<[](Design like) {
  like.rows = rows;
  return like;
}(d)>...};
template <class... Lists>
constexpr auto together(const Lists&... lists) {
  std::array<Entry, (std::tuple_size_v<Lists> + ...)> all{};
  auto to = all.begin();
  ((to = std::ranges::copy(lists, to).out), ...);
  return all;
}

std::span<const Entry> of_one_consumer();
std::span<const Entry> of_several_consumers();
std::span<const Entry> of_ping_pong();
std::span<const Entry> of_parts_in_memory();

}  // namespace ladder::every_shape::transposed
