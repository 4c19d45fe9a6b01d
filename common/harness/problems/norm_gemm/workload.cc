#include "common/harness/problems/norm_gemm/workload.h"

#include <algorithm>
#include <cmath>

#include "common/harness/base/failure.h"
#include "common/harness/problems/check_output.h"
#include "common/harness/problems/gemm/library_reference.h"

namespace ladder {

NormGemmWorkload::NormGemmWorkload(const NormGemm& shape, int sets, const InputOptions& options)
    : shape_(shape),
      seed_(options.seed),
      reference_kind_(options.reference),
      input_("normal(0,1), gamma normal(1,0.25)") {
  using Kind = GuardedBuffer::Kind;
  for (int i = 0; i < sets; ++i) {
    sets_.push_back({GuardedBuffer("x", Kind::input, area(shape.rows, shape.cols)),
                     GuardedBuffer("residual", Kind::input, area(shape.rows, shape.cols)),
                     GuardedBuffer("gamma", Kind::input, shape.cols),
                     GuardedBuffer("W", Kind::input, area(shape.cols, shape.n)),
                     GuardedBuffer("h", Kind::output, area(shape.rows, shape.cols)),
                     GuardedBuffer("C", Kind::output, area(shape.rows, shape.n)),
                     {}});
    if (i > 0) draw(sets_[i], seed_ + 1000 + 4 * i);  // prepare() draws set 0
  }
}

void NormGemmWorkload::draw(const Set& set, std::uint64_t seed) const {
  const Distribution normal{Distribution::Kind::normal};
  fill(set.x, normal, seed);
  fill(set.residual, normal, seed + 1);
  fill(set.gamma, {Distribution::Kind::normal, 1, 0.25f}, seed + 2);
  fill(set.w, normal, seed + 3);
}

NormGemm NormGemmWorkload::problem(int set) const {
  NormGemm p = shape_;
  p.x = sets_[set].x.data();
  p.residual = sets_[set].residual.data();
  p.gamma = sets_[set].gamma.data();
  p.w = sets_[set].w.data();
  p.h = sets_[set].h.data();
  p.c = sets_[set].c.data();
  if (sets_[set].workspace) p.workspace = sets_[set].workspace->as<void>();
  return p;
}

void NormGemmWorkload::prepare(int pass) {
  const Set& set = sets_[0];
  draw(set, seed_ + 4 * pass);
  // x, residual, gamma and W up to 3, or the largest whose sums of (x + residual) · gamma · W stay below
  // 2^24.
  const int limit = pass == 0 ? int(std::min(3.0, std::cbrt(0x1p23 / shape_.cols))) : 0;
  if (limit >= 1) {
    int seed = 0;
    for (const GuardedBuffer* input : {&set.x, &set.residual, &set.gamma, &set.w})
      fill(*input, {Distribution::Kind::integer, 0, 0, limit}, seed_ + seed++);
  }
  shape_.eps = pass == 0 ? 4.0f : 1e-5f;
  const HostMatrix x = on_host(set.x), residual = on_host(set.residual), gamma = on_host(set.gamma),
                   w = on_host(set.w);
  reference_.emplace(shape_, x, residual, gamma, w, limit >= 1);
  reference_product_ =
      reference_kind_ == Reference::cpu
          ? reference_->product().all()
          : library_reference(gemm_of(shape_), sum_of(x, residual), folded_weights(shape_, gamma, w));
}

void NormGemmWorkload::choose(const Variant<NormGemm>& variant) {
  const Extension<NormGemm>& extension = extension_of(variant);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    sets_[i].workspace.reset();
    sets_[i].workspace.emplace("the workspace", GuardedBuffer::Kind::output,
                               extension.workspace_bytes(shape_), 1);
    sets_[i].workspace->poison();
    check(extension.prepare(problem(int(i)), nullptr), std::string("folding the weights of ") + variant.name);
  }
}

void NormGemmWorkload::poison() const {
  for (const GuardedBuffer* output : outputs()) output->poison();
}

std::vector<const GuardedBuffer*> NormGemmWorkload::outputs() const {
  return {&sets_[0].h, &sets_[0].c};
}

Verdict NormGemmWorkload::verify(std::string& outside) const {
  const Set& set = sets_[0];
  for (const GuardedBuffer* output : {&set.h, &set.c, &*set.workspace})
    if (outside.empty()) outside = output->damage();
  Verdict verdict =
      check_output<__nv_bfloat16>("h", set.h, shape_.cols, [&](std::uint64_t i) { return reference_->h(i); });
  verdict.add(check_product<__nv_bfloat16>(set.c, shape_.n, seed_, reference_->product(), reference_product_,
                                           1, [&](std::uint64_t i, double product, int accumulations) {
                                             return reference_->c(i, product, accumulations);
                                           }));
  return verdict;
}

}  // namespace ladder
