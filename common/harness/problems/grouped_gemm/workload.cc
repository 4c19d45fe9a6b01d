#include "common/harness/problems/grouped_gemm/workload.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "common/harness/base/failure.h"
#include "common/harness/problems/check_output.h"
#include "common/harness/problems/gemm/library_reference.h"
#include "common/harness/problems/grouped_gemm/shape.h"

namespace ladder {

// "normal(0,1), 17 to 1203 rows in a group"
static std::string input_text(const std::vector<int>& offsets) {
  int fewest = offsets.back(), most = 0;
  for (std::size_t g = 1; g < offsets.size(); ++g) {
    fewest = std::min(fewest, offsets[g] - offsets[g - 1]);
    most = std::max(most, offsets[g] - offsets[g - 1]);
  }
  return "normal(0,1), " + std::to_string(fewest) + " to " + std::to_string(most) + " rows in a group";
}

GroupedWorkload::GroupedWorkload(const GroupedGemm& shape, int sets, const InputOptions& options)
    : shape_(shape),
      seed_(options.seed),
      reference_kind_(options.reference),
      even_(options.even),
      input_(input_text(group_offsets(shape, options.even, options.seed))) {
  using Kind = GuardedBuffer::Kind;
  const Distribution normal{Distribution::Kind::normal};
  const std::vector<int> offsets = group_offsets(shape, even_, seed_);
  for (int i = 0; i < sets; ++i) {
    sets_.push_back({GuardedBuffer("A", Kind::input, area(shape.m, shape.k)),
                     GuardedBuffer("B", Kind::input, shape.groups * area(shape.k, shape.n)),
                     GuardedBuffer("C", Kind::output, area(shape.m, shape.n)),
                     GuardedBuffer("the offsets", Kind::input, offsets.size(), sizeof(int))});
    if (i == 0) continue;  // prepare() draws set 0
    fill(sets_[i].a, normal, seed_ + 1000 + 2 * i);
    fill(sets_[i].b, normal, seed_ + 1001 + 2 * i);
    sets_[i].offsets.copy_from_host(std::span(offsets));
  }
}

GroupedGemm GroupedWorkload::problem(int set) const {
  GroupedGemm p = shape_;
  p.a = sets_[set].a.data();
  p.b = sets_[set].b.data();
  p.c = sets_[set].c.data();
  p.offsets = sets_[set].offsets.as<int>();
  return p;
}

void GroupedWorkload::prepare(int pass) {
  const Set& set = sets_[0];
  // Whole numbers up to 3, or the largest whose sums along k stay exact; normal where k is too long for any.
  const int limit = pass == 0 ? int(std::min(3.0, std::sqrt(0x1p24 / shape_.k))) : 0;
  Distribution inputs{Distribution::Kind::normal};
  if (limit > 0) inputs = {.kind = Distribution::Kind::integer, .limit = limit};
  fill(set.a, inputs, seed_ + 2 * pass);
  fill(set.b, inputs, seed_ + 2 * pass + 1);
  const std::vector<int> offsets = group_offsets(shape_, even_, pass + 1 == passes ? seed_ : ~seed_);
  set.offsets.copy_from_host(std::span(offsets));

  reference_ = {};
  const GroupedGemm p = problem(0);
  const std::vector<Gemm> gemms = gemms_of(p, offsets);
  for (const Gemm& gemm : gemms) {  // a group at a time: B of all of them is large
    HostMatrix a(area(gemm.m, gemm.k)), b(area(gemm.k, gemm.n));
    set.a.copy_to_host(gemm.a - p.a, std::span(a));
    set.b.copy_to_host(gemm.b - p.b, std::span(b));
    reference_.add(gemm, a, b, limit > 0);
  }
  if (reference_kind_ == Reference::cpu) {
    reference_c_ = reference_.all();
  } else {
    const std::vector<float> c = library_reference(gemms);
    reference_c_.assign(c.begin(), c.end());
  }
}

void GroupedWorkload::poison() const {
  sets_[0].c.poison();
}

std::vector<const GuardedBuffer*> GroupedWorkload::outputs() const {
  return {&sets_[0].c};
}

Verdict GroupedWorkload::verify(std::string& outside) const {
  outside = sets_[0].c.damage();
  const int accumulations = reference_kind_ == Reference::cublas ? 2 : 1;  // cuBLAS accumulates in fp32, too
  return check_product<__nv_bfloat16>(sets_[0].c, shape_.n, seed_, reference_, reference_c_, accumulations,
                                      [&](std::uint64_t index, double value, int compared) {
                                        return reference_.expected(index, value, compared);
                                      });
}

}  // namespace ladder
