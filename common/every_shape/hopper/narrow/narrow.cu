// Straight tiles of any width as variants, for many rows and few columns.
#include <deque>
#include <vector>

#include "common/every_shape/estimate/estimate.h"
#include "common/every_shape/hopper/any_n_k.h"
#include "common/every_shape/hopper/narrow/kernel.cuh"
#include "common/extension.h"

namespace ladder::every_shape {

namespace {

using narrow::Config, narrow::Design;

struct Entry {
  Design design;
  Candidate candidate;
  cudaError_t (*launch)(const Gemm&, cudaStream_t);
};

template <Design d>
constexpr Candidate candidate() {
  return {.name = nullptr,  // of the variant
          .kind = Kind::narrow,
          .rows = Config<d>::block_m,
          .cols = Config<d>::block_n,
          .clusters = transposed::all_clusters,
          .per_sm = d.per_sm,
          .launch = [](const Gemm& p, const Launch& how, cudaStream_t stream, bool early_start) {
            return narrow::launch<d>(p, how.cluster, stream, early_start);
          }};
}

template <Design d>
cudaError_t launch_alone(const Gemm& p, cudaStream_t stream) {
  return launch_only(candidate<d>(), p, stream);
}

template <Design d>
constexpr Entry entry = {d, candidate<d>(), launch_alone<d>};

// The ones that gain most of those that were timed at drawn shapes.
constexpr Entry entries[] = {entry<Design{.width = 32, .per_sm = 2}>,
                             entry<Design{.width = 64}>,
                             entry<Design{.width = 96}>,
                             entry<Design{.width = 128}>,
                             entry<Design{.width = 160}>,
                             entry<Design{.width = 192}>,
                             entry<Design{.width = 256}>,
                             entry<Design{.width = 64, .consumers = 2}>,
                             entry<Design{.width = 96, .consumers = 2}>,
                             entry<Design{.width = 128, .consumers = 2}>,
                             entry<Design{.width = 160, .consumers = 2}>,
                             entry<Design{.width = 224, .consumers = 2}>,
                             entry<Design{.width = 320, .consumers = 2}>};

// narrow_<columns>x<rows> of a tile; x2, two CTAs on an SM.
Text name_of(const Entry& e) {
  const Design& d = e.design;
  Text name("narrow_", e.candidate.cols, "x", e.candidate.rows);
  if (d.per_sm > 1) name.append("_x", d.per_sm);
  return name;
}

Text what_of(const Entry& e) {
  const Design& d = e.design;
  Text what("", e.candidate.cols, " columns and ", e.candidate.rows, " rows");
  if (d.per_sm > 1) what.append(", ", d.per_sm, " CTAs on an SM");
  return what;
}

struct Table {
  std::vector<Candidate> candidates;
  Variants<Gemm> variants;
};
const Table& table() {
  static std::deque<Text> texts;  // variants point into it
  static const Table all = [] {
    Table t;
    for (const Entry& e : entries) {
      t.candidates.push_back(e.candidate);
      t.candidates.back().name = texts.emplace_back(name_of(e)).c_str();
      t.variants.push_back({.name = t.candidates.back().name,
                            .what = texts.emplace_back(what_of(e)).c_str(),
                            .launch = e.launch});
      t.variants.back().unsupported = rows_of_vectors;
    }
    return t;
  }();
  return all;
}

}  // namespace

std::span<const Candidate> narrow_candidates() {
  return table().candidates;
}
Variants<Gemm> narrow_tiles() {
  return table().variants;
}

}  // namespace ladder::every_shape
