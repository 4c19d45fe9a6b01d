#include "common/harness/run/soak.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "common/harness/base/failure.h"
#include "common/harness/problems/workload.h"

namespace ladder {
namespace {

constexpr int shapes_at_once = 16, rounds = 25;

using Random = std::mt19937_64;

// A whole number in [1, most], small ones as likely as large ones.
int dimension(Random& random, int most) {
  return std::clamp(int(std::exp(std::uniform_real_distribution<>(0, std::log(most + 1))(random))), 1, most);
}

Gemm random_shape(Random& random, DeviceKind device, const Gemm&) {
  const int most = device == DeviceKind::gpu ? 3000 : 200;
  return gemm_shape(dimension(random, most), dimension(random, most), dimension(random, most));
}
FusedNorm random_shape(Random& random, DeviceKind device, const FusedNorm&) {
  const int most = device == DeviceKind::gpu ? 40000 : 2000;
  const int cols = dimension(random, most);
  return norm_shape(dimension(random, std::min(most, (device == DeviceKind::gpu ? 8 << 20 : 8 << 10) / cols)),
                    cols);
}
NormGemm random_shape(Random& random, DeviceKind device, const NormGemm&) {
  const Gemm p = random_shape(random, device, Gemm{});
  return norm_gemm_shape(p.m, p.k, p.n);
}
GroupedGemm random_shape(Random& random, DeviceKind device, const GroupedGemm&) {
  Gemm p = random_shape(random, device, Gemm{});
  const int groups = dimension(random, 80);
  if (groups > 4) p.n = 1 + p.n / 4, p.k = 1 + p.k / 4;  // each has a B
  return grouped_shape(groups, p.m, p.n, p.k);
}
Linear random_shape(Random& random, DeviceKind device, const Linear&) {
  const Gemm p = random_shape(random, device, Gemm{});
  return linear_shape(p.m, p.n, p.k);
}
RowOperator random_shape(Random& random, DeviceKind device, const RowOperator&) {
  const FusedNorm p = random_shape(random, device, FusedNorm{});
  return row_operator_shape(p.rows, p.cols);
}
// The next larger one whose rows are whole vectors, or whole blocks that share a scale, for variants that
// take no other.
int next_multiple(int size, int of) {
  return (size + of - 1) / of * of;
}
Gemm in_vectors(Gemm p, Precision precision) {
  p.n = next_multiple(p.n, 8);
  const Format format = format_of(precision);
  const bool sparse = precision == Precision::bf16_sparse;  // half of a row is stored
  const int bits = std::min(bits_of(format.a), bits_of(format.b));
  p.k = next_multiple(p.k, std::max({8, (sparse ? 256 : 128) / bits, format.block}));
  return p;
}
FusedNorm in_vectors(FusedNorm p, Precision precision) {
  p.cols = next_multiple(p.cols, std::max(8, QuantisedLayout(precision, 1, 32).block));
  return p;
}

NormGemm in_vectors(NormGemm p, Precision) {
  p.cols = next_multiple(p.cols, 8);
  p.n = next_multiple(p.n, 8);
  return p;
}

GroupedGemm in_vectors(GroupedGemm p, Precision) {
  p.k = next_multiple(p.k, 8);
  p.n = next_multiple(p.n, 8);
  return p;
}

Linear in_vectors(Linear p, Precision) {
  p.k = next_multiple(p.k, 8);
  p.n = next_multiple(p.n, 8);
  return p;
}

RowOperator in_vectors(RowOperator p, Precision) {
  p.cols = next_multiple(p.cols, 8);
  return p;
}

// One shape under test.
template <class Problem>
struct Subject {
  Problem shape;
  Workload<Problem> workload;
  std::vector<GuardedBuffer> right;  // copies of the verified outputs
  Subject(const Problem& p, std::uint64_t seed, Reference reference)
      : shape(p), workload(make_workload(p, p, 1, seed, reference)) {}
};

}  // namespace

template <class Problem>
Soaked soak(const Variant<Problem>& variant, const std::string& program, const Options& options) {
  using Info = ProblemInfo<Problem>;
  Random random(options.seed);
  Soaked soaked;

  while (soaked.launches < options.soak) {
    const int before = soaked.launches;
    std::vector<std::unique_ptr<Subject<Problem>>> subjects;
    for (int i = 0; i < shapes_at_once && soaked.launches < options.soak; ++i) {
      Problem shape = random_shape(random, options.device, Problem{});
      if (!variant.unsupported(shape).empty()) shape = in_vectors(shape, extension_of(variant).precision);
      if (!variant.unsupported(shape).empty()) continue;
      const std::string doing = std::string(Info::name) + " " + variant.name + " at " + shape_text(shape);
      auto subject = std::make_unique<Subject<Problem>>(shape, random(), options.reference);
      subject->workload.prepare(Workload<Problem>::passes - 1);
      subject->workload.choose(variant);
      subject->workload.poison();
      check(variant.launch(subject->workload.problem(0), nullptr), doing);
      check(cudaDeviceSynchronize(), doing);
      ++soaked.launches;
      ++soaked.shapes;
      std::string outside;
      const Verdict verdict = subject->workload.verify(outside);
      if (!verdict.passed() || !outside.empty()) {
        ++soaked.wrong;
        std::fprintf(stderr, "%s: %s: %s %s\n", program.c_str(), doing.c_str(), verdict.first_wrong.c_str(),
                     outside.c_str());
        continue;
      }
      for (const GuardedBuffer* output : subject->workload.outputs()) {
        const GuardedBuffer& right =
            subject->right.emplace_back("a verified output", GuardedBuffer::Kind::input, output->bytes(), 1);
        check(cudaMemcpy(right.data(), output->data(), output->bytes(), cudaMemcpyDeviceToDevice),
              "copying an output");
      }
      subjects.push_back(std::move(subject));
    }

    if (soaked.launches == before)
      throw Failure(Exit::cannot_run,
                    std::string(variant.name) + " takes none of the shapes: nothing was checked");
    for (int round = 0; round < rounds && soaked.launches < options.soak && !subjects.empty(); ++round) {
      std::shuffle(subjects.begin(), subjects.end(), random);
      for (const auto& s : subjects) s->workload.poison();
      for (const auto& s : subjects) check(variant.launch(s->workload.problem(0), nullptr), "launching");
      soaked.launches += int(subjects.size());
      for (const auto& s : subjects) {
        const auto outputs = s->workload.outputs();
        unsigned long long found = 0;
        for (std::size_t i = 0; i < outputs.size(); ++i) found += count_differences(*outputs[i], s->right[i]);
        if (found == 0) continue;
        ++soaked.wrong;
        std::fprintf(stderr,
                     "%s: %s %s at %s: %llu pairs of bytes differ from those of the verified launch\n",
                     program.c_str(), Info::name, variant.name, shape_text(s->shape).c_str(), found);
      }
    }
  }
  return soaked;
}

template Soaked soak<Gemm>(const Variant<Gemm>&, const std::string&, const Options&);
template Soaked soak<FusedNorm>(const Variant<FusedNorm>&, const std::string&, const Options&);
template Soaked soak<NormGemm>(const Variant<NormGemm>&, const std::string&, const Options&);
template Soaked soak<GroupedGemm>(const Variant<GroupedGemm>&, const std::string&, const Options&);
template Soaked soak<Linear>(const Variant<Linear>&, const std::string&, const Options&);
template Soaked soak<RowOperator>(const Variant<RowOperator>&, const std::string&, const Options&);

}  // namespace ladder
