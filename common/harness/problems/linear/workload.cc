#include "common/harness/problems/linear/workload.h"

#include <algorithm>
#include <cmath>

#include "common/harness/base/failure.h"
#include "common/harness/problems/check_output.h"
#include "common/harness/problems/gemm/library_reference.h"

namespace ladder {

LinearWorkload::LinearWorkload(const Linear& shape, int sets, const InputOptions& options)
    : shape_(shape),
      seed_(options.seed),
      reference_kind_(options.reference),
      input_("normal(0,1), weights normal(0,1/sqrt(k))") {
  using Kind = GuardedBuffer::Kind;
  for (int i = 0; i < sets; ++i) {
    sets_.push_back({GuardedBuffer("A", Kind::input, area(shape.m, shape.k)),
                     GuardedBuffer("B", Kind::input, area(shape.k, shape.n)),
                     GuardedBuffer("Gate", Kind::input, area(shape.k, shape.n)),
                     GuardedBuffer("the bias", Kind::input, shape.n),
                     GuardedBuffer("C", Kind::output, area(shape.m, shape.n))});
    if (i > 0) draw(sets_[i], seed_ + 1000 + 4 * i);  // prepare() draws set 0
  }
}

// So that products are about normal(0,1), where the activations bend, as they are in a model.
void LinearWorkload::draw(const Set& set, std::uint64_t seed) const {
  const Distribution normal{Distribution::Kind::normal};
  const Distribution weights{Distribution::Kind::normal, 0, float(1 / std::sqrt(double(shape_.k)))};
  fill(set.a, normal, seed);
  fill(set.b, weights, seed + 1);
  fill(set.gate, weights, seed + 2);
  fill(set.bias, normal, seed + 3);
}

Linear LinearWorkload::problem(int set) const {
  Linear p = shape_;
  p.a = sets_[set].a.data();
  p.b = sets_[set].b.data();
  p.gate = sets_[set].gate.data();
  p.bias = sets_[set].bias.data();
  p.c = sets_[set].c.data();
  return p;
}

void LinearWorkload::prepare(int pass) {
  const Set& set = sets_[0];
  draw(set, seed_ + 4 * pass);
  // Whole numbers up to 3, or the largest whose sums along k, and a bias, stay exact: below 2^24.
  const int limit = pass == 0 ? int(std::min(3.0, std::sqrt(0x1p23 / shape_.k))) : 0;
  whole_numbers_ = limit >= 1;
  if (whole_numbers_) {
    // Their sums have a deviation of about 4·sqrt(k) where limit is 3; times 2^-shift it is about 2.
    const int shift = int(std::ceil(std::log2(2 * std::sqrt(double(shape_.k)))));
    // Of blocks of one element, of which none is the largest.
    Distribution scaled{.kind = Distribution::Kind::blocks,
                        .limit = limit,
                        .lowest = -shift,
                        .cols = shape_.n,
                        .block_rows = 1,
                        .block_cols = 1,
                        .row = 1};
    fill(set.a, {.kind = Distribution::Kind::integer, .limit = limit}, seed_);
    fill(set.b, scaled, seed_ + 1);
    fill(set.gate, scaled, seed_ + 2);
    scaled.lowest = -1;  // a multiple of the products' last bit, since shift >= 1
    fill(set.bias, scaled, seed_ + 3);
  }
  reference_.reset();
  product_.clear();
  gate_.clear();
}

std::vector<double> LinearWorkload::values_of(const GemmReference& product, const GuardedBuffer& b) const {
  if (reference_kind_ == Reference::cpu) return product.all();
  Gemm gemm = gemm_of(problem(0));
  gemm.b = b.data();
  const std::vector<float> values = library_reference({gemm});
  return {values.begin(), values.end()};
}

void LinearWorkload::choose(const Variant<Linear>& variant) {
  const Epilogue epilogue = extension_of(variant).epilogue;
  const Set& set = sets_[0];
  reference_.emplace(shape_, epilogue, on_host(set.a), on_host(set.b),
                     is_gated(epilogue) ? on_host(set.gate) : HostMatrix(), on_host(set.bias),
                     whole_numbers_);
  if (product_.empty()) product_ = values_of(reference_->product(), set.b);
  if (gate_.empty() && is_gated(epilogue)) {
    gate_ = values_of(reference_->gate(), set.gate);
    for (std::uint64_t i = 0; i < gate_.size(); i += 1 + gate_.size() / 64) {
      const double exact = reference_->gate().exact(i);
      if (!(std::abs(gate_[i] - exact) <=
            reference_->gate().expected(i, exact, 1).slack + std::abs(exact) * 0x1p-24))
        throw Failure(Exit::wrong_result, "the reference for A·Gate is wrong at element " +
                                              std::to_string(i) + ": it is not what fp64 on the CPU gives");
    }
  }
}

void LinearWorkload::poison() const {
  sets_[0].c.poison();
}

std::vector<const GuardedBuffer*> LinearWorkload::outputs() const {
  return {&sets_[0].c};
}

Verdict LinearWorkload::verify(std::string& outside) const {
  outside = sets_[0].c.damage();
  const int accumulations = reference_kind_ == Reference::cublas ? 2 : 1;  // cuBLAS accumulates in fp32, too
  return check_product<__nv_bfloat16>(sets_[0].c, shape_.n, seed_, reference_->product(), product_,
                                      accumulations, [&](std::uint64_t i, double product, int compared) {
                                        return reference_->c(i, product, compared,
                                                             gate_.empty() ? 0 : gate_[i], accumulations);
                                      });
}

}  // namespace ladder
