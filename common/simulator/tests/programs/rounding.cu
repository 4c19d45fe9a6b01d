// float and double arithmetic in the four rounding modes, conversions, and the special values. Built with
// -fmad=false: which products and sums become one fma is the compiler's choice, and bits are compared here.
#include <cfenv>
#include <cmath>
#include <limits>

#include "program.h"

constexpr int kCases = 4096;

__host__ __device__ float float_of(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
#endif
}
__host__ __device__ double double_of(uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(bits);
#else
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
#endif
}

// Zeros, subnormals, ones, extremes, infinities and NaN, numbers of like size, and any bits.
__host__ __device__ float single(uint32_t i) {
  const uint32_t r = noise(i), sign = r & 0x80000000u;
  const uint32_t corners[10] = {0,          1,          0x7fffff,   0x800000,   0x3f800000,
                                0x7f7fffff, 0x7f800000, 0x7fc00000, 0x3f7fffff, 0x4b800001};
  if (i % 5 == 0) return float_of(sign | corners[noise(i + 1) % 10]);
  if (i % 5 < 3) return float_of(sign | (0x3c000000u + r % 0x07000000u));
  return float_of(r);
}
__host__ __device__ double binary64(uint32_t i) {
  const uint64_t r = noise64(i), sign = r & (1ull << 63);
  const uint64_t corners[10] = {0,
                                1,
                                (1ull << 52) - 1,
                                1ull << 52,
                                0x3ffull << 52,
                                0x7fefffffffffffffull,
                                0x7ffull << 52,
                                0x7ff8ull << 48,
                                0x3fefffffffffffffull,
                                0x4340000000000001ull};
  if (i % 5 == 0) return double_of(sign | corners[noise(i + 1) % 10]);
  if (i % 5 < 3) return double_of(sign | ((0x3f0ull << 52) + r % (0x20ull << 52)));
  return double_of(r);
}

// A NaN's payload is not specified in double precision.
__device__ uint64_t bits_of(double x) {
  return isnan(x) ? 0x7ff8ull << 48 : __double_as_longlong(x);
}
__device__ uint32_t bits_of(float x) {
  return isnan(x) ? 0x7fc00000u : __float_as_uint(x);
}

constexpr int kModes = 4, kKinds = 6;  // add, sub (as add), mul, fma, div, rcp, sqrt

__global__ void singles(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = single(i), b = single(i + 20000), c = single(i + 40000), p = fabsf(a);
  uint32_t* v = out + i * kModes * kKinds;
  v[0] = bits_of(__fadd_rn(a, b)), v[1] = bits_of(__fadd_rz(a, b)), v[2] = bits_of(__fadd_ru(a, b)),
  v[3] = bits_of(__fadd_rd(a, b));
  v[4] = bits_of(__fmul_rn(a, b)), v[5] = bits_of(__fmul_rz(a, b)), v[6] = bits_of(__fmul_ru(a, b)),
  v[7] = bits_of(__fmul_rd(a, b));
  v[8] = bits_of(__fmaf_rn(a, b, c)), v[9] = bits_of(__fmaf_rz(a, b, c)), v[10] = bits_of(__fmaf_ru(a, b, c)),
  v[11] = bits_of(__fmaf_rd(a, b, c));
  v[12] = bits_of(__fdiv_rn(a, b)), v[13] = bits_of(__fdiv_rz(a, b)), v[14] = bits_of(__fdiv_ru(a, b)),
  v[15] = bits_of(__fdiv_rd(a, b));
  v[16] = bits_of(__frcp_rn(a)), v[17] = bits_of(__frcp_rz(a)), v[18] = bits_of(__frcp_ru(a)),
  v[19] = bits_of(__frcp_rd(a));
  v[20] = bits_of(__fsqrt_rn(p)), v[21] = bits_of(__fsqrt_rz(p)), v[22] = bits_of(__fsqrt_ru(p)),
  v[23] = bits_of(__fsqrt_rd(p));
}

