// The mathematical library, float and double. Each result is within the function's documented error (CUDA C++
// Programming Guide, "Mathematical Functions") of the CPU's. Where the compiler builds the function from
// exact instructions alone its bits are shown too. Built with -fmad=false for the sake of those.
#include <algorithm>
#include <cmath>

#include "program.h"

constexpr int kCases = 1024;

enum Range { kAny, kSmall, kUnit, kPositive, kHuge, kGamma, kAboveOne };

template <typename T>
__host__ __device__ T argument(Range range, uint32_t i) {
  const T u = T(noise(i)) / T(4294967296.0), v = T(noise(i + 4000)) / T(4294967296.0);
  const T sign = noise(i + 8000) & 1 ? T(1) : T(-1);
  const int e = int(noise(i + 12000) % 60);
  const T scale = e < 30 ? T(1u << e) : T(1) / T(1u << (e - 30));
  switch (range) {
    case kAny:
      return sign * (1 + u) * scale;
    case kSmall:
      return sign * u * 20;
    case kUnit:
      return sign * u;
    case kPositive:
      return (1 + u) * scale;
    case kHuge:
      return sign * (1 + u) * scale * T(1u << 30) * T(1u << 30);
    case kGamma:
      return u * 20 + T(0.01);
    case kAboveOne:
      return 1 + u * scale + v;
  }
  return 0;
}

template <typename T>
struct Test {
  const char* name;
  void (*kernel)(T*);
  long double (*exact)(long double, long double);
  Range x, y;
  double ulp;  // documented error
  bool exact_bits;
};

template <typename T>
bool near(T got, long double want, double ulp) {
  if (std::isnan(want)) return std::isnan(got);
  const T nearest = T(want);
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest;
  const T unit = std::max(std::nextafter(std::fabs(nearest), T(INFINITY)) - std::fabs(nearest),
                          std::numeric_limits<T>::denorm_min());
  return std::fabs((long double)got - want) <= (ulp + 0.5) * unit;
}

template <typename T>
void run(const Test<T>& test) {
  Buffer<T> out(kCases);
  test.kernel<<<kCases / 128, 128>>>(out);
  LAUNCHED();
  const std::vector<T> got = out.download();
  bool ok = true;
  for (int i = 0; i < kCases; ++i) {
    const T x = argument<T>(test.x, i), y = argument<T>(test.y, i + 30000);
    ok &= near(got[i], test.exact(x, y), test.ulp);
  }
  if (test.exact_bits) show(test.name, got);
  expect(ok, test.name);
}

// A kernel, the CPU's function in long double, and a row of the table.
#define FUNCTION(T, id, device, cpu, rx, ry)                                             \
  __global__ void id(T* out) {                                                           \
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                            \
    const T x = argument<T>(rx, i), y = argument<T>(ry, i + 30000);                      \
    (void)y;                                                                             \
    out[i] = device;                                                                     \
  }                                                                                      \
  long double cpu_##id([[maybe_unused]] long double x, [[maybe_unused]] long double y) { \
    return cpu;                                                                          \
  }
#define ROW(T, id, rx, ry, ulp, bits)    \
  Test<T> {                              \
#id, id, cpu_##id, rx, ry, ulp, bits \
  }

