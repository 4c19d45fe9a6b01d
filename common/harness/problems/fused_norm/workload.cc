#include "common/harness/problems/fused_norm/workload.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "common/harness/base/failure.h"
#include "common/harness/base/parallel.h"
#include "common/harness/problems/check_output.h"
#include "common/harness/verify/precision.h"

namespace ladder {

NormWorkload::NormWorkload(const FusedNorm& shape, int sets, const InputOptions& options)
    : shape_(shape), seed_(options.seed), input_("normal(0,1), gamma normal(1,0.25)") {
  const std::uint64_t elements = area(shape.rows, shape.cols);
  using Kind = GuardedBuffer::Kind;
  for (int i = 0; i < sets; ++i) {
    sets_.push_back({GuardedBuffer("x", Kind::input, elements),
                     GuardedBuffer("residual", Kind::input, elements),
                     GuardedBuffer("gamma", Kind::input, shape.cols),
                     GuardedBuffer("h", Kind::output, elements),
                     GuardedBuffer("y", Kind::output, elements),
                     {},
                     {},
                     {},
                     {},
                     {}});
    if (i > 0) draw(sets_[i], 1, seed_ + 1000 + 3 * i);  // prepare() draws set 0
  }
}

void NormWorkload::draw(const Set& set, float deviation, std::uint64_t seed) const {
  fill(set.x, {Distribution::Kind::normal, 0, deviation}, seed);
  fill(set.residual, {Distribution::Kind::normal, 0, deviation}, seed + 1);
  fill(set.gamma, {Distribution::Kind::normal, 1, 0.25f}, seed + 2);
}

FusedNorm NormWorkload::problem(int set) const {
  FusedNorm p = shape_;
  p.x = sets_[set].x.data();
  p.residual = sets_[set].residual.data();
  p.gamma = sets_[set].gamma.data();
  p.h = sets_[set].h.data();
  p.y = precision_ == Precision::bf16 ? sets_[set].y.data() : nullptr;
  if (precision_ != Precision::bf16) p.quantised = &sets_[set].quantised;
  if (sets_[set].workspace) p.workspace = sets_[set].workspace->as<void>();
  return p;
}

void NormWorkload::choose(const Variant<FusedNorm>& variant) {
  precision_ = extension_of(variant).precision;
  allocate_workspaces(variant);
  matrix_scale_ = precision_ == Precision::nvfp4 ? matrix_scale_of(precision_, largest_y()) : 1;
  for (Set& set : sets_) {
    set.y_elements.reset();
    set.y_scales.reset();
    set.matrix_scale.reset();
    if (precision_ == Precision::bf16) continue;
    const QuantisedLayout layout(precision_, shape_.rows, shape_.cols);
    set.y_elements.emplace("y", GuardedBuffer::Kind::output, layout.element_bytes() / 2);
    set.y_scales.emplace("y's scales", GuardedBuffer::Kind::output, layout.scale_bytes() / 2);
    set.quantised = {set.y_elements->as<unsigned char>(), set.y_scales->as<unsigned char>()};
    if (precision_ != Precision::nvfp4) continue;
    set.matrix_scale.emplace("y's scale", GuardedBuffer::Kind::input, 1, sizeof(float));
    set.matrix_scale->copy_from_host(std::span(&matrix_scale_, 1));
    set.quantised.matrix_scale = set.matrix_scale->as<float>();
  }
}

void NormWorkload::allocate_workspaces(const Variant<FusedNorm>& variant) {
  const Extension<FusedNorm>& extension = extension_of(variant);
  const std::size_t bytes = extension.workspace_bytes ? extension.workspace_bytes(shape_) : 0;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    sets_[i].workspace.reset();
    if (bytes == 0) continue;
    sets_[i].workspace.emplace("the workspace", GuardedBuffer::Kind::output, bytes, 1);
    sets_[i].workspace->poison();
    check(extension.prepare(problem(int(i)), nullptr),
          std::string("preparing the workspace of ") + variant.name);
  }
  // Timings are in a stream that does not wait for this one.
  if (bytes > 0) check(cudaDeviceSynchronize(), std::string("preparing the workspace of ") + variant.name);
}

// As a caller of the norm would have estimated it.
float NormWorkload::largest_y() const {
  std::vector<double> largest(max_slices());
  const std::uint64_t cols = shape_.cols;
  parallel_slices(shape_.rows, 1, [&](std::size_t slice, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin * cols; i < end * cols; ++i)
      largest[slice] = std::max(largest[slice], std::abs(reference_->y(i).exact));
  });
  return float(*std::max_element(largest.begin(), largest.end()));
}

void NormWorkload::prepare(int pass) {
  const Set& set = sets_[0];
  const float small = 0.5f * std::sqrt(shape_.eps);  // mean of h² = eps / 2
  draw(set, pass == 0 ? small : 1.0f, seed_ + 3 * pass);
  reference_.emplace(shape_, on_host(set.x), on_host(set.residual), on_host(set.gamma));
}

void NormWorkload::poison() const {
  for (const GuardedBuffer* output : outputs()) output->poison();
}

std::vector<const GuardedBuffer*> NormWorkload::outputs() const {
  const Set& set = sets_[0];
  if (precision_ == Precision::bf16) return {&set.h, &set.y};
  return {&set.h, &*set.y_elements, &*set.y_scales};
}

Verdict NormWorkload::verify(std::string& outside) const {
  const Set& set = sets_[0];
  for (const GuardedBuffer* output : outputs())
    if (outside.empty()) outside = output->damage();
  if (outside.empty() && set.workspace) outside = set.workspace->damage();
  Verdict verdict =
      check_output<__nv_bfloat16>("h", set.h, shape_.cols, [&](std::uint64_t i) { return reference_->h(i); });
  auto expected = [&](std::uint64_t i) { return reference_->y(i); };
  if (precision_ == Precision::bf16) {
    verdict.add(check_output<__nv_bfloat16>("y", set.y, shape_.cols, expected));
  } else {
    const HostMatrix elements = on_host(*set.y_elements), scales = on_host(*set.y_scales);
    verdict.add(check_quantised("y", precision_, shape_.rows, shape_.cols, std::as_bytes(std::span(elements)),
                                std::as_bytes(std::span(scales)), expected, matrix_scale_));
  }
  return verdict;
}

}  // namespace ladder