__global__ void doubles(uint64_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const double a = binary64(i), b = binary64(i + 20000), c = binary64(i + 40000), p = fabs(a);
  uint64_t* v = out + i * kModes * kKinds;
  v[0] = bits_of(__dadd_rn(a, b)), v[1] = bits_of(__dadd_rz(a, b)), v[2] = bits_of(__dadd_ru(a, b)),
  v[3] = bits_of(__dadd_rd(a, b));
  v[4] = bits_of(__dmul_rn(a, b)), v[5] = bits_of(__dmul_rz(a, b)), v[6] = bits_of(__dmul_ru(a, b)),
  v[7] = bits_of(__dmul_rd(a, b));
  v[8] = bits_of(__fma_rn(a, b, c)), v[9] = bits_of(__fma_rz(a, b, c)), v[10] = bits_of(__fma_ru(a, b, c)),
  v[11] = bits_of(__fma_rd(a, b, c));
  v[12] = bits_of(__ddiv_rn(a, b)), v[13] = bits_of(__ddiv_rz(a, b)), v[14] = bits_of(__ddiv_ru(a, b)),
  v[15] = bits_of(__ddiv_rd(a, b));
  v[16] = bits_of(__drcp_rn(a)), v[17] = bits_of(__drcp_rz(a)), v[18] = bits_of(__drcp_ru(a)),
  v[19] = bits_of(__drcp_rd(a));
  v[20] = bits_of(__dsqrt_rn(p)), v[21] = bits_of(__dsqrt_rz(p)), v[22] = bits_of(__dsqrt_ru(p)),
  v[23] = bits_of(__dsqrt_rd(p));
}

// Both kernels against the CPU where it is exact too: round to nearest.
template <typename T, typename Bits>
bool nearest(const std::vector<Bits>& got, T (*operand)(uint32_t)) {
  bool ok = true;
  for (uint32_t i = 0; i < kCases; ++i) {
    const T a = operand(i), b = operand(i + 20000), c = operand(i + 40000);
    const T want[6] = {a + b, a * b, std::fma(a, b, c), a / b, T(1) / a, std::sqrt(std::fabs(a))};
    for (int k = 0; k < 6; ++k) {
      T value;
      std::memcpy(&value, &got[i * kModes * kKinds + k * kModes], sizeof(T));
      ok &= std::isnan(want[k]) ? std::isnan(value) : std::memcmp(&value, &want[k], sizeof(T)) == 0;
    }
  }
  return ok;
}

void test_rounding() {
  const char* names[] = {"add", "mul", "fma", "div", "rcp", "sqrt"};
  const char* modes[] = {"rn", "rz", "ru", "rd"};
  Buffer<uint32_t> out(kCases * 24);
  singles<<<kCases / 128, 128>>>(out);
  LAUNCHED();
  Buffer<uint64_t> wide(kCases * 24);
  doubles<<<kCases / 128, 128>>>(wide);
  LAUNCHED();
  const std::vector<uint32_t> got = out.download();
  const std::vector<uint64_t> got_wide = wide.download();
  for (int k = 0; k < 24; ++k) {
    std::vector<uint32_t> column;
    std::vector<uint64_t> wide_column;
    for (int i = 0; i < kCases; ++i) {
      column.push_back(got[i * 24 + k]);
      wide_column.push_back(got_wide[i * 24 + k]);
    }
    std::printf("%s.%s ", names[k / 4], modes[k % 4]);
    show("float", column, 6);
    std::printf("%s.%s ", names[k / 4], modes[k % 4]);
    show("double", wide_column, 3);
  }
  expect(nearest<float>(got, single), "float, to nearest");
  expect(nearest<double>(got_wide, binary64), "double, to nearest");
}

constexpr int kConversions = 44;

