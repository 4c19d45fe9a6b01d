// Which kernel for which problem: what is known of each, and the estimate that chooses.
#pragma once

#include <span>
#include <string_view>

#include "08_warp_specialized/shapes/cluster.h"
#include "common/rung.h"

namespace ladder::rung_08 {

// Kernels that differ in more than the size of their tiles. Each has its own row of measured costs.
enum class Kind {
  split,           // transposed; a CTA has one tile, or a part of one
  whole,           // transposed, persistent: all consumers multiply the same tile
  in_turn,         // the same, in ping-pong
  straight,        // of kernel.cuh, persistent
  straight_split,  // of kernel.cuh; a cluster has one tile
  narrow,          // straight tiles of any width, persistent
  in_memory,       // transposed; a cluster has a part of a tile, and the parts are added up in global memory
};

// How a kernel is launched.
struct Launch {
  Cluster cluster;
  int parts = 1;  // of k
};

// A kernel that may be chosen.
struct Choice {
  const char* name;  // of its variant
  Kind kind;
  int rows, cols;                     // of a CTA's tile, or of a consumer's in ping-pong
  std::span<const Cluster> clusters;  // that it may be launched in
  int per_sm = 1;                     // CTAs
  int parts = 1;                      // of k; Kind::split and Kind::in_memory take up to as many
  double pace = 1;                    // its time, measured, beside what the costs of its kind alone say
  cudaError_t (*launch)(const Gemm&, const Launch&, cudaStream_t, bool early_start) = nullptr;
};

// An estimate of the time in cycles of the SMs, without what takes all kernels equally long. Infinite where
// the kernel is not made for the problem. See docs/deeper/08_shapes.md.
double estimate_cycles(const Gemm& p, const Choice& choice, const Launch& how, int sms);

struct Chosen {
  const Choice* choice = nullptr;
  Launch how;
  double cycles = 0;
};
// Kind::in_memory counts only where the problem has a workspace. The kernel of the lowest estimate on the
// current device, or of rank 1, 2, ... the next ones; the last where there are fewer, and the first of
// `choices` where none is made for the problem.
cudaError_t choose(const Gemm& p, std::span<const Choice> choices, Chosen* chosen, int rank = 0);

// Of the kernel of that name; null where none was measured.
const double* measured_pace(std::string_view name);

std::span<const Choice> all_choices();  // of the rung, with their paces
std::span<const Choice> swapped_choices();
std::span<const Choice> narrow_choices();

// What a launch of any of them wants as workspace, and how it is prepared.
std::size_t workspace_of_parts(const Gemm& p);
cudaError_t prepare_parts(const Gemm& p, cudaStream_t stream);

}  // namespace ladder::rung_08