// float: name, device code, CPU code, ranges of x and y, error, bits are exact
#define FLOATS(F)                                                                                           \
  F(float, f_exp, expf(x), expl(x), kSmall, kUnit, 2, false)                                                \
  F(float, f_exp2, exp2f(x), exp2l(x), kSmall, kUnit, 2, false)                                             \
  F(float, f_exp10, exp10f(x), powl(10, x), kSmall, kUnit, 2, false)                                        \
  F(float, f_expm1, expm1f(x), expm1l(x), kSmall, kUnit, 1, false)                                          \
  F(float, f_log, logf(x), logl(x), kPositive, kUnit, 1, true)                                              \
  F(float, f_log2, log2f(x), log2l(x), kPositive, kUnit, 1, true)                                           \
  F(float, f_log10, log10f(x), log10l(x), kPositive, kUnit, 2, true)                                        \
  F(float, f_log1p, log1pf(x), log1pl(x), kPositive, kUnit, 1, true)                                        \
  F(float, f_sin, sinf(x), sinl(x), kSmall, kUnit, 2, true)                                                 \
  F(float, f_cos, cosf(x), cosl(x), kAny, kUnit, 2, true)                                                   \
  F(float, f_tan, tanf(x), tanl(x), kAny, kUnit, 4, false)                                                  \
  F(float, f_sin_huge, sinf(x), sinl(x), kHuge, kUnit, 2, true)                                             \
  F(float, f_cos_huge, cosf(x), cosl(x), kHuge, kUnit, 2, true)                                             \
  F(float, f_sincos, sincos_of(x), sinl(x) * cosl(x), kSmall, kUnit, 5, true)                               \
  F(float, f_sinpi, sinpif(x), sinl(x * 3.14159265358979323846264338327950288L), kUnit, kUnit, 1, true)     \
  F(float, f_asin, asinf(x), asinl(x), kUnit, kUnit, 2, false)                                              \
  F(float, f_acos, acosf(x), acosl(x), kUnit, kUnit, 2, false)                                              \
  F(float, f_atan, atanf(x), atanl(x), kAny, kUnit, 2, false)                                               \
  F(float, f_atan2, atan2f(x, y), atan2l(x, y), kAny, kAny, 3, true)                                        \
  F(float, f_sinh, sinhf(x), sinhl(x), kSmall, kUnit, 3, false)                                             \
  F(float, f_cosh, coshf(x), coshl(x), kSmall, kUnit, 2, false)                                             \
  F(float, f_tanh, tanhf(x), tanhl(x), kSmall, kUnit, 2, false)                                             \
  F(float, f_asinh, asinhf(x), asinhl(x), kAny, kUnit, 3, false)                                            \
  F(float, f_acosh, acoshf(x), acoshl(x), kAboveOne, kUnit, 4, false)                                       \
  F(float, f_atanh, atanhf(x), atanhl(x), kUnit, kUnit, 3, false)                                           \
  F(float, f_pow, powf(x, y), powl(x, y), kPositive, kUnit, 4, false)                                       \
  F(float, f_cbrt, cbrtf(x), cbrtl(x), kAny, kUnit, 1, false)                                               \
  F(float, f_rsqrt, rsqrtf(x), 1 / sqrtl(x), kPositive, kUnit, 2, false)                                    \
  F(float, f_hypot, hypotf(x, y), hypotl(x, y), kAny, kAny, 3, true)                                        \
  F(float, f_erf, erff(x), erfl(x), kSmall, kUnit, 2, false)                                                \
  F(float, f_erfc, erfcf(x), erfcl(x), kUnit, kUnit, 4, false)                                              \
  F(float, f_tgamma, tgammaf(x), tgammal(x), kGamma, kUnit, 5, false)                                       \
  F(float, f_lgamma, lgammaf(x), lgammal(x), kAboveOne, kUnit, 6, false)                                    \
  F(float, f_fmod, fmodf(x, y), fmodl(x, y), kAny, kAny, 0, true)                                           \
  F(float, f_remainder, remainderf(x, y), remainderl(x, y), kAny, kAny, 0, true)                            \
  F(float, f_ldexp, ldexpf(x, int(y * 40)), ldexpl(x, int(y * 40)), kAny, kUnit, 0, true)                   \
  F(float, f_logb, logbf(x) + ilogbf(x), 2 * logbl(x), kAny, kUnit, 0, true)                                \
  F(float, f_frexp, frexp_of(x), frexp_of(float(x)), kAny, kUnit, 0, true)                                  \
  F(float, f_nextafter, nextafterf(x, y), nextafterf(float(x), float(y)), kAny, kAny, 0, true)              \
  F(float, f_fdim, fdimf(x, y), x > y ? float(x - y) : 0, kUnit, kUnit, 0, true)                            \
  F(float, f_j0, j0f(x), j0l(x), kUnit, kUnit, 9, false)                                                    \
  F(float, f_normcdf, normcdff(x), erfcl(-x * 0.70710678118654752440084436210484903928L) / 2, kUnit, kUnit, \
    5, false)                                                                                               \
  F(float, f_fast_sin, fabsf(__sinf(x) - sinf(x)) < 0x1p-20f, 1, kUnit, kUnit, 0, false)                    \
  F(float, f_fast_exp, fabsf(__expf(x) / expf(x) - 1) < 4e-6f, 1, kSmall, kUnit, 0, false)                  \
  F(float, f_fast_log, fabsf(__logf(x) - logf(x)) < 4e-6f, 1, kPositive, kUnit, 0, false)                   \
  F(float, f_fast_pow, fabsf(__powf(x, y) / powf(x, y) - 1) < 2e-5f, 1, kPositive, kUnit, 0, false)         \
  F(float, f_fast_divide, __fdividef(x, y), x / y, kAny, kAny, 2, false)                                    \
  F(float, f_fast_rsqrt, __frsqrt_rn(x), 1 / sqrtl(x), kPositive, kUnit, 0, false)

