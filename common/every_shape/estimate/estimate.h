// Which kernel for which problem: what is known of each, and the estimate that chooses.
#pragma once

#include <array>
#include <iterator>
#include <span>

#include "common/every_shape/estimate/cluster.h"
#include "common/rung.h"

namespace ladder::every_shape {

// Kernels that differ in more than the size of their tiles. Each kind has its own costs.
enum class Kind {
  split,           // transposed; a CTA has one tile, or a part of one
  whole,           // transposed, persistent: all consumers multiply the same tile
  ping_pong,       // the same, in ping-pong
  straight,        // rung 08's general kernel, persistent
  straight_split,  // the same; a cluster has one tile
  narrow,          // straight tiles of any width, persistent
  in_memory,       // transposed; a cluster has a part of a tile, and the parts are reduced in global memory
  vector,          // of matrix_vector.cu: CUDA cores; a CTA has columns, a cluster all of k
};
constexpr int kinds = 8;

// How a kernel is launched.
struct Launch {
  Cluster cluster;
  int parts = 1;  // of k
};

// What the formula is made of, see fitted.h.
struct Costs {
  struct OfKind {
    double start;  // cycles of a launch
    double wave;   // and of each wave of tiles,
    double store;  // and of each element of a tile
    double pass;   // cycles that a k-tile takes at least: a pass through the loop
  } of_kind[kinds];
  double intake;                                          // bytes that an SM loads per cycle,
  double l2;                                              // and that L2 delivers to all of them
  double tensor;                                          // factor on an MMA's cycles at its peak rate
  double exchange, exchange_element;                      // of the parts of k, in a cluster
  double exchange_in_memory, exchange_element_in_memory;  // and in global memory
};

// The cards that the estimate is fitted to, each with a file of its own: h200.txt, h100.txt.
enum class Card { h200, h100 };
inline constexpr Card all_cards[] = {Card::h200, Card::h100};
// The one that a device is, or resembles most: by its L2, of 60 or 50 MB.
cudaError_t card_of(int device, Card* card);

// What else distinguishes a kernel, as the network has learned it.
using Traits = std::array<float, 3>;

// A kernel that may be chosen.
struct Candidate {
  const char* name;  // of its variant; null where the network has not seen it: then the formula alone counts
  Kind kind;
  int rows, cols;                     // of a CTA's tile, or of a consumer's in ping-pong
  std::span<const Cluster> clusters;  // that it may be launched in
  int per_sm = 1;                     // CTAs
  int parts = 1;                      // of k; split, in_memory and vector take up to this many
  int pair = 1;                       // CTAs that multiply a tile, each with an equal part of both operands
  int operand_bytes = 2;              // of an element of A and B: a k-tile has 128 bytes of a row
  std::array<Traits, std::size(all_cards)> traits{};
  cudaError_t (*launch)(const Gemm&, const Launch&, cudaStream_t, bool early_start) = nullptr;
};

// How a problem is laid out on the SMs, in one launch of a kernel.
struct Layout {
  bool possible = false;  // the kernel takes the problem, and no CTA of a cluster is without work
  int clusters_m, clusters_n;
  double clusters, at_once, waves;
  double ctas;     // at the same time
  double tiles_k;  // of a part
};
Layout layout(const Gemm& p, const Candidate& candidate, const Launch& how, int sms);

// The formula: cycles on the SMs, without what all kernels have in common, and where they go.
struct Formula {
  double cycles = 0;         // infinite where the layout is not possible
  double busy[4] = {};       // shares of a k-tile's cycles: tensor cores, an SM's loads, L2, and the loop
  double loop = 0, end = 0;  // shares of all cycles: k-tiles; the tiles' beginnings and ends
};
Formula formula(const Candidate& candidate, const Launch& how, const Layout& layout, int sms,
                const Costs& costs);

// The formula, times the network's factor. See docs/deeper/every_shape_estimate.md.
double estimate_cycles(const Gemm& p, const Candidate& candidate, const Launch& how, int sms, Card card);

// visit(Launch) for each way to launch it. Parts in memory need a workspace.
template <class Visit>
void each_way(const Candidate& c, bool workspace, const Visit& visit) {
  const int fewest = c.kind == Kind::straight_split ? c.parts : 1;
  const int most = c.kind == Kind::in_memory && !workspace ? 1 : c.parts;
  for (const Cluster& cluster : c.clusters)
    for (int parts = fewest; parts <= most; ++parts) visit(Launch{cluster, parts});
}

struct Chosen {
  const Candidate* candidate = nullptr;
  Launch how;
  double cycles = 0;
};
// The launch with the lowest estimate on the current device, or with rank 1, 2, ... the next lowest; the last
// where there are fewer, and the first kernel of `candidates` where none takes the problem. Kind::in_memory
// counts only where the problem has a workspace.
cudaError_t choose(const Gemm& p, std::span<const Candidate> candidates, Chosen* chosen, int rank = 0);

std::span<const Candidate> all_candidates();
// The one of all_candidates() with the same launch, or itself.
const Candidate& as_known(const Candidate& candidate);
// One kernel in the way that the estimate takes for it.
cudaError_t launch_only(const Candidate& candidate, const Gemm& p, cudaStream_t stream);
std::span<const Candidate> straight_candidates();
std::span<const Candidate> transposed_candidates();
std::span<const Candidate> narrow_candidates();
std::span<const Candidate> vector_candidates();

// The workspace that is enough for any of them, and how it is prepared.
std::size_t workspace_of_parts(const Gemm& p);
cudaError_t prepare_parts(const Gemm& p, cudaStream_t stream);

}  // namespace ladder::every_shape
