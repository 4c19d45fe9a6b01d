// __half and __nv_bfloat16, alone and in pairs: arithmetic, comparisons, conversions. Every 16-bit pattern is
// visited.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <type_traits>

#include "program.h"

constexpr int kAll = 65536;

__device__ uint16_t bits_of(__half x) {
  return __hisnan(x) ? 0x7fff : __half_as_ushort(x);
}
__device__ uint16_t bits_of(__nv_bfloat16 x) {
  return __hisnan(x) ? 0x7fff : __bfloat16_as_ushort(x);
}
template <typename H>
__device__ H from_bits(uint16_t bits) {
  if constexpr (std::is_same_v<H, __half>)
    return __ushort_as_half(bits);
  else
    return __ushort_as_bfloat16(bits);
}

constexpr int kResults = 18;

// Arithmetic of one number with a noisy other.
template <typename H>
__global__ void arithmetic(uint16_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const H a = from_bits<H>(uint16_t(i)), b = from_bits<H>(uint16_t(noise(i))),
          c = from_bits<H>(uint16_t(noise(i) >> 16));
  uint16_t v[kResults];
  int n = 0;
  v[n++] = bits_of(__hadd(a, b));
  v[n++] = bits_of(__hsub(a, b));
  v[n++] = bits_of(__hmul(a, b));
  v[n++] = bits_of(__hfma(a, b, c));
  v[n++] = bits_of(__hfma_relu(a, b, c));
  v[n++] = bits_of(__hadd_sat(a, b));
  v[n++] = bits_of(__hmul_sat(a, b));
  v[n++] = bits_of(__hfma_sat(a, b, c));
  v[n++] = bits_of(__hneg(a));
  v[n++] = bits_of(__habs(a));
  v[n++] = bits_of(__hmin(a, b));
  v[n++] = bits_of(__hmax(a, b));
  v[n++] = bits_of(__hmin_nan(a, b));
  v[n++] = bits_of(__hmax_nan(a, b));
  v[n++] = __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 | __hgt(a, b) << 4 |
           __hge(a, b) << 5 | __heq(a, a) << 6 | (__hisinf(a) != 0) << 7 | __hltu(a, b) << 8 |
           __hgeu(a, b) << 9 | __hneu(a, b) << 10;
  v[n++] = bits_of(hfloor(a)) ^ bits_of(hceil(a));
  v[n++] = bits_of(hrint(a)) ^ bits_of(htrunc(a));
  v[n++] = bits_of(__hadd_rn(__hmul_rn(a, b), c));  // never contracted
  for (int k = 0; k < kResults; ++k) out[k * kAll + i] = v[k];
}

// The same on pairs, which are instructions of their own.
template <typename H2, typename H>
__global__ void pairs(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  H2 a, b, c;
  a.x = from_bits<H>(uint16_t(i)), a.y = from_bits<H>(uint16_t(~i * 7));
  b.x = from_bits<H>(uint16_t(noise(i))), b.y = from_bits<H>(uint16_t(noise(i + 1)));
  c.x = from_bits<H>(uint16_t(noise(i) >> 16)), c.y = from_bits<H>(uint16_t(noise(i + 1) >> 16));
  const H2 results[8] = {__hadd2(a, b), __hsub2(a, b),     __hmul2(a, b), __hfma2(a, b, c),
                         __hmin2(a, b), __hmax2_nan(a, b), __hneg2(a),    __hfma2_relu(a, b, c)};
  for (int k = 0; k < 8; ++k)
    out[k * kAll + i] = uint32_t(bits_of(results[k].y)) << 16 | bits_of(results[k].x);
  out[8 * kAll + i] = __hgt2_mask(a, b) ^ (__heq2_mask(b, c) & 0x00ff00ffu);
  const H2 less = __hlt2(a, b);
  out[9 * kAll + i] = (uint32_t(bits_of(less.y)) << 16 | bits_of(less.x)) ^ (uint32_t(__hbge2(a, b)) << 3) ^
                      uint32_t(__hbneu2(b, c));
}

