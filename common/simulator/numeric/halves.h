// f16 and bf16: from and to f32, and handlers for instructions on them, one in a register or two (f16x2,
// bf16x2).
#pragma once

#include <bit>
#include <cstdint>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "common/simulator/decode/lanes.h"
#include "common/simulator/machine/warp.h"

namespace simulator {

// ---- One value

// To the nearest, ties to even. Plain integer and float operations, so that loops over it vectorise without
// F16C.
inline uint16_t to_f16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x), magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13;
  // Below 2^-14: the addition leaves a multiple of 2^-24, half's smallest step, in the low bits.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x47800000u ? 0x7c00u : half;
  half |= bits >> 16 & 0x8000u;
  return static_cast<uint16_t>(magnitude > 0x7f800000u ? 0x7fffu : half);
}
inline uint16_t to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}

template <class Half>
inline uint16_t flush_half(uint16_t x) {
  return (x & Half::exponent) == 0 ? x & 0x8000u : x;
}
template <class Half>
inline bool is_nan(uint16_t x) {
  return (x & 0x7fff) > Half::exponent;
}

// ---- Many: a multiple of 8

#ifdef __F16C__
inline void widen_f16(const uint16_t* from, float* to, int count) {
  for (int i = 0; i < count; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
}
inline void narrow_f16(const float* from, uint16_t* to, int count) {
  for (int i = 0; i < count; i += 8) {
    const __m256 x = _mm256_loadu_ps(from + i);
    const __m128i half = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m128i nan_half = _mm_packs_epi32(_mm256_castsi256_si128(nan), _mm256_extracti128_si256(nan, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_blendv_epi8(half, _mm_set1_epi16(0x7fff), nan_half));
  }
}
#else
inline void widen_f16(const uint16_t* from, float* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = from_f16(from[i]);
}
inline void narrow_f16(const float* from, uint16_t* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = to_f16(from[i]);
}
#endif

// f16 and bf16 as types, for templates.
struct F16 {
  static constexpr uint16_t exponent = 0x7c00;
  static constexpr float smallest = 0x1p-14f;  // that is normal
  static float widen(uint16_t x) { return from_f16(x); }
  static uint16_t narrow(float x) { return to_f16(x); }
  static void widen(const uint16_t* from, float* to, int count) { widen_f16(from, to, count); }
  static void narrow(const float* from, uint16_t* to, int count) { narrow_f16(from, to, count); }
};
struct Bf16 {
  static constexpr uint16_t exponent = 0x7f80;
  static constexpr float smallest = 0x1p-126f;
  static float widen(uint16_t x) { return from_bf16(x); }
  static uint16_t narrow(float x) { return to_bf16(x); }
  static void widen(const uint16_t* from, float* to, int count) {
    for (int i = 0; i < count; ++i) to[i] = from_bf16(from[i]);
  }
  static void narrow(const float* from, uint16_t* to, int count) {
    for (int i = 0; i < count; ++i) to[i] = to_bf16(from[i]);
  }
};

// ---- Handlers. A packed register is 64 halves in a row: lane l has 2l and 2l + 1.

template <bool packed, class F>
void write_halves(Warp& warp, uint32_t offset, F f) {
  constexpr int count = packed ? 2 * warp_size : warp_size;
  uint16_t* d = warp.reg<uint16_t>(offset);
  if (warp.full) {
    for (int i = 0; i < count; ++i) d[i] = f(i);
    return;
  }
  const uint32_t lanes = warp.exec;
  for (int i = 0; i < count; ++i) {
    const uint16_t result = f(i);
    d[i] = lanes >> (packed ? i / 2 : i) & 1 ? result : d[i];
  }
}

// d = Op::apply(a …) on bits.
template <class Op, int operands, bool packed>
void on_bits(Warp& warp, const Inst& inst) {
  const uint16_t* a = warp.reg<uint16_t>(inst.a);
  const uint16_t* b = warp.reg<uint16_t>(operands > 1 ? inst.b : inst.a);
  write_halves<packed>(warp, inst.d, [=](int i) -> uint16_t {
    if constexpr (operands == 1) {
      return Op::apply(a[i]);
    } else {
      return Op::apply(a[i], b[i]);
    }
  });
}

// d = Op::compute(a …) in f32, rounded. ftz: subnormal halves become zeroes, before and after.
template <class Op, class Half, int operands, bool packed, bool ftz, bool non_negative>
void in_float(Warp& warp, const Inst& inst) {
  constexpr int count = packed ? 2 * warp_size : warp_size;
  float in[operands][count];
  const uint32_t sources[] = {inst.a, inst.b, inst.c};
  for (int n = 0; n < operands; ++n) {
    Half::widen(warp.reg<uint16_t>(sources[n]), in[n], count);
    if constexpr (ftz)
      for (float& x : in[n]) x = x < Half::smallest && x > -Half::smallest ? x * 0.0f : x;
  }
  for (int i = 0; i < count; ++i) {
    if constexpr (operands == 1) in[0][i] = Op::compute(in[0][i]);
    if constexpr (operands == 2) in[0][i] = Op::compute(in[0][i], in[1][i]);
    if constexpr (operands == 3) in[0][i] = Op::compute(in[0][i], in[1][i], in[2][i]);
  }
  uint16_t out[count];
  Half::narrow(in[0], out, count);
  write_halves<packed>(warp, inst.d, [&out](int i) {
    uint16_t d = out[i];
    if constexpr (ftz) d = flush_half<Half>(d);
    if constexpr (non_negative) d = d >> 15 ? 0 : d;
    return d;
  });
}

}  // namespace simulator
