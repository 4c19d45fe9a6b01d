#include "common/harness/workload.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/cublas.h"
#include "common/harness/failure.h"

namespace ladder {
namespace {

constexpr std::uint64_t chunk_elements = std::uint64_t(1)
                                         << 25;  // copied to the host at a time: 64 MiB of bf16
constexpr int sampled_elements = 64;             // checked against fp64 on the CPU

std::uint64_t area(int x, int y) {
  return std::uint64_t(x) * std::uint64_t(y);
}

std::vector<__nv_bfloat16> on_host(const GuardedBuffer& buffer) {
  std::vector<__nv_bfloat16> host(buffer.count());
  buffer.copy_to_host(0, host);
  return host;
}

// Row-major A·B in fp64, rounded to fp32 at the end.
std::vector<float> cpu_gemm(const Gemm& p, const std::vector<__nv_bfloat16>& a,
                            const std::vector<__nv_bfloat16>& b) {
  std::vector<float> wide_b(b.size()), out(area(p.m, p.n));
  std::transform(b.begin(), b.end(), wide_b.begin(), [](__nv_bfloat16 v) { return __bfloat162float(v); });
  parallel_slices(p.m, 1, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    std::vector<double> row(p.n);
    for (std::uint64_t i = begin; i < end; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int k = 0; k < p.k; ++k) {
        const double a_ik = __bfloat162float(a[i * p.k + k]);
        const float* b_k = &wide_b[area(k, p.n)];
        for (int j = 0; j < p.n; ++j) row[j] += a_ik * b_k[j];
      }
      std::copy(row.begin(), row.end(), &out[i * p.n]);
    }
  });
  return out;
}

}  // namespace

GemmWorkload::GemmWorkload(const Gemm& shape, int sets, std::uint64_t seed, Reference reference)
    : shape_(shape), seed_(seed), reference_kind_(reference), input_("normal(0,1)") {
  for (int i = 0; i < sets; ++i) {
    sets_.push_back({GuardedBuffer("A", GuardedBuffer::Kind::input, area(shape.m, shape.k)),
                     GuardedBuffer("B", GuardedBuffer::Kind::input, area(shape.k, shape.n)),
                     GuardedBuffer("C", GuardedBuffer::Kind::output, area(shape.m, shape.n))});
    const Distribution normal{Distribution::Kind::normal};
    fill(sets_[i].a, normal, seed + 1000 + 2 * i);
    fill(sets_[i].b, normal, seed + 1001 + 2 * i);
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
  Distribution d{Distribution::Kind::normal};
  exact_ = false;
  if (pass == 0) {  // the largest whole numbers, up to 3, whose sums stay exact; normal again where k is too
                    // long for any
    const int limit = int(std::min(3.0, std::sqrt(0x1p24 / shape_.k)));
    if (limit >= 1) {
      d = {Distribution::Kind::integer, 0, 0, limit};
      exact_ = true;
    }
  }
  const Set& set = sets_[0];
  fill(set.a, d, seed_ + 2 * pass);
  fill(set.b, d, seed_ + 2 * pass + 1);
  host_a_ = on_host(set.a);
  host_b_ = on_host(set.b);

  row_norm_a_.assign(shape_.m, 0);
  parallel_slices(shape_.m, 64, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      double squares = 0;
      for (int k = 0; k < shape_.k; ++k) {
        const double v = __bfloat162float(host_a_[i * shape_.k + k]);
        squares += v * v;
      }
      row_norm_a_[i] = std::sqrt(squares);
    }
  });
  col_norm_b_.assign(shape_.n, 0);
  parallel_slices(shape_.n, 64, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (int k = 0; k < shape_.k; ++k)
      for (std::uint64_t j = begin; j < end; ++j) {
        const double v = __bfloat162float(host_b_[area(k, shape_.n) + j]);
        col_norm_b_[j] += v * v;
      }
    for (std::uint64_t j = begin; j < end; ++j) col_norm_b_[j] = std::sqrt(col_norm_b_[j]);
  });

  if (reference_kind_ == Reference::cpu) {
    reference_ = cpu_gemm(shape_, host_a_, host_b_);
  } else {
    float* device = nullptr;
    const std::uint64_t elements = area(shape_.m, shape_.n);
    check(cudaMalloc(reinterpret_cast<void**>(&device), elements * sizeof(float)),
          "GPU memory for the reference");
    cublas_reference(problem(0), device);
    reference_.resize(elements);
    const cudaError_t copied =
        cudaMemcpy(reference_.data(), device, elements * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
    check(copied, "copying the reference to the host");
  }
}

