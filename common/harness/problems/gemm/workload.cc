#include "common/harness/problems/gemm/workload.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <utility>

#include "common/harness/base/failure.h"
#include "common/harness/base/parallel.h"
#include "common/harness/problems/check_output.h"
#include "common/harness/problems/gemm/library_reference.h"
#include "common/harness/verify/precision.h"

namespace ladder {

static Distribution distribution_of(Input input) {
  switch (input) {
    case Input::normal:
      break;
    case Input::integers:
      return {.kind = Distribution::Kind::integer, .limit = 3};
    case Input::ones:
      return {.mean = 1, .deviation = 0};
    case Input::zeros:
      return {.mean = 0, .deviation = 0};
  }
  return {};
}

GemmWorkload::GemmWorkload(const Gemm& shape, const Gemm& content, int sets, const InputOptions& options)
    : shape_(shape),
      content_(content),
      sets_count_(sets),
      seed_(options.seed),
      timed_(distribution_of(options.input)),
      outlier_(options.outlier),
      reference_kind_(options.reference),
      input_(input_text(options.input) +
             (options.outlier ? ", the last " + std::to_string(options.outlier) : "")) {}

Gemm GemmWorkload::problem(int set) const {
  const Set& s = sets_[set];
  Gemm p = shape_;
  if (precision_ == Precision::bf16) {
    p.a = s.a.data();
    p.b = s.b.data();
  }
  if (precision_ != Precision::bf16 || s.workspace) p.typed = s.typed.get();
  if (format_of(precision_).c == Number::bf16) p.c = s.c.data();
  return p;
}

Held<Gemm> GemmWorkload::held() const {
  Held<Gemm> held;
  for (int set = 0; set < sets_count_; ++set) {
    held.problems.push_back(problem(set));
    held.behind.insert(held.behind.end(), {sets_[set].workspace, sets_[set].typed});
  }
  return held;
}

// The same numbers in fp32 and, rounded, in bf16: they depend on the seed and the index alone.
void GemmWorkload::draw(const Drawn& wanted) {
  using Kind = GuardedBuffer::Kind;
  if (!drawn_ || drawn_->input_bytes != wanted.input_bytes || drawn_->output_bytes != wanted.output_bytes) {
    sets_.clear();
    for (int i = 0; i < sets_count_; ++i) {
      sets_.push_back({GuardedBuffer("A", Kind::input, area(shape_.m, shape_.k), wanted.input_bytes),
                       GuardedBuffer("B", Kind::input, area(shape_.k, shape_.n), wanted.input_bytes),
                       GuardedBuffer("C", Kind::output, area(shape_.m, shape_.n), wanted.output_bytes),
                       {},
                       {}});
      if (i == 0) continue;
      draw_inputs(sets_[i].a, sets_[i].b, timed_, timed_, seed_ + 1000 + 2 * i);
    }
  }
  draw_inputs(sets_[0].a, sets_[0].b, wanted);
  drawn_ = wanted;
  reference_of_.reset();
}

void GemmWorkload::draw_inputs(const GuardedBuffer& a, const GuardedBuffer& b, const Drawn& wanted) const {
  draw_inputs(a, b, wanted.a, wanted.b, seed_ + 2 * wanted.pass);
}

void GemmWorkload::draw_inputs(const GuardedBuffer& a, const GuardedBuffer& b, const Distribution& of_a,
                               const Distribution& of_b, std::uint64_t seed) const {
  fill(a, of_a, seed);
  fill(b, of_b, seed + 1);
  clear_outside(a, shape_.k, shape_.m, content_.k);
  clear_outside(b, shape_.n, content_.k, content_.n);
}

// What A and B are drawn from. First whole numbers up to 3, or the largest whose sums along k are exact;
// normal where k is too long for any. They are numbers of every type and, times a power of two, of e4m3; but
// a scale of nvfp4 is a third of something. So its pass is normal, too: an A that would all round to 0
// without the matrix's scale, and a B of which the blocks' scales would saturate.
//
// And one of fp8_block or fp8_tensor a 448th: of 7 times a power of two it is a power of two. So each block
// of fp8_block has a 7, and sums of it stay below 128 · 7 · 7 < 2^13; beyond it they are added in fp32, where
// the powers of two may differ by as much as there are bits left. In fp8_tensor each matrix has one 7, at its
// end. Without their scales all of that A would be 0, and of that B 0 or ±448.
//
// A column of bf16_s8 or bf16_e4m3 ends with 127 or 7 times a power of two, so that its scale is one.
//
// Of the normal ones the last may be an outlier: what it does to the others.
std::pair<Distribution, Distribution> GemmWorkload::distributions() const {
  using Kind = Distribution::Kind;
  constexpr int seven = 7;
  if (pass_ > 0 && !outlier_) return {timed_, timed_};
  Distribution a, b;
  auto end_with = [&](int largest) {
    auto end = [&](Distribution& d, int rows, int cols, int content_rows, int content_cols) {
      d.cols = d.block_cols = cols;
      d.block_rows = rows;
      d.row = content_rows - 1;
      d.col = content_cols - 1;
      d.largest = largest;
    };
    end(a, shape_.m, shape_.k, content_.m, content_.k);
    end(b, shape_.k, shape_.n, content_.k, content_.n);
  };
  if (pass_ > 0) end_with(outlier_);
  if (pass_ > 0 || precision_ == Precision::nvfp4_blocks) return {a, b};
  if (precision_ == Precision::nvfp4) {
    a.deviation = 0x1p-15f;
    b.deviation = 0x1p13f;
    return {a, b};
  }
  if (precision_ == Precision::fp8_block) {
    constexpr int block = BlockScales::block;
    const double left = 0x1p24 / (seven * seven * double(area(block, (shape_.k - 1) / block + 1)));
    if (left < 1) return {a, b};
    a = {.kind = Kind::blocks,
         .limit = seven,
         .spread = std::min(3, std::ilogb(left) / 2),
         .cols = shape_.k,
         .block_rows = 1,
         .block_cols = block,
         .largest = seven};
    b = a;
    b.cols = shape_.n;
    b.block_rows = block;
    return {a, b};
  }
  if (has_scaled_columns(precision_)) {
    const int largest = precision_ == Precision::bf16_s8 ? 127 : seven;
    const int limit = int(std::min(3.0, std::sqrt((0x1p24 - 3 * largest) / shape_.k)));
    if (limit == 0) return {a, b};
    a = {.kind = Kind::integer, .limit = limit};
    b = {.kind = Kind::blocks,
         .limit = limit,
         .spread = 3,
         .cols = shape_.n,
         .block_rows = shape_.k,
         .block_cols = 1,
         .row = content_.k - 1,
         .largest = largest};
    return {a, b};
  }
  const bool tensor = precision_ == Precision::fp8_tensor;
  const double largest_sum = std::ldexp(1.0, exact_bits(precision_)) - (tensor ? seven * seven : 0);
  const int limit = int(std::min(3.0, std::sqrt(largest_sum / shape_.k)));
  if (limit == 0) return {a, b};
  a = b = {.kind = tensor ? Kind::blocks : Kind::integer, .limit = limit};
  if (tensor) {
    a.lowest = -14;
    b.lowest = 12;
    end_with(seven);
  }
  return {a, b};
}

void GemmWorkload::choose(const Variant<Gemm>& variant) {
  const Extension<Gemm>& extension = extension_of(variant);
  precision_ = extension.precision;
  const auto [a, b] = distributions();
  const Drawn wanted{pass_, precision_ == Precision::bf16 ? sizeof(__nv_bfloat16) : sizeof(float),
                     std::size_t(bits_of(format_of(precision_).c)) / 8, a, b};
  if (drawn_ != wanted) draw(wanted);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    Set& set = sets_[i];
    set.workspace.reset();
    set.typed = std::make_shared<TypedOperands>();  // not the one before: it may be held
    if (precision_ != Precision::bf16)
      *set.typed = {set.a.as<float>(), set.b.as<float>(), set.c.as<void>(), nullptr};
    const std::size_t workspace_bytes = extension.workspace_bytes ? extension.workspace_bytes(shape_) : 0;
    if (workspace_bytes == 0) continue;
    set.workspace =
        std::make_shared<GuardedBuffer>("the workspace", GuardedBuffer::Kind::output, workspace_bytes, 1);
    set.workspace->poison();
    set.typed->workspace = set.workspace->as<void>();
    if (!extension.prepare) continue;
    check(extension.prepare(problem(int(i)), nullptr),
          std::string("preparing the operands of ") + variant.name);
  }
  // Timings are in a stream that does not wait for this one.
  check(cudaDeviceSynchronize(), std::string("preparing the operands of ") + variant.name);
  if (reference_of_ != precision_) compute_reference();
  reference_of_ = precision_;
}