__global__ void conversions(uint64_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const float f = single(i), g = single(i + 3);
  const double d = binary64(i), e = binary64(i + 3);
  const uint64_t n = noise64(i) >> (i % 64);
  uint64_t v[kConversions];
  int k = 0;
  v[k++] = uint32_t(__float2int_rn(f));
  v[k++] = uint32_t(__float2int_rz(f));
  v[k++] = uint32_t(__float2int_ru(f));
  v[k++] = uint32_t(__float2int_rd(f));
  v[k++] = __float2uint_rn(f);
  v[k++] = __float2uint_rz(f);
  v[k++] = __float2uint_ru(f);
  v[k++] = __float2uint_rd(f);
  v[k++] = __float2ll_rn(f);
  v[k++] = __float2ll_rz(f);
  v[k++] = __float2ull_ru(f);
  v[k++] = __float2ull_rd(f);
  v[k++] = uint32_t(__double2int_rn(d));
  v[k++] = uint32_t(__double2int_rz(d));
  v[k++] = __double2uint_ru(d);
  v[k++] = __double2uint_rd(d);
  v[k++] = __double2ll_rn(d);
  v[k++] = __double2ll_rd(d);
  v[k++] = __double2ull_rz(d);
  v[k++] = __double2ull_ru(d);
  v[k++] = bits_of(__double2float_rn(d));
  v[k++] = bits_of(__double2float_rz(d));
  v[k++] = bits_of(__double2float_ru(d));
  v[k++] = bits_of(__double2float_rd(d));
  v[k++] = bits_of(double(f));
  v[k++] = bits_of(__int2float_rn(int(n)));
  v[k++] = bits_of(__int2float_rz(int(n)));
  v[k++] = bits_of(__uint2float_ru(uint32_t(n)));
  v[k++] = bits_of(__ll2float_rn(int64_t(n)));
  v[k++] = bits_of(__ll2float_rd(int64_t(n)));
  v[k++] = bits_of(__ull2float_rn(n));
  v[k++] = bits_of(__ull2float_rz(n));
  v[k++] = bits_of(__ll2double_rn(int64_t(n)));
  v[k++] = bits_of(__ull2double_ru(n));
  v[k++] = bits_of(double(int32_t(n)));
  v[k++] = bits_of(rintf(f)) ^ uint64_t(bits_of(truncf(f))) << 32;
  v[k++] = bits_of(floorf(f)) ^ uint64_t(bits_of(ceilf(f))) << 32;
  v[k++] = bits_of(rint(d)) ^ bits_of(trunc(d)) >> 1;
  v[k++] = bits_of(floor(d)) ^ bits_of(ceil(d)) >> 1;
  v[k++] = bits_of(roundf(f)) ^ bits_of(round(d));
  v[k++] = bits_of(fminf(f, g)) ^ uint64_t(bits_of(fmaxf(f, g))) << 32;
  v[k++] = bits_of(fmin(d, e)) ^ bits_of(fmax(d, e)) >> 1;
  v[k++] = bits_of(copysignf(f, g)) ^ uint64_t(bits_of(__saturatef(f))) << 32;
  v[k++] = (f < g) | (f <= g) << 1 | (f == g) << 2 | (f != g) << 3 | isnan(f) << 4 | isinf(f) << 5 |
           signbit(f) << 6 | (d < e) << 8 | (d <= e) << 9 | (d == e) << 10 | (d != e) << 11 | isnan(d) << 12 |
           isinf(d) << 13 | !(f >= g) << 14 | !(d > e) << 15;
  for (int j = 0; j < kConversions; ++j) out[j * kCases + i] = v[j];
}

void test_conversions() {
  Buffer<uint64_t> out(kConversions * kCases);
  conversions<<<kCases / 128, 128>>>(out);
  LAUNCHED();
  const std::vector<uint64_t> got = out.download();
  bool ok = true;
  for (uint32_t i = 0; i < kCases; ++i) {
    const float f = single(i);
    const double d = binary64(i);
    if (std::fabs(f) < 2e9f)
      ok &= got[i] == uint32_t(int(std::nearbyint(f))) && got[kCases + i] == uint32_t(int(f));
    float narrow = float(d);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    if (!std::isnan(d)) ok &= got[20 * kCases + i] == bits;
  }
  for (int k = 0; k < kConversions; ++k) {
    std::printf("conversion %d, ", k);
    show("", &got[k * kCases], kCases, 5);
  }
  expect(ok, "conversions");
}

// Flags of the compiler aside, this is a chain of exact operations: a compensated sum and Newton's square
// root.
__global__ void chains(float* sums, double* roots) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0, error = 0;
  for (uint32_t k = 0; k < 100; ++k) {
    const float x = float(noise(i * 100 + k) >> 8) * 0x1p-24f - 0.25f;
    const float y = x - error, t = sum + y;
    error = (t - sum) - y;
    sum = t;
  }
  sums[i] = sum;
  const double target = 1 + i * 0.5;
  double root = target;
  for (int k = 0; k < 12; ++k) root = 0.5 * (root + target / root);
  roots[i] = root;
}

void test_chains() {
  Buffer<float> sums(512);
  Buffer<double> roots(512);
  chains<<<4, 128>>>(sums, roots);
  LAUNCHED();
  const std::vector<float> s = sums.download();
  const std::vector<double> r = roots.download();
  bool ok = true;
  for (uint32_t i = 0; i < 512; ++i) {
    double exact = 0;
    for (uint32_t k = 0; k < 100; ++k) exact += float(noise(i * 100 + k) >> 8) * 0x1p-24f - 0.25f;
    ok &= s[i] == float(exact) && std::fabs(r[i] * r[i] / (1 + i * 0.5) - 1) < 1e-15;
  }
  show("compensated sums", s);
  show("roots", r);
  expect(ok, "chains");
}

int main() {
  test_rounding();
  test_conversions();
  test_chains();
  return finish();
}
