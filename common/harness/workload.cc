#include "common/harness/workload.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <utility>

#include "common/harness/device.h"
#include "common/harness/failure.h"
#include "common/harness/precision.h"

namespace ladder {
namespace {

constexpr std::uint64_t chunk_elements = std::uint64_t(1)
                                         << 25;  // copied to the host at a time: 64 MiB of bf16
constexpr int sampled_elements = 64;             // checked against fp64 on the CPU

std::uint64_t area(int x, int y) {
  return std::uint64_t(x) * std::uint64_t(y);
}

unsigned char* bytes_of(const GuardedBuffer& buffer) {
  return reinterpret_cast<unsigned char*>(buffer.data());
}

HostMatrix on_host(const GuardedBuffer& buffer) {
  HostMatrix host(buffer.count());
  buffer.copy_to_host(0, host);
  return host;
}

// Checks every element of an output, chunk by chunk.
template <class ExpectedAt>
Verdict check_output(const char* name, const GuardedBuffer& output, std::uint64_t cols,
                     const ExpectedAt& expected) {
  Verdict verdict;
  HostMatrix chunk;
  for (std::uint64_t first = 0; first < output.count(); first += chunk_elements) {
    chunk.resize(std::min(chunk_elements, output.count() - first));
    output.copy_to_host(first, chunk);
    verdict.add(check_elements(name, chunk, first, cols, expected));
  }
  return verdict;
}

}  // namespace

GemmWorkload::GemmWorkload(const Gemm& shape, int sets, std::uint64_t seed, Reference reference)
    : shape_(shape), seed_(seed), reference_kind_(reference), input_("normal(0,1)") {
  using Kind = GuardedBuffer::Kind;
  for (int i = 0; i < sets; ++i) {
    sets_.push_back({GuardedBuffer("A", Kind::input, area(shape.m, shape.k)),
                     GuardedBuffer("B", Kind::input, area(shape.k, shape.n)),
                     GuardedBuffer("C", Kind::output, area(shape.m, shape.n)),
                     {}});
    if (i == 0) continue;  // prepare() draws it
    fill(sets_[i].a, {Distribution::Kind::normal}, seed + 1000 + 2 * i);
    fill(sets_[i].b, {Distribution::Kind::normal}, seed + 1001 + 2 * i);
  }
}

Gemm GemmWorkload::problem(int set) const {
  Gemm p = shape_;
  p.a = sets_[set].a.data();
  p.b = sets_[set].b.data();
  p.c = sets_[set].c.data();
  if (sets_[set].workspace) p.workspace = sets_[set].workspace->data();
  return p;
}

void GemmWorkload::prepare(int pass) {
  // Whole numbers up to 3, or the largest whose sums along k stay below 2^24; normal again where k is too
  // long for any.
  const int limit = pass == 0 ? int(std::min(3.0, std::sqrt(0x1p24 / shape_.k))) : 0;
  Distribution d{Distribution::Kind::normal};
  if (limit >= 1) d = {Distribution::Kind::integer, 0, 0, limit};
  const Set& set = sets_[0];
  fill(set.a, d, seed_ + 2 * pass);
  fill(set.b, d, seed_ + 2 * pass + 1);
  whole_numbers_ = limit >= 1;
  reference_.reset();
}

void GemmWorkload::choose(const Variant<Gemm>& variant) {
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    sets_[i].workspace.reset();
    if (!variant.prepare) continue;
    const std::size_t bytes = variant.workspace_bytes(shape_);
    sets_[i].workspace.emplace("the workspace", GuardedBuffer::Kind::output, (bytes + 1) / 2);
    sets_[i].workspace->poison();
    check(variant.prepare(problem(int(i)), nullptr),
          std::string("preparing the operands of ") + variant.name);
  }
  if (reference_ && precision_ == variant.precision) return;
  precision_ = variant.precision;
  const Set& set = sets_[0];
  HostMatrix a = on_host(set.a), b = on_host(set.b);
  if (precision_ == Precision::bf16) {
    reference_.emplace(shape_, std::move(a), std::move(b), whole_numbers_);
    reference_c_ = reference_kind_ == Reference::cpu ? reference_->all() : library_reference(problem(0));
    return;
  }
  round_matrix(precision_, a, shape_.m, shape_.k, false);
  round_matrix(precision_, b, shape_.k, shape_.n, true);
  // The whole numbers up to 3 are e4m3, times any power of two; in nvfp4 a scale is a third of something.
  const bool whole_numbers = whole_numbers_ && precision_ != Precision::nvfp4;
  if (reference_kind_ == Reference::cublas) {
    const GuardedBuffer rounded_a("A, rounded", GuardedBuffer::Kind::input, a.size());
    const GuardedBuffer rounded_b("B, rounded", GuardedBuffer::Kind::input, b.size());
    rounded_a.copy_from_host(a);
    rounded_b.copy_from_host(b);
    Gemm p = shape_;
    p.a = rounded_a.data();
    p.b = rounded_b.data();
    reference_c_ = library_reference(p);
    reference_.emplace(shape_, std::move(a), std::move(b), whole_numbers);
  } else {
    reference_.emplace(shape_, std::move(a), std::move(b), whole_numbers);
    reference_c_ = reference_->all();
  }
}