void GemmWorkload::compute_reference() {
  exact_.clear();
  const Set& set = sets_[0];
  if (precision_ == Precision::bf16) {
    reference_.emplace(shape_, on_host(set.a), on_host(set.b), whole_numbers());
    if (reference_kind_ == Reference::cublas) {
      const std::vector<float> c = library_reference(std::vector{problem(0)});
      reference_c_.assign(c.begin(), c.end());
    }
  } else {
    std::vector<float> a(set.a.count()), b(set.b.count());
    set.a.copy_to_host(0, std::span(a));
    set.b.copy_to_host(0, std::span(b));
    round_matrix(precision_, Factor::a, a, shape_.m, shape_.k);
    round_matrix(precision_, Factor::b, b, shape_.k, shape_.n);
    if (reference_kind_ == Reference::cublas) reference_c_ = library_reference(shape_, a, b);
    reference_.emplace(shape_, precision_, std::move(a), std::move(b), whole_numbers());
  }
  if (reference_kind_ == Reference::cpu) reference_c_ = reference_->all();
}

void GemmWorkload::poison() const {
  // As s32 0x80808080 is further from 0 than any sum of products of 8 bits that does not overflow.
  sets_[0].c.poison(poison_byte(format_of(precision_).c == Number::s32));
}

std::vector<const GuardedBuffer*> GemmWorkload::outputs() const {
  return {&sets_[0].c};
}