void GemmWorkload::poison() const {
  sets_[0].c.poison();
}

Expected GemmWorkload::expected(std::uint64_t index, double reference) const {
  if (exact_) return {reference, 0};
  return {reference,
          accumulation_slack(shape_.k, row_norm_a_[index / shape_.n], col_norm_b_[index % shape_.n])};
}

Verdict GemmWorkload::verify(std::string& outside) const {
  const GuardedBuffer& c = sets_[0].c;
  outside = c.damage();
  Verdict verdict;
  std::vector<__nv_bfloat16> chunk;
  for (std::uint64_t first = 0; first < c.count(); first += chunk_elements) {
    chunk.resize(std::min(chunk_elements, c.count() - first));
    c.copy_to_host(first, chunk);
    verdict.add(check_elements("C", chunk, first, shape_.n, [&](std::uint64_t index) {
      Expected e = expected(index, reference_[index]);
      e.slack *= 2;  // the reference was accumulated in fp32, too
      return e;
    }));
  }

  // The second witness: fp64 on the CPU, at the corners and at random places.
  std::mt19937_64 random(seed_);
  Verdict witnessed;
  for (int sample = 0; sample < sampled_elements; ++sample) {
    const std::uint64_t corners[] = {0, std::uint64_t(shape_.n) - 1, c.count() - shape_.n, c.count() - 1};
    const std::uint64_t index = sample < 4 ? corners[sample] : random() % c.count();
    double exact = 0;
    for (int k = 0; k < shape_.k; ++k)
      exact += double(__bfloat162float(host_a_[index / shape_.n * shape_.k + k])) *
               double(__bfloat162float(host_b_[area(k, shape_.n) + index % shape_.n]));
    const Expected e = expected(index, exact);
    if (!(std::abs(reference_[index] - exact) <= e.slack + std::abs(exact) * 0x1p-24))
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
    fill(sets_[i].x, {Distribution::Kind::normal}, seed + 3 * i);
    fill(sets_[i].residual, {Distribution::Kind::normal}, seed + 3 * i + 1);
    fill(sets_[i].gamma, {Distribution::Kind::normal, 1, 0.25f}, seed + 3 * i + 2);
  }
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

void NormWorkload::prepare(int) {
  host_x_ = on_host(sets_[0].x);
  host_residual_ = on_host(sets_[0].residual);
  host_gamma_ = on_host(sets_[0].gamma);
}

void NormWorkload::poison() const {
  sets_[0].h.poison();
  sets_[0].y.poison();
}

Verdict NormWorkload::verify(std::string& outside) const {
  const Set& set = sets_[0];
  outside = set.h.damage();
  if (outside.empty()) outside = set.y.damage();

  const std::uint64_t cols = shape_.cols;
  auto h_at = [&](std::uint64_t i) {
    return round_to_bf16(__bfloat162float(host_x_[i]) + __bfloat162float(host_residual_[i]));
  };
  std::vector<double> scale(shape_.rows);  // 1 / rms of every row, fp64 on the rounded h
  parallel_slices(shape_.rows, 1, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t row = begin; row < end; ++row) {
      double squares = 0;
      for (std::uint64_t i = row * cols; i < (row + 1) * cols; ++i) {
        const double h = __bfloat162float(h_at(i));
        squares += h * h;
      }
      scale[row] = 1 / std::sqrt(squares / double(cols) + double(shape_.eps));
    }
  });

  auto check_output = [&](const char* name, const GuardedBuffer& output, const auto& expected) {
    Verdict verdict;
    std::vector<__nv_bfloat16> chunk;
    for (std::uint64_t first = 0; first < output.count(); first += chunk_elements) {
      chunk.resize(std::min(chunk_elements, output.count() - first));
      output.copy_to_host(first, chunk);
      verdict.add(check_elements(name, chunk, first, cols, expected));
    }
    return verdict;
  };
  Verdict verdict = check_output("h", set.h, [&](std::uint64_t i) {
    return Expected{__bfloat162float(h_at(i)), 0};
  });
  verdict.add(check_output("y", set.y, [&](std::uint64_t i) {
    const double y = __bfloat162float(h_at(i)) * scale[i / cols] * __bfloat162float(host_gamma_[i % cols]);
    return Expected{y, norm_slack(y, double(cols))};
  }));
  return verdict;
}

}  // namespace ladder
