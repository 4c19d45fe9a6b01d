// What the types do at the ends of their range: overflow, subnormals, infinity and NaN, through rounding,
// compression and the tensor core. What they do in between the harness verifies.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/extension.h"
#include "common/harness/verify/precision.h"

namespace ladder {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int m = 20, n = 16, k = 64;  // ragged in m

void succeed(cudaError_t error) {
  ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

template <class T>
T* on_device(const std::vector<T>& host) {
  void* device = nullptr;
  EXPECT_EQ(cudaMalloc(&device, host.size() * sizeof(T)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  return static_cast<T*>(device);
}

const Variant<Gemm>& named(const std::string& name) {
  for (const Variant<Gemm>& v : rung().gemm)
    if (v.name == name) return v;
  throw std::invalid_argument("no variant " + name);
}

// C[m,n] of a variant, as doubles.
template <class T>
std::vector<double> product_as(const Variant<Gemm>& variant, const std::vector<float>& a,
                               const std::vector<float>& b) {
  const Extension<Gemm>& extension = extension_of(variant);
  T* const c = on_device(std::vector<T>(m * n));
  TypedOperands typed{on_device(a), on_device(b), c, nullptr};
  Gemm p{m, n, k, nullptr, nullptr, nullptr, &typed};
  if (format_of(extension.precision).c == Number::bf16) p.c = reinterpret_cast<__nv_bfloat16*>(c);
  EXPECT_STREQ(variant.unsupported(p).c_str(), "");
  typed.workspace = on_device(std::vector<unsigned char>(extension.workspace_bytes(p)));
  succeed(extension.prepare(p, nullptr));
  succeed(variant.launch(p, nullptr));
  succeed(cudaDeviceSynchronize());
  std::vector<T> host(m * n);
  succeed(cudaMemcpy(host.data(), c, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  for (const void* q : {static_cast<const void*>(typed.a), static_cast<const void*>(typed.b),
                        static_cast<const void*>(c), static_cast<const void*>(typed.workspace)})
    cudaFree(const_cast<void*>(q));
  std::vector<double> wide;
  for (const T x : host) {
    if constexpr (std::is_same_v<T, double>) {
      wide.push_back(x);
    } else {
      wide.push_back(double(float(x)));
    }
  }
  return wide;
}

std::vector<double> product(const Variant<Gemm>& variant, const std::vector<float>& a,
                            const std::vector<float>& b) {
  switch (format_of(extension_of(variant).precision).c) {
    case Number::f16:
      return product_as<__half>(variant, a, b);
    case Number::fp32:
      return product_as<float>(variant, a, b);
    case Number::fp64:
      return product_as<double>(variant, a, b);
    case Number::s32:
      return product_as<std::int32_t>(variant, a, b);
    default:
      return product_as<__nv_bfloat16>(variant, a, b);
  }
}

// Zeros but for one element of A, which meets `b` in every column.
std::vector<double> alone(const Variant<Gemm>& variant, float x, float b) {
  std::vector<float> only(m * k), column(k * n);
  only[3 * k + 5] = x;
  for (int j = 0; j < n; ++j) column[5 * n + j] = b;
  const std::vector<double> c = product(variant, only, column);
  for (int i = 0; i < m * n; ++i)
    EXPECT_TRUE(i / n == 3 || c[i] == 0) << variant.name << ": of no row but the element's own";
  return {c.begin() + 3 * n, c.begin() + 4 * n};
}

std::vector<Variant<Gemm>> floating() {
  std::vector variants = {named("f16"), named("f16_f16"), named("tf32"), named("bf16_sparse")};
  for (const Variant<Gemm>& fp8 : {named("fp8"), named("fp8_e5m2")})
    if (!std::strstr(fp8.unsupported({m, n, k, nullptr, nullptr, nullptr}).c_str(), "compute capability"))
      variants.push_back(fp8);
  return variants;
}

TEST(Types, NanStaysInItsRow) {
  for (const Variant<Gemm>& variant : floating())
    for (const double c : alone(variant, nan, 1)) EXPECT_TRUE(std::isnan(c)) << variant.name;
}

TEST(Types, InfinityIsOneOrTheLargest) {
  for (const Variant<Gemm>& variant : floating()) {
    const Number number = format_of(extension_of(variant).precision).a;
    const double right = number == Number::e4m3 ? 448 : number == Number::e5m2 ? 57344 : infinity;
    for (const double c : alone(variant, infinity, 1)) EXPECT_EQ(c, right) << variant.name;
    for (const double c : alone(variant, -infinity, 1)) EXPECT_EQ(c, -right) << variant.name;
  }
}

// Every kernel rounds as the harness's definition of its precision does, also what is subnormal in the type,
// what is half-way and what is past its largest.
TEST(Types, RoundAsDefined) {
  for (const Variant<Gemm>& variant : floating()) {
    const Format format = format_of(extension_of(variant).precision);
    for (const float x :
         {1.0f,         0x1p-9f,      0x1.8p-10f,   0x1p-10f,    0x1p-16f,    0x1p-17f,    0x1.8p-17f,
          0x1p-24f,     0x1.8p-25f,   0x1p-25f,     1 + 0x1p-4f, 1 + 0x3p-4f, 1 + 0x1p-3f, 1 + 0x1p-8f,
          1 + 0x1p-11f, 1 + 0x3p-11f, 1 + 0x1p-12f, 448.0f,      464.0f,      465.0f,      500.0f,
          57344.0f,     61440.0f,     65504.0f,     65519.0f,    65520.0f,    70000.0f}) {
      std::vector<float> rounded{x};
      round_matrix(extension_of(variant).precision, Factor::a, rounded, 1, 1);
      // What C can hold of it.
      const double right = format.c == Number::f16    ? double(float(__float2half_rn(rounded[0])))
                           : format.c == Number::bf16 ? double(float(__float2bfloat16_rn(rounded[0])))
                                                      : double(rounded[0]);
      EXPECT_EQ(alone(variant, x, 1)[7], right) << variant.name << " of " << x;
    }
  }
}

// f16 accumulated in f16 is lost once an accumulator passes 65504, whatever comes after; in fp32 it is not.
TEST(Types, SumsInF16Overflow) {
  std::vector<float> a(m * k, 64), b(k * n, 64);
  for (int i = k / 2 * n; i < k * n; ++i) b[i] = -64;  // 32 products of 4096, then 32 of -4096
  for (const double c : product(named("f16"), a, b)) EXPECT_EQ(c, 0);
  for (const double c : product(named("f16_f16"), a, b)) EXPECT_FALSE(std::isfinite(c));
}

// And it loses what is less than half of an accumulator's last bit: 2048 + 1 = 2048.
TEST(Types, SumsInF16Stagnate) {
  std::vector<float> a(m * k, 1), b(k * n, 1);
  for (int j = 0; j < n; ++j) b[j] = 4096 - 63;
  for (const double c : product(named("f16"), a, b)) EXPECT_EQ(c, 4096);
  // In steps of 16: 4033 and 15, which is 4048, then 16 each.
  for (const double c : product(named("f16_f16"), a, b)) EXPECT_EQ(c, 4096);
  for (int j = 0; j < n; ++j) b[j] = 2048;
  for (int i = n; i < 16 * n; ++i) b[i] = 0;
  for (int i = 16 * n; i < k * n; ++i) b[i] = i / n % 16 == 0;  // three ones, each in a step of its own
  for (const double c : product(named("f16"), a, b)) EXPECT_EQ(c, 2052);  // 2051, to even
  for (const double c : product(named("f16_f16"), a, b)) EXPECT_EQ(c, 2048);
}

// And in fp64 nothing is lost that has 53 bits: of the factors, whose 24 bits pass 32, nor of a sum.
TEST(Types, Fp64KeepsWhatFp32Drops) {
  std::vector<float> a(m * k), b(k * n, 1);
  for (int i = 0; i < m; ++i) a[i * k + i] = 1 + 0x1p-23f, a[i * k + i + 40] = -0x1p-29f;
  const std::vector<double> c = product(named("fp64"), a, b);
  for (const double x : c) EXPECT_EQ(x, 1 + 0x1p-23 - 0x1p-29);
  for (const double x : alone(named("fp64"), nan, 1)) EXPECT_TRUE(std::isnan(x));
}

// Exact to the end of the range: k · 127², of both signs; and what is past ±127/32 is cut off.
TEST(Types, WholeNumbersAreCutOffAndSummedExactly) {
  const Variant<Gemm> s8 = named("s8");
  for (const double c : product(s8, std::vector<float>(m * k, 1000), std::vector<float>(k * n, -infinity)))
    EXPECT_EQ(c, -k * 127 * 127);
  for (const double c : alone(s8, nan, 1)) EXPECT_EQ(c, 0);
  EXPECT_EQ(alone(s8, 0.5f / 32, 1)[0], 0);  // to even
  EXPECT_EQ(alone(s8, 1.5f / 32, 1)[0], 2 * 32);
  Gemm longest{1, 16, 133136, nullptr, nullptr, nullptr};
  EXPECT_STREQ(s8.unsupported(longest).c_str(), "");
  longest.k += 16;
  EXPECT_NE(std::strstr(s8.unsupported(longest).c_str(), "2^31"), nullptr);
}

// The two largest of four are kept, wherever they are in a row; of equal ones the first.
TEST(Types, TheTwoLargestOfFourStay) {
  std::vector<float> a(m * k), b(k * n);
  for (int i = 0; i < m * k; ++i) a[i] = float((i * 2654435761u >> 12) % 9) - 4;  // many are equal
  for (int i = 0; i < k; ++i) b[i * n + i % n] = float(1 << i / n);  // four elements of a row to a column
  std::vector<float> pruned = a;
  round_matrix(Precision::bf16_sparse, Factor::a, pruned, m, k);
  const std::vector<double> c = product(named("bf16_sparse"), a, b);
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      double right = 0;
      for (int i = 0; i < k; ++i) right += double(pruned[row * k + i]) * b[i * n + col];
      EXPECT_EQ(c[row * n + col], right) << row << ", " << col;
    }
}

// The rung's kernel and the general one in bf16, which is that of stores_later, accumulate in the same
// order: C is the same to the last bit.
TEST(Types, TheGeneralKernelIsTheRung) {
  constexpr int rows = 130, cols = 264, depth = 200;
  std::vector<__nv_bfloat16> a(rows * depth), b(depth * cols), c[2];
  for (int i = 0; i < rows * depth; ++i)
    a[i] = __float2bfloat16_rn(float(i * 2654435761u >> 8) * 0x1p-24f - 0.5f);
  for (int i = 0; i < depth * cols; ++i)
    b[i] = __float2bfloat16_rn(float(i * 2246822519u >> 8) * 0x1p-24f - 0.5f);
  __nv_bfloat16* const operands[2] = {on_device(a), on_device(b)};
  for (const bool general : {false, true}) {
    c[general].resize(rows * cols);
    __nv_bfloat16* const on_gpu = on_device(c[general]);
    succeed(named(general ? "stores_later" : "swizzle_ldmatrix")
                .launch({rows, cols, depth, operands[0], operands[1], on_gpu}, nullptr));
    succeed(
        cudaMemcpy(c[general].data(), on_gpu, c[general].size() * sizeof *on_gpu, cudaMemcpyDeviceToHost));
    cudaFree(on_gpu);
  }
  for (__nv_bfloat16* operand : operands) cudaFree(operand);
  EXPECT_EQ(std::memcmp(c[0].data(), c[1].data(), c[0].size() * sizeof(__nv_bfloat16)), 0);
  EXPECT_NE(float(c[0].back()), 0);
}

// More NaN than two of four: no harm to the neighbours.
TEST(Types, AFourOfNanIsPrunedToo) {
  std::vector<float> a(m * k), b(k * n, 1);
  for (int i = 0; i < 4; ++i) a[2 * k + 8 + i] = nan;
  a[2 * k + 12] = a[3 * k] = 5;
  const std::vector<double> c = product(named("bf16_sparse"), a, b);
  for (int j = 0; j < n; ++j) {
    EXPECT_TRUE(std::isnan(c[2 * n + j]));
    EXPECT_EQ(c[1 * n + j], 0);
    EXPECT_EQ(c[3 * n + j], 5);
  }
}

}  // namespace
}  // namespace ladder