// Quotients and roots go by float: those are within one unit in the last place, and nearly all are the
// nearest.
template <typename H>
__global__ void conversions(uint32_t* out, uint32_t* worst) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const H a = from_bits<H>(uint16_t(i));
  const float wide = float(a);
  out[i] = isnan(wide) ? 0x7fc00000u : __float_as_uint(wide);
  const float f = __uint_as_float(i << 16 | (noise(i) & 0xffff));
  const double d = double(f) * 1.0000000001;
  H rn, rz, ru, rd, from_double;
  if constexpr (std::is_same_v<H, __half>) {
    rn = __float2half_rn(f), rz = __float2half_rz(f), ru = __float2half_ru(f), rd = __float2half_rd(f);
    from_double = __double2half(d);
  } else {
    rn = __float2bfloat16_rn(f), rz = __float2bfloat16_rz(f), ru = __float2bfloat16_ru(f),
    rd = __float2bfloat16_rd(f);
    from_double = __double2bfloat16(d);
  }
  out[kAll + i] = uint32_t(bits_of(rn)) << 16 | bits_of(rz);
  out[2 * kAll + i] = uint32_t(bits_of(ru)) << 16 | bits_of(rd);
  out[3 * kAll + i] = bits_of(from_double);
  uint32_t v[8];
  if constexpr (std::is_same_v<H, __half>) {
    v[0] = uint32_t(__half2int_rn(a)), v[1] = uint32_t(__half2int_rz(a)), v[2] = __half2uint_ru(a);
    v[3] = uint16_t(__half2short_rd(a)), v[4] = uint32_t(__half2ll_rn(a));
    v[5] = bits_of(__int2half_rn(int(noise(i)) >> (i % 32)));
    v[6] = bits_of(__uint2half_rz(noise(i) >> (i % 32)));
    v[7] = bits_of(__ll2half_ru(int64_t(noise64(i)) >> (i % 64)));
  } else {
    v[0] = uint32_t(__bfloat162int_rn(a)), v[1] = uint32_t(__bfloat162int_rz(a)),
    v[2] = __bfloat162uint_ru(a);
    v[3] = uint16_t(__bfloat162short_rd(a)), v[4] = uint32_t(__bfloat162ll_rn(a));
    v[5] = bits_of(__int2bfloat16_rn(int(noise(i)) >> (i % 32)));
    v[6] = bits_of(__uint2bfloat16_rz(noise(i) >> (i % 32)));
    v[7] = bits_of(__ll2bfloat16_ru(int64_t(noise64(i)) >> (i % 64)));
  }
  for (int k = 0; k < 8; ++k) out[(4 + k) * kAll + i] = v[k];

  const float x = fabsf(wide);
  if (isfinite(x) && x > 1e-3f && x < 1e3f) {
    const float digit = std::is_same_v<H, __half> ? 0x1p-10f : 0x1p-7f;
    const float root = float(hsqrt(__habs(a))), quotient = float(__hdiv(H(1.0f), __habs(a)));
    const float error = fmaxf(fabsf(root - sqrtf(x)) / sqrtf(x), fabsf(quotient - 1 / x) * x) / digit;
    atomicMax(worst, uint32_t(error * 1000));
  }
}

template <typename H, typename H2>
void test(const char* name) {
  Buffer<uint16_t> out(kResults * kAll);
  arithmetic<H><<<kAll / 256, 256>>>(out);
  LAUNCHED();
  const std::vector<uint16_t> results = out.download();
  for (int k = 0; k < kResults; ++k) {
    std::printf("%s %d, ", name, k);
    show("", &results[k * kAll], kAll);
  }
  Buffer<uint32_t> both(10 * kAll);
  pairs<H2, H><<<kAll / 256, 256>>>(both);
  LAUNCHED();
  const std::vector<uint32_t> pair_results = both.download();
  bool ok = true;
  for (int i = 0; i < kAll; ++i) ok &= uint16_t(pair_results[i]) == results[i];
  for (int k = 0; k < 10; ++k) {
    std::printf("%s pairs %d, ", name, k);
    show("", &pair_results[k * kAll], kAll);
  }
  expect(ok, "pairs agree with single numbers");

  Buffer<uint32_t> converted(12 * kAll), worst(1);
  conversions<H><<<kAll / 256, 256>>>(converted, worst);
  LAUNCHED();
  const std::vector<uint32_t> values = converted.download();
  for (int k = 0; k < 12; ++k) {
    std::printf("%s conversion %d, ", name, k);
    show("", &values[k * kAll], kAll);
  }
  for (uint32_t i = 0; i < kAll; ++i) {  // the host's own conversions, written in software
    const bool half = std::is_same_v<H, __half>;
    const float f = half ? __half2float(__half(__half_raw{uint16_t(i)}))
                         : __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{uint16_t(i)}));
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    ok &= std::isnan(f) ? values[i] == 0x7fc00000u : values[i] == bits;
  }
  expect(ok, "to float");
  expect(worst.download()[0] <= 1000, "quotients and roots within one unit");
}

int main() {
  test<__half, __half2>("half");
  test<__nv_bfloat16, __nv_bfloat162>("bfloat16");
  return finish();
}
