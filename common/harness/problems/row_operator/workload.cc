#include "common/harness/problems/row_operator/workload.h"

#include <cmath>

#include "common/harness/problems/check_output.h"

namespace ladder {

RowOperatorWorkload::RowOperatorWorkload(const RowOperator& shape, int sets, const InputOptions& options)
    : shape_(shape),
      seed_(options.seed),
      input_("normal(0,1), rows offset by up to 4; gamma normal(1,0.25), beta normal(0,1)") {
  const std::uint64_t elements = area(shape.rows, shape.cols);
  using Kind = GuardedBuffer::Kind;
  for (int i = 0; i < sets; ++i) {
    sets_.push_back(
        {GuardedBuffer("x", Kind::input, elements), GuardedBuffer("gamma", Kind::input, shape.cols),
         GuardedBuffer("beta", Kind::input, shape.cols), GuardedBuffer("y", Kind::output, elements)});
    if (i > 0) draw(sets_[i], {.row_offset = 4}, seed_ + 1000 + 3 * i);  // prepare() draws set 0
  }
}

void RowOperatorWorkload::draw(const Set& set, const Distribution& x, std::uint64_t seed) const {
  Distribution in_rows = x;
  in_rows.cols = shape_.cols;
  fill(set.x, in_rows, seed);
  fill(set.gamma, {.mean = 1, .deviation = 0.25f}, seed + 1);
  fill(set.beta, {}, seed + 2);
}

RowOperator RowOperatorWorkload::problem(int set) const {
  RowOperator p = shape_;
  p.x = sets_[set].x.data();
  p.gamma = sets_[set].gamma.data();
  p.beta = sets_[set].beta.data();
  p.y = sets_[set].y.data();
  return p;
}

void RowOperatorWorkload::prepare(int pass) {
  const float small = 0.5f * std::sqrt(shape_.eps);  // variance = eps / 4
  // Far from 0 neighbours in bf16 are 2 apart, which is the deviation, too.
  const Distribution of_pass[passes] = {{.deviation = small, .row_offset = small},
                                        {.mean = 400, .deviation = 2, .row_offset = 50},
                                        {.row_offset = 4}};
  draw(sets_[0], of_pass[pass], seed_ + 3 * pass);
  reference_.reset();
}

void RowOperatorWorkload::choose(const Variant<RowOperator>& variant) {
  const RowOperation operation = extension_of(variant).operation;
  const Set& set = sets_[0];
  if (!reference_ || reference_->operation() != operation)
    reference_.emplace(shape_, operation, on_host(set.x), on_host(set.gamma), on_host(set.beta));
}

void RowOperatorWorkload::poison() const {
  sets_[0].y.poison();
}

std::vector<const GuardedBuffer*> RowOperatorWorkload::outputs() const {
  return {&sets_[0].y};
}

Verdict RowOperatorWorkload::verify(std::string& outside) const {
  outside = sets_[0].y.damage();
  return check_output<__nv_bfloat16>("y", sets_[0].y, shape_.cols,
                                     [&](std::uint64_t i) { return reference_->y(i); });
}

}  // namespace ladder
