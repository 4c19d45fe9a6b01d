#include <sstream>

#include "common/harness/base/format.h"
#include "common/harness/cli/options.h"

namespace ladder {

static const char sizes_and_variants[] =
    R"(  --m M --n N --k K    sizes of the gemm, linear, or all groups; one left out keeps the course's
  --rows R --cols C    sizes of the norm, row_operator, and with --n of norm_gemm
  --groups G --even    of grouped_gemm: products; as many rows for each, not as a router shares them out
  --size N             every dimension at once
  --variant NAME       one of the variants (see --list); without it, the last of the list: the rung itself
  --pad                pad n and k of a gemm with zeros to the next sizes that its variants take
  --type T             bf16, tf32, fp8, ...: the variant of this precision; with --ablate all of them
)";

static const char on_a_gpu[] = R"(  --ablate             every variant: what each trick buys
  --trace FILE         a timeline of what the warps of a gemm do, for Perfetto: some variants have it
  --sweep              a range of sizes
  --sweep k            gemm: k from 64 to 16384, at the m and n of --m and --n
  --sweep models       gemm: shapes that language models have, and what they come to, cuBLAS against the rung
  --shapes N           how many of them are drawn, by --seed (default 200)
  --tune               gemm: all variants in bf16, in turns: which is fastest, and how far off the rung is; with
                       --variant ONE,OTHER these and the rung, and the time of each
  --verify-only        check, do not time; without sizes, a list of awkward ones
  --soak N             N launches over random shapes, or those of --sweep models, back to back, every element of
                       each compared
  --power S            S seconds without a pause: clock, power, joules; then, without --variant, the baselines

how
  --launches HOW       time launches in a row: one by one (stream), or as a CUDA graph (graph); without it,
                       short ones as a graph, long ones singly
  --repeats N          timed samples per kernel (default: as many as fit 1.5 s, of --sweep models 0.15 s)
  --seed N             seed of the random inputs, and of --sweep models (default 1)
  --outlier N          the last element of a gemm's A and of its B is N: what that costs the others
  --l2-set-aside MIB   MiB of L2 set aside for lines that persist (cudaLimitPersistingL2CacheSize)
  --input HOW          beside --power, the elements of A and B: normal (default), integers, ones, zeros
  --reference cpu      check against fp64 on the CPU instead of cuBLAS; --verify-only then keeps to small sizes
)";

static const char on_the_simulator[] = R"(  --ablate             every variant: what each trick changes
  --trace FILE         a timeline of what the warps of a gemm do, for Perfetto: some variants have it
  --verify-only        check, do not count; without sizes, a list of awkward ones
  --soak N             N launches over random shapes, back to back, every element of each compared
  --ctas N             of one launch N CTAs, the first, the last and some between, at sizes that need not fit
                       into memory: does an index overflow? What they write is checked

what to show
  --counters           of each variant: requests, sectors and wavefronts by kind of access, and its instructions
  --source             of each variant: its source, with the counts of every line

how
  --seed N             seed of the random inputs (default 1)
  --outlier N          the last element of a gemm's A and of its B is N: what that costs the others
)";

static const char how_to_write[] =
    R"(  --json FILE          append one JSON object per result to FILE; -: print it
  --table-rows         print the rows of the table without its header

  --list               the variants; with --json one JSON object per problem: what it is, and its variants
  --help               this text
)";

static const char environment[] = R"(
environment
  SIMULATOR_DEVICE     the GPU to be: a100, l40s, h200 (default, unless the rung is for b200) or b200
  SIMULATOR_SEED       0 (default): warps run in order; any other number: another order that a GPU may choose
  SIMULATOR_CHECKS     what to do about races, reads of memory never written, divergent barriers:
                       fail (default), report, or off
  SIMULATOR_THREADS    threads of the CPU to use (default: all)
)";

// "gemm, grouped_gemm": the problems that are timed beside that.
static std::string timed_beside(Beside what) {
  std::string names;
  for_each_problem([&]<class Problem>() {
    if (ProblemInfo<Problem>::beside != what) return;
    if (!names.empty()) names += ", ";
    names += ProblemInfo<Problem>::name;
  });
  return names;
}

static void describe(std::ostream& out, DeviceKind device) {
  if (device == DeviceKind::gpu)
    out << "Runs its kernels, checks every element they write, times them beside cuBLAS ("
        << timed_beside(Beside::library) << "),\na plain copy (" << timed_beside(Beside::copy)
        << ") or both in two steps (" << timed_beside(Beside::chain)
        << "), and prints a\ntable. Without arguments: gemm and fused_norm at the course's sizes, ";
  else
    out << "Runs its kernels on a simulated GPU, checks every element they write against fp64, and "
           "counts what a\nGPU's counters would. It has no times. Without arguments: gemm and fused_norm at "
           "small sizes, ";
  out << shape_text(ProblemInfo<Gemm>::default_shape(device)) << "\nand "
      << shape_text(ProblemInfo<FusedNorm>::default_shape(device)) << ".\n";
}

std::string help_text(const Rung& rung, DeviceKind device) {
  const bool on_gpu = device == DeviceKind::gpu;
  const std::string name = program_name(rung, device);
  std::string choice, descriptions;
  for_each_problem([&]<class Problem>() {
    choice.append(choice.empty() ? "" : "|").append(ProblemInfo<Problem>::name);
    descriptions += format("  %-21s%s\n", ProblemInfo<Problem>::name, ProblemInfo<Problem>::what);
  });
  std::ostringstream out;
  out << name << ": " << rung.title << "\n\nusage: " << name << " [" << choice << "] [options]\n\n";
  describe(out, device);
  out << "\nwhat to run\n"
      << descriptions << sizes_and_variants << (on_gpu ? on_a_gpu : on_the_simulator) << how_to_write
      << (on_gpu ? "" : environment)
      << "\nexit codes: 0 passed, 1 wrong result, 2 bad usage, 77 cannot run here ("
      << (on_gpu ? "no GPU, " : "") << "another architecture, no memory)\n";
  return out.str();
}

}  // namespace ladder
