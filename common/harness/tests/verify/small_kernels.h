// A small gemm and a small norm on the CPU, right and wrong, with what the harness expects of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/harness/tests/verify/bf16_values.h"
#include "common/harness/verify/verify.h"

namespace ladder {

// Inputs, exact in bf16.
inline std::vector<float> normal(std::size_t count, unsigned seed, float mean = 0, float deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> values(count);
  for (float& v : values) v = wide(narrow(distribution(random)));
  return values;
}

inline std::vector<float> whole_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = float(int(random() % 7) - 3);
  return values;
}

// --- Ways to add up fp32 numbers -----------------------------------------------------------------

using Sum = std::function<float(const std::vector<float>&)>;

inline float sequential(const std::vector<float>& v) {
  float sum = 0;
  for (float x : v) sum += x;
  return sum;
}

inline float reversed(const std::vector<float>& v) {
  float sum = 0;
  for (auto x = v.rbegin(); x != v.rend(); ++x) sum += *x;
  return sum;
}

inline float pairwise(std::vector<float> v) {  // as a tree of shuffles does
  for (; v.size() > 1; v.resize((v.size() + 1) / 2))
    for (std::size_t i = 0; i < v.size() / 2; ++i) v[i] += v[v.size() - 1 - i];
  return v.empty() ? 0 : v[0];
}

inline std::vector<float> eight_parts(const std::vector<float>& v) {
  std::vector<float> parts(8, 0.0f);
  for (std::size_t i = 0; i < v.size(); ++i) parts[i * 8 / v.size()] += v[i];
  return parts;
}

inline float split_in_eight(const std::vector<float>& v) {
  return sequential(eight_parts(v));
}

// As a tensor core may: every addition cut off instead of rounded.
inline float truncated(const std::vector<float>& v) {
  float sum = 0;
  for (float x : v) {
    const double exact = double(sum) + double(x);
    sum = float(exact);
    if (std::abs(double(sum)) > std::abs(exact)) sum = std::nextafter(sum, 0.0f);
  }
  return sum;
}

inline float accumulated_in_bf16(const std::vector<float>& v) {
  float sum = 0;
  for (float x : v) sum = wide(narrow(sum + x));
  return sum;
}

inline float split_with_bf16_partials(const std::vector<float>& v) {
  std::vector<float> parts = eight_parts(v);
  for (float& part : parts) part = wide(narrow(part));
  return sequential(parts);
}

struct NamedSum {
  const char* name;
  Sum sum;
};
inline const NamedSum honest_sums[] = {{"sequential", sequential},
                                       {"reversed", reversed},
                                       {"pairwise", pairwise},
                                       {"split in eight", split_in_eight},
                                       {"truncated", truncated}};

// --- A small gemm and a small norm, with what the harness expects of them ------------------------

enum class Data { whole, normal };

struct SmallGemm {
  std::size_t m, n, k;
  Data data;
  std::vector<float> a, b;

  SmallGemm(std::size_t m_, std::size_t n_, std::size_t k_, Data data_, unsigned seed)
      : m(m_), n(n_), k(k_), data(data_) {
    a = data == Data::whole ? whole_numbers(m * k, seed) : normal(m * k, seed);
    b = data == Data::whole ? whole_numbers(k * n, seed + 1) : normal(k * n, seed + 1);
  }

  std::vector<float> products(std::size_t row, std::size_t col) const {
    std::vector<float> p(k);
    for (std::size_t i = 0; i < k; ++i) p[i] = a[row * k + i] * b[i * n + col];
    return p;
  }

  // `slacks`: 1 where the reference is fp64, 2 where it was accumulated in fp32 as well.
  std::vector<Expected> expected(int slacks = 1) const {
    std::vector<Expected> all;
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t col = 0; col < n; ++col) {
        double exact = 0, squares_a = 0, squares_b = 0;
        for (std::size_t i = 0; i < k; ++i) {
          const double x = a[row * k + i], y = b[i * n + col];
          exact += x * y;
          squares_a += x * x;
          squares_b += y * y;
        }
        const double slack =
            accumulation_slack(Precision::bf16, double(k), std::sqrt(squares_a), std::sqrt(squares_b));
        all.push_back({exact, data == Data::whole ? 0 : slacks * slack});
      }
    return all;
  }

  std::vector<bf16> computed(const Sum& sum, std::size_t terms_dropped = 0) const {
    std::vector<bf16> c;
    for (std::size_t row = 0; row < m; ++row)
      for (std::size_t col = 0; col < n; ++col) {
        std::vector<float> p = products(row, col);
        p.resize(k - terms_dropped);
        c.push_back(narrow(sum(p)));
      }
    return c;
  }

  Verdict check(const std::vector<bf16>& c, int slacks = 1) const {
    return check_all(c, expected(slacks), n);
  }
};

// What a wrong norm leaves out, and what a right one may do differently.
struct NormKernel {
  Sum sum = sequential;
  bool eps = true, gamma = true, rounded_h = true;
  std::size_t fewer_cols = 0;  // the mean is taken over cols - fewer_cols
  int rsqrt_ulps = 0;          // how far the hardware's rsqrt is off
};

struct SmallNorm {
  std::size_t rows, cols;
  std::vector<float> x, residual, gamma;
  float eps = 1e-5f;

  SmallNorm(std::size_t rows_, std::size_t cols_, unsigned seed, float deviation = 1)
      : rows(rows_),
        cols(cols_),
        x(normal(rows * cols, seed, 0, deviation)),
        residual(normal(rows * cols, seed + 1, 0, deviation)),
        gamma(normal(cols, seed + 2, 1, 0.25f)) {}

  float h(std::size_t i) const { return wide(narrow(x[i] + residual[i])); }

  std::vector<Expected> expected() const {
    std::vector<Expected> all;
    for (std::size_t row = 0; row < rows; ++row) {
      double squares = 0;
      for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) squares += double(h(i)) * double(h(i));
      const double scale = 1 / std::sqrt(squares / double(cols) + double(eps));
      for (std::size_t col = 0; col < cols; ++col) {
        const double y = double(h(row * cols + col)) * scale * double(gamma[col]);
        all.push_back({y, norm_slack(y, double(cols))});
      }
    }
    return all;
  }

  std::vector<bf16> computed(const NormKernel& kernel) const {
    std::vector<bf16> y;
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<float> squares;
      for (std::size_t i = row * cols; i < (row + 1) * cols; ++i) {
        const float v = kernel.rounded_h ? h(i) : x[i] + residual[i];
        squares.push_back(v * v);
      }
      const float mean = kernel.sum(squares) / float(cols - kernel.fewer_cols);
      float scale = 1 / std::sqrt(mean + (kernel.eps ? eps : 0));
      for (int ulp = 0; ulp < std::abs(kernel.rsqrt_ulps); ++ulp)
        scale = std::nextafter(scale, kernel.rsqrt_ulps > 0 ? 2 * scale : 0);
      for (std::size_t col = 0; col < cols; ++col)
        y.push_back(narrow(h(row * cols + col) * scale * (kernel.gamma ? gamma[col] : 1)));
    }
    return y;
  }

  Verdict check(const NormKernel& kernel) const { return check_all(computed(kernel), expected(), cols); }
};

}  // namespace ladder
