// The problems, in the order in which they run and are listed. A new one is a folder beside this file, an
// include and an entry here.
#pragma once

#include <concepts>
#include <random>

#include "common/harness/problems/fused_norm/problem.h"
#include "common/harness/problems/gemm/problem.h"
#include "common/harness/problems/grouped_gemm/problem.h"
#include "common/harness/problems/linear/problem.h"
#include "common/harness/problems/norm_gemm/problem.h"
#include "common/harness/problems/row_operator/problem.h"

#define LADDER_PROBLEMS(entry) \
  entry(Gemm) entry(FusedNorm) entry(NormGemm) entry(GroupedGemm) entry(Linear) entry(RowOperator)

namespace ladder {

// Calls f.operator()<Problem>() for each problem, in order.
template <class Function>
void for_each_problem(const Function& f) {
#define LADDER_CALL(Problem) f.template operator()<Problem>();
  LADDER_PROBLEMS(LADDER_CALL)
#undef LADDER_CALL
}

// What the harness needs of each of them.
template <class P>
concept Described = requires(const P p, const Rung& rung, const Variant<P>& variant, std::mt19937_64& random,
                             Workload<P>& workload, std::string& outside) {
  // For the command line and the tables.
  { ProblemInfo<P>::name } -> std::convertible_to<const char*>;
  { ProblemInfo<P>::what } -> std::convertible_to<const char*>;         // one line of --help
  { ProblemInfo<P>::unit } -> std::convertible_to<const char*>;         // of the score
  { ProblemInfo<P>::score_field } -> std::convertible_to<const char*>;  // of a record
  { ProblemInfo<P>::rival } -> std::convertible_to<const char*>;        // the column of the baselines
  { ProblemInfo<P>::beside } -> std::convertible_to<Beside>;
  { ProblemInfo<P>::variants(rung) } -> std::convertible_to<const Variants<P>&>;
  { ProblemInfo<P>::dimensions()[0] } -> std::convertible_to<Dimension<P>>;
  // Its shapes. `verify_shapes`: awkward sizes, large ones last: what --verify-only runs.
  { ProblemInfo<P>::default_shape(DeviceKind::gpu) } -> std::same_as<P>;
  { ProblemInfo<P>::verify_shapes() } -> std::same_as<std::vector<P>>;
  { ProblemInfo<P>::sweep_shapes() } -> std::same_as<std::vector<P>>;  // what --sweep times
  // Whether the CPU computes it in well under a second, and the simulator runs any rung's kernel on it in
  // about one: what --verify-only keeps with --reference cpu, and on the simulator.
  { quick_on_cpu(p) } -> std::same_as<bool>;
  { quick_on_simulator(p) } -> std::same_as<bool>;
  // For --soak: a random one, and the next larger one whose rows are whole vectors, or whole blocks that
  // share a scale, for variants that take no other.
  { random_shape(random, DeviceKind::gpu, p) } -> std::same_as<P>;
  { in_vectors(p, Precision::bf16) } -> std::same_as<P>;
  // Bytes of one set of inputs and outputs; of device memory that a run takes and of host memory that a
  // check takes, in floating point, since the largest shapes pass 2^64; and beside them, in every set, of a
  // variant's own workspace.
  { footprint_bytes(p, Precision::bf16) } -> std::same_as<std::uint64_t>;
  { bytes_needed(p, 1, true, true) } -> std::same_as<double>;
  { host_bytes_needed(p, true) } -> std::same_as<double>;
  { ProblemInfo<P>::workspace_needed(variant, p) } -> std::same_as<double>;
  { ProblemInfo<P>::score(extension_of(variant), p, 1.0) } -> std::same_as<double>;  // at 1 us a launch
  // On a GPU; declared by every problem.h, and defined in baselines.cc.
  { baselines(variant, std::vector<P>()) } -> std::same_as<Baselines>;
  // Inputs, outputs and what these must be: see GemmWorkload.
  { make_workload(p, p, 1, InputOptions()) } -> std::same_as<Workload<P>>;
  { Workload<P>::passes } -> std::convertible_to<int>;
  workload.prepare(0);
  workload.choose(variant);
  workload.poison();
  { workload.problem(0) } -> std::same_as<P>;
  { workload.input() } -> std::convertible_to<std::string>;
  { workload.outputs() } -> std::same_as<std::vector<const GuardedBuffer*>>;
  { workload.verify(outside) } -> std::same_as<Verdict>;
};

#define LADDER_IS_DESCRIBED(Problem) static_assert(Described<Problem>);
LADDER_PROBLEMS(LADDER_IS_DESCRIBED)
#undef LADDER_IS_DESCRIBED

}  // namespace ladder