template <class Act>
auto GemmWorkload::with_type_of_c(const Act& act) const {
  switch (format_of(precision_).c) {
    case Number::f16:
      return act(__half());
    case Number::fp32:  // NOLINT(bugprone-branch-clone): of types that differ
      return act(float());
    case Number::fp64:
      return act(double());
    case Number::s32:
      return act(std::int32_t());
    default:
      return act(__nv_bfloat16());
  }
}

namespace {

// The same elements are witnesses of every variant, and a column of B is slow to read.
struct Remembering {
  const GemmReference& reference;
  std::unordered_map<std::uint64_t, double>& known;
  double exact(std::uint64_t index) const {
    const auto [at, is_new] = known.try_emplace(index);
    if (is_new) at->second = reference.exact(index);
    return at->second;
  }
  Expected expected(std::uint64_t index, double value, int accumulations) const {
    return reference.expected(index, value, accumulations);
  }
};

}  // namespace

template <class T>
Verdict GemmWorkload::verify_as() const {
  const GuardedBuffer& c = sets_[0].c;
  // cuBLAS accumulates bf16 in fp32, too; everything else, and the CPU, in fp64.
  const bool as_the_kernel = precision_ == Precision::fp64 ||
                             (precision_ == Precision::bf16 && reference_kind_ == Reference::cublas);
  return check_product<T>(c, shape_.n, seed_, Remembering{*reference_, exact_}, reference_c_,
                          as_the_kernel ? 2 : 1, [&](std::uint64_t index, double value, int accumulations) {
                            return reference_->expected(index, value, accumulations);
                          });
}

Verdict GemmWorkload::verify(std::string& outside) const {
  outside = sets_[0].c.damage();
  if (outside.empty() && sets_[0].workspace) outside = sets_[0].workspace->damage();
  return with_type_of_c([&](auto zero) { return verify_as<decltype(zero)>(); });
}

template <class T>
GemmWorkload::RelativeErrors GemmWorkload::relative_errors_as() const {
  constexpr int most_lines = 32;  // rows of A, and as many columns of B, evenly spread
  const std::uint64_t n = shape_.n, k = shape_.k;
  const GuardedBuffer fp32_a("A in fp32", GuardedBuffer::Kind::input, area(shape_.m, shape_.k),
                             sizeof(float));
  const GuardedBuffer fp32_b("B in fp32", GuardedBuffer::Kind::input, area(shape_.k, shape_.n),
                             sizeof(float));
  draw_inputs(fp32_a, fp32_b, *drawn_);
  std::vector<float> a(k), b(fp32_b.count());
  fp32_b.copy_to_host(0, std::span(b));
  std::vector<T> c(n);
  const double unit = precision_ == Precision::s8 ? 0x1p-10 : 1;  // of C: the product of the scales
  const int rows = std::min(shape_.m, most_lines), cols = std::min(shape_.n, most_lines);
  double squares = 0, of_product = 0, of_sums = 0;
  for (int r = 0; r < rows; ++r) {
    const std::uint64_t row = std::uint64_t(r) * shape_.m / rows;
    fp32_a.copy_to_host(row * k, std::span(a));
    sets_[0].c.copy_to_host(row * n, std::span(c));
    for (int j = 0; j < cols; ++j) {
      const std::uint64_t col = std::uint64_t(j) * shape_.n / cols;
      long double sum = 0;
      for (std::uint64_t l = 0; l < k; ++l) sum += double(a[l]) * b[l * n + col];
      const double exact = double(sum), got = to_double(c[col]);
      of_product += std::pow(unit * got - exact, 2);
      of_sums += std::pow(unit * (got - reference_c_[row * n + col]), 2);
      squares += exact * exact;
    }
  }
  return {std::sqrt(of_product / squares), std::sqrt(of_sums / squares)};
}

GemmWorkload::RelativeErrors GemmWorkload::relative_errors() const {
  return with_type_of_c([&](auto zero) { return relative_errors_as<decltype(zero)>(); });
}

}  // namespace ladder
