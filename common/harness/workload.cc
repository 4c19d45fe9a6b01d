#include "common/harness/workload.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/device.h"
#include "common/harness/failure.h"

namespace ladder {
namespace {

constexpr std::uint64_t chunk_elements = std::uint64_t(1)
                                         << 25;  // copied to the host at a time: 64 MiB of bf16
constexpr int sampled_elements = 64;             // checked against fp64 on the CPU

std::uint64_t area(int x, int y) {
  return std::uint64_t(x) * std::uint64_t(y);
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
                     GuardedBuffer("C", Kind::output, area(shape.m, shape.n))});
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
  reference_.emplace(shape_, on_host(set.a), on_host(set.b), limit >= 1);
  reference_c_ = reference_kind_ == Reference::cpu ? reference_->all() : library_reference(problem(0));
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
                     GuardedBuffer("h", Kind::output, elements), GuardedBuffer("y", Kind::output, elements)});
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
  p.y = sets_[set].y.data();
  return p;
}

void NormWorkload::prepare(int pass) {
  const Set& set = sets_[0];
  const float small = 0.5f * std::sqrt(shape_.eps);  // mean of h² = eps / 2
  draw(set, pass == 0 ? small : 1.0f, seed_ + 3 * pass);
  reference_.emplace(shape_, on_host(set.x), on_host(set.residual), on_host(set.gamma));
}

void NormWorkload::poison() const {
  sets_[0].h.poison();
  sets_[0].y.poison();
}

std::vector<const GuardedBuffer*> NormWorkload::outputs() const {
  return {&sets_[0].h, &sets_[0].y};
}

Verdict NormWorkload::verify(std::string& outside) const {
  const Set& set = sets_[0];
  outside = set.h.damage();
  if (outside.empty()) outside = set.y.damage();
  Verdict verdict = check_output("h", set.h, shape_.cols, [&](std::uint64_t i) { return reference_->h(i); });
  verdict.add(check_output("y", set.y, shape_.cols, [&](std::uint64_t i) { return reference_->y(i); }));
  return verdict;
}

}  // namespace ladder
