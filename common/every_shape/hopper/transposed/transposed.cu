// The transposed kernels as variants. Those that split k do it within a cluster. `stream_k` gives every
// cluster the same number of k-tiles, wherever a tile begins or ends.
#include <array>
#include <deque>

#include "common/every_shape/hopper/transposed/entries.cuh"
#include "common/extension.h"

namespace ladder::every_shape {

namespace {

using transposed::Design;
using transposed::Entry;

// transposed_<columns>x<rows> of a tile, and what tells kernels of the same tile apart: ping_pong;
// split, k within a cluster; mem, the parts of k are reduced in memory; x2, two CTAs on an SM.
Text name_of(const Entry& e) {
  const Design& d = e.design;
  Text name("transposed_", e.candidate.cols, "x", e.candidate.rows);
  if (d.ping_pong) name.append("_ping_pong");
  if (d.split) name.append("_split");
  if (d.in_memory) name.append("_mem");
  if (d.per_sm > 1) name.append("_x", d.per_sm);
  return name;
}

Text what_of(const Entry& e) {
  const Design& d = e.design;
  Text what("transposed: ", e.candidate.cols, " columns and ", e.candidate.rows, " rows");
  if (d.ping_pong) what.append(" for each consumer in turn");
  if (d.by_rows) what.append(", half of the rows for each consumer");
  if (d.split) what.append(", k split in a cluster");
  if (d.in_memory) what.append(", k split among CTAs that accumulate their parts in memory");
  if (d.per_sm > 1) what.append(", ", d.per_sm, " CTAs on an SM");
  return what;
}

std::array<std::span<const Entry>, 4> all_entries() {
  return {transposed::of_one_consumer(), transposed::of_several_consumers(), transposed::of_ping_pong(),
          transposed::of_parts_in_memory()};
}

constexpr Design streamed{.rows = 152, .blocks = 2, .streamed = true};
const Extension<Gemm> with_partials{
    .workspace_bytes = [](const Gemm&) { return transposed::workspace_bytes<streamed>(); },
    .prepare = prepare_parts};
cudaError_t stream_k(const Gemm& p, cudaStream_t stream) {
  return transposed::launch<streamed>(p, {.cluster = {.n = 2}}, p.typed->workspace, stream, false);
}

struct Table {
  std::deque<Extension<Gemm>> extensions;
  std::vector<Candidate> candidates;
  Variants<Gemm> variants;
};
const Table& table() {
  static std::deque<Text> texts;  // variants point into it
  static const Table all = [] {
    Table t;
    for (const auto entries : all_entries()) {
      for (const Entry& e : entries) {
        t.candidates.push_back(e.candidate);
        t.candidates.back().name = texts.emplace_back(name_of(e)).c_str();
        t.variants.push_back({.name = t.candidates.back().name,
                              .what = texts.emplace_back(what_of(e)).c_str(),
                              .unsupported = e.unsupported,
                              .launch = e.launch});
        if (!e.workspace_bytes) continue;
        t.extensions.push_back({.workspace_bytes = e.workspace_bytes, .prepare = prepare_parts});
        t.variants.back().extension = &t.extensions.back();
      }
    }
    t.variants.push_back(
        {.name = "stream_k",
         .what = "transposed: 256 columns and 152 rows, and each pair has the same number of k-tiles of "
                 "the last two waves",
         .unsupported = rows_of_vectors,
         .launch = stream_k,
         .extension = &with_partials});
    return t;
  }();
  return all;
}

}  // namespace

std::size_t workspace_of_parts(const Gemm& p) {
  if (p.k <= 448) return 0;  // too little for two parts, see layout()
  std::size_t most = 0;
  for (const Entry& e : transposed::of_parts_in_memory()) most = std::max(most, e.workspace_bytes(p));
  return most;
}
cudaError_t prepare_parts(const Gemm& p, cudaStream_t stream) {
  return cudaMemsetAsync(p.typed->workspace, 0, transposed::flags_bytes, stream);
}

std::span<const Candidate> transposed_candidates() {
  return table().candidates;
}
Variants<Gemm> transposed_tiles() {
  return table().variants;
}

}  // namespace ladder::every_shape