void GemmWorkload::poison() const {
  sets_[0].c.poison();
}

std::vector<const GuardedBuffer*> GemmWorkload::outputs() const {
  return {&sets_[0].c};
}

Verdict GemmWorkload::verify(std::string& outside) const {
  const GuardedBuffer& c = sets_[0].c;
  outside = c.damage();
  if (outside.empty() && sets_[0].workspace) outside = sets_[0].workspace->damage();
  Verdict verdict = check_output("C", c, shape_.n, [&](std::uint64_t index) {
    return reference_->expected(index, reference_c_[index], 2);
  });

  // The second witness: fp64 on the CPU, at the corners and at random places. It judges the reference, too.
  std::mt19937_64 random(seed_);
  Verdict witnessed;
  for (int sample = 0; sample < sampled_elements; ++sample) {
    const std::uint64_t corners[] = {0, std::uint64_t(shape_.n) - 1, c.count() - shape_.n, c.count() - 1};
    const std::uint64_t index = sample < 4 ? corners[sample] : random() % c.count();
    const Expected e = reference_->expected(index, reference_->exact(index), 1);
    if (!(std::abs(reference_c_[index] - e.exact) <= e.slack + std::abs(e.exact) * 0x1p-24))
      throw Failure(Exit::wrong_result, "the reference for C is wrong at element " + std::to_string(index) +
                                            ": it is not what fp64 on the CPU gives");
    __nv_bfloat16 got;
    c.copy_to_host(index, {&got, 1});
    check_element("C (against fp64)", got, index, shape_.n, e, witnessed);
  }
  if (verdict.passed() && !witnessed.passed()) verdict.add(witnessed);
  return verdict;
}

NormWorkload::NormWorkload(const FusedNorm& shape, int sets, std::uint64_t seed, Reference)
    : shape_(shape), seed_(seed), input_("normal(0,1), gamma normal(1,0.25)") {
  const std::uint64_t elements = area(shape.rows, shape.cols);
  using Kind = GuardedBuffer::Kind;
  for (int i = 0; i < sets; ++i) {
    sets_.push_back({GuardedBuffer("x", Kind::input, elements),
                     GuardedBuffer("residual", Kind::input, elements),
                     GuardedBuffer("gamma", Kind::input, shape.cols),
                     GuardedBuffer("h", Kind::output, elements),
                     GuardedBuffer("y", Kind::output, elements),
                     {},
                     {}});
    if (i > 0) draw(sets_[i], 1, seed + 1000 + 3 * i);  // prepare() draws set 0
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
  if (sets_[set].y_elements) p.y_elements = bytes_of(*sets_[set].y_elements);
  if (sets_[set].y_scales) p.y_scales = bytes_of(*sets_[set].y_scales);
  return p;
}

void NormWorkload::choose(const Variant<FusedNorm>& variant) {
  precision_ = variant.precision;
  for (Set& set : sets_) {
    set.y_elements.reset();
    set.y_scales.reset();
    if (precision_ == Precision::bf16) continue;
    const QuantisedLayout layout(precision_, shape_.rows, shape_.cols);
    set.y_elements.emplace("y", GuardedBuffer::Kind::output, layout.element_bytes() / 2);
    set.y_scales.emplace("y's scales", GuardedBuffer::Kind::output, layout.scale_bytes() / 2);
  }
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
  Verdict verdict = check_output("h", set.h, shape_.cols, [&](std::uint64_t i) { return reference_->h(i); });
  auto expected = [&](std::uint64_t i) { return reference_->y(i); };
  if (precision_ == Precision::bf16) {
    verdict.add(check_output("y", set.y, shape_.cols, expected));
  } else {
    const HostMatrix elements = on_host(*set.y_elements), scales = on_host(*set.y_scales);
    verdict.add(check_quantised("y", precision_, shape_.rows, shape_.cols, std::as_bytes(std::span(elements)),
                                std::as_bytes(std::span(scales)), expected));
  }
  return verdict;
}

}  // namespace ladder
