// The choice: all the kernels, the one that the estimate takes at a shape, and what takes any n and k.
#include <algorithm>

#include "common/every_shape/estimate/fitted.h"
#include "common/every_shape/hopper/any_n_k.h"
#include "common/extension.h"

namespace ladder::every_shape {
namespace {

std::vector<Candidate> of_all_kinds() {
  std::vector<Candidate> all;
  for (const auto& kind :
       {straight_candidates(), transposed_candidates(), narrow_candidates(), vector_candidates()})
    all.insert(all.end(), kind.begin(), kind.end());
  for (Candidate& c : all) {
    for (const Card card : all_cards) {
      const auto& of = fitted_to(card).kernels;
      const auto traits = std::ranges::find(of, c.name, &Fitted::Kernel::name);
      if (traits != of.end()) c.traits[int(card)] = traits->traits;
    }
  }
  return all;
}

}  // namespace

std::span<const Candidate> all_candidates() {
  static const std::vector<Candidate> all = of_all_kinds();
  return all;
}
const Candidate& as_known(const Candidate& candidate) {
  const auto known = std::ranges::find(all_candidates(), candidate.launch, &Candidate::launch);
  return known != all_candidates().end() ? *known : candidate;
}
cudaError_t launch_only(const Candidate& candidate, const Gemm& p, cudaStream_t stream) {
  const Candidate only[] = {as_known(candidate)};
  Chosen chosen;
  const cudaError_t error = choose(p, only, &chosen);
  return error != cudaSuccess ? error : only[0].launch(p, chosen.how, stream, false);
}

namespace {

// Choosing takes a CPU longer than launching, so a thread remembers the choices that it has made.
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
    error = choose(p, all_candidates(), &at.chosen, rank);
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
  return error != cudaSuccess ? error : chosen.candidate->launch(p, chosen.how, stream, early_start);
}
cudaError_t launch_early(const Gemm& p, cudaStream_t stream) {
  return launch_ranked<true>(p, 0, stream);
}

// With n and k of any size there is one kernel more, which has no rank.
cudaError_t launch_any(const Gemm& p, int rank, cudaStream_t stream) {
  return wants_padding(p) ? launch_padded(p, stream) : launch_ranked<false>(p, rank, stream);
}
std::size_t workspace_bytes(const Gemm& p) {
  return wants_padding(p) ? workspace_of_padding(p) : workspace_of_parts(p);
}
cudaError_t prepare(const Gemm& p, cudaStream_t stream) {
  return wants_padding(p) ? cudaSuccess : prepare_parts(p, stream);
}

// A kernel, its cluster where it has one, and in how many parts of k.
Text kernel_of(const Gemm& shape) {
  if (wants_padding(shape)) return kernel_of_padded(shape);
  TypedOperands with_workspace{};
  with_workspace.workspace =
      &with_workspace;  // any address: choose() only sees that there is one, as for launch()
  Gemm p = shape;
  if (workspace_of_parts(p) > 0) p.typed = &with_workspace;
  Chosen chosen;
  if (choose_once(p, 0, &chosen) != cudaSuccess) return {};
  Text text(chosen.candidate->name);
  const auto& [cluster, parts] = chosen.how;
  if (cluster.size() > 1) text.append(", cluster of ", cluster.n, "x", cluster.m);
  if (parts > 1) text.append(", k in ", parts, " parts");
  return text;
}

constexpr Extension<Gemm> of_aligned{.workspace_bytes = workspace_of_parts,
                                     .prepare = prepare_parts,
                                     .kernel = kernel_of,
                                     .ranked = launch_ranked<true>};
constexpr Extension<Gemm> of_any{
    .workspace_bytes = workspace_bytes, .prepare = prepare, .kernel = kernel_of, .ranked = launch_any};

}  // namespace

Variants<Gemm> every_shape() {
  static const Text what("by shape one of ", int(all_candidates().size()),
                         " kernels, the estimate's choice; any n and k");
  return {{.name = "early_start",
           .what = "every_shape in a chain: a grid starts while the one before still runs",
           .unsupported = rows_of_vectors,
           .launch = launch_early,
           .dependent_launch = true,
           .extension = &of_aligned},
          {.name = "every_shape",
           .what = what.c_str(),
           .launch = [](const Gemm& p, cudaStream_t stream) { return launch_any(p, 0, stream); },
           .extension = &of_any}};
}

}  // namespace ladder::every_shape