#define DOUBLES(F)                                                                                      \
  F(double, d_exp, exp(x), expl(x), kSmall, kUnit, 1, true)                                             \
  F(double, d_exp2, exp2(x), exp2l(x), kSmall, kUnit, 1, true)                                          \
  F(double, d_exp10, exp10(x), powl(10, x), kSmall, kUnit, 1, true)                                     \
  F(double, d_expm1, expm1(x), expm1l(x), kSmall, kUnit, 1, true)                                       \
  F(double, d_log, log(x), logl(x), kPositive, kUnit, 1, false)                                         \
  F(double, d_log2, log2(x), log2l(x), kPositive, kUnit, 1, false)                                      \
  F(double, d_log10, log10(x), log10l(x), kPositive, kUnit, 1, false)                                   \
  F(double, d_log1p, log1p(x), log1pl(x), kPositive, kUnit, 1, false)                                   \
  F(double, d_sin, sin(x), sinl(x), kSmall, kUnit, 2, true)                                             \
  F(double, d_cos, cos(x), cosl(x), kAny, kUnit, 2, true)                                               \
  F(double, d_tan, tan(x), tanl(x), kAny, kUnit, 2, false)                                              \
  F(double, d_sin_huge, sin(x), sinl(x), kHuge, kUnit, 2, true)                                         \
  F(double, d_cos_huge, cos(x), cosl(x), kHuge, kUnit, 2, true)                                         \
  F(double, d_sinpi, sinpi(x), sinl(x * 3.14159265358979323846264338327950288L), kUnit, kUnit, 2, true) \
  F(double, d_asin, asin(x), asinl(x), kUnit, kUnit, 2, false)                                          \
  F(double, d_acos, acos(x), acosl(x), kUnit, kUnit, 2, false)                                          \
  F(double, d_atan, atan(x), atanl(x), kAny, kUnit, 2, false)                                           \
  F(double, d_atan2, atan2(x, y), atan2l(x, y), kAny, kAny, 2, false)                                   \
  F(double, d_sinh, sinh(x), sinhl(x), kSmall, kUnit, 2, false)                                         \
  F(double, d_cosh, cosh(x), coshl(x), kSmall, kUnit, 1, false)                                         \
  F(double, d_tanh, tanh(x), tanhl(x), kSmall, kUnit, 1, false)                                         \
  F(double, d_asinh, asinh(x), asinhl(x), kAny, kUnit, 3, false)                                        \
  F(double, d_acosh, acosh(x), acoshl(x), kAboveOne, kUnit, 3, false)                                   \
  F(double, d_atanh, atanh(x), atanhl(x), kUnit, kUnit, 2, false)                                       \
  F(double, d_pow, pow(x, y), powl(x, y), kPositive, kSmall, 2, false)                                  \
  F(double, d_cbrt, cbrt(x), cbrtl(x), kAny, kUnit, 1, false)                                           \
  F(double, d_rsqrt, rsqrt(x), 1 / sqrtl(x), kPositive, kUnit, 1, false)                                \
  F(double, d_hypot, hypot(x, y), hypotl(x, y), kAny, kAny, 2, false)                                   \
  F(double, d_erf, erf(x), erfl(x), kSmall, kUnit, 2, false)                                            \
  F(double, d_erfc, erfc(x), erfcl(x), kUnit, kUnit, 5, false)                                          \
  F(double, d_tgamma, tgamma(x), tgammal(x), kGamma, kUnit, 10, false)                                  \
  F(double, d_lgamma, lgamma(x), lgammal(x), kAboveOne, kUnit, 4, false)                                \
  F(double, d_fmod, fmod(x, y), fmodl(x, y), kAny, kAny, 0, true)                                       \
  F(double, d_frexp, frexp_of(x), frexp_of(double(x)), kAny, kUnit, 0, true)

__host__ __device__ float frexp_of(float x) {
  int e;
  const float m = frexpf(x, &e);
  return m + float(e);
}
__host__ __device__ double frexp_of(double x) {
  int e;
  const double m = frexp(x, &e);
  return m + e;
}
__device__ float sincos_of(float x) {
  float s, c;
  sincosf(x, &s, &c);
  return s * c;
}

#define DEFINE(T, id, device, cpu, rx, ry, ulp, bits) FUNCTION(T, id, device, cpu, rx, ry)
#define LIST(T, id, device, cpu, rx, ry, ulp, bits) ROW(T, id, rx, ry, ulp, bits),
FLOATS(DEFINE)
DOUBLES(DEFINE)

int main() {
  const Test<float> floats[] = {FLOATS(LIST)};
  const Test<double> doubles[] = {DOUBLES(LIST)};
  for (const auto& test : floats) run(test);
  for (const auto& test : doubles) run(test);
  return finish();
}
