// How the lanes of a warp hold the matrices of mma (PTX ISA 9.7.14.5, "Matrix Fragments for …"), and their
// element types.
//
// All shapes but m8n8k4 of f16 follow one rule. With lane = 4g + t, and e elements to a register, the first
// in the lowest bits:
//   A  register r: row g + 8 · (r mod m/8), columns 4e · (r div m/8) + e·t + 0 … e − 1
//   B  register r: column g, rows 4e · r + e·t + 0 … e − 1
//   C, D of 32 and 64 bits  register r: row g + 8 · (r div 2), column 2t + r mod 2
//   C, D of 16 bits         register r: row g + 8r, columns 2t, 2t + 1
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/numeric/halves.h"
#include "common/simulator/tensor_core/tensor_core.h"

namespace simulator::fragments {

// Element types: `per` of them in a register, of which widen() gives one as a float. Terms are added in the
// order in which they lie in `Factors`: `together` neighbours of a lane, those of all lanes, then the next.
struct OfF16 {
  static constexpr int per = 2, together = 2, lowest = -14;
  static float widen(uint32_t word, int i) { return from_f16(static_cast<uint16_t>(word >> 16 * i)); }
};
struct OfBf16 {
  static constexpr int per = 2, together = 2, lowest = -126;
  static float widen(uint32_t word, int i) {
    return std::bit_cast<float>(i ? word & 0xffff0000u : word << 16);
  }
};
struct OfTf32 {  // the low 13 bits of an f32 are ignored
  static constexpr int per = 1, together = 1, lowest = -126;
  static float widen(uint32_t word, int) { return std::bit_cast<float>(word & 0xffffe000u); }
};
// There is no instruction for these before sm_89 nor in sm_90 and sm_100: ptxas converts the lower halves of
// all registers to f16, then the upper ones, and multiplies these.
struct OfE5m2 {
  static constexpr int per = 4, together = 2, lowest = -14;
  static float widen(uint32_t word, int i) {
    return from_f16(static_cast<uint16_t>((word >> 8 * i & 0xff) << 8));
  }
};
struct OfE4m3 {
  static constexpr int per = 4, together = 2, lowest = -14;
  static float widen(uint32_t word, int i) {  // an f16 with the exponent 8 less; all ones: NaN
    const uint32_t bits = word >> 8 * i & 0xff, magnitude = bits & 0x7f;
    const float value = from_f16(static_cast<uint16_t>(magnitude << 7)) * 0x1p8f;
    const uint32_t sign = (bits & 0x80) << 24;
    return std::bit_cast<float>((magnitude == 0x7f ? 0x7fffffffu : std::bit_cast<uint32_t>(value)) | sign);
  }
};
template <int bits, bool is_signed>
struct OfInteger {
  static constexpr int per = 32 / bits, together = per, lowest = 0;
  static float widen(uint32_t word, int i) {
    const uint32_t top = word << (32 - bits - bits * i);
    return static_cast<float>(is_signed ? static_cast<int32_t>(top) >> (32 - bits)
                                        : static_cast<int32_t>(top >> (32 - bits)));
  }
};

// Element i of eight registers.
template <class Of>
void widen_8(const uint32_t words[8], int i, float* to) {
  for (int g = 0; g < 8; ++g) to[g] = Of::widen(words[g], i);
}
template <>
inline void widen_8<OfF16>(const uint32_t words[8], int i, float* to) {
  uint16_t halves[8];
  for (int g = 0; g < 8; ++g) halves[g] = static_cast<uint16_t>(words[g] >> 16 * i);
  widen_f16(halves, to, 8);
}

// A (across = 16, `tiles` = m / 8) or B (8, one) from `count` registers.
template <class Of, int across>
void read(Warp& warp, const uint32_t* registers, int count, int tiles, Factors<across>& to) {
  const int deep = count / tiles * 4 * Of::per;  // k
  for (int r = 0; r < count; ++r) {
    uint32_t words[4][8];
    turn(warp.reg<uint32_t>(registers[r]), words);
    const int tile = r % tiles * 8, step = r / tiles;
    for (int t = 0; t < 4; ++t) {
      for (int i = 0; i < Of::per; ++i) {
        const int k = i / Of::together * (deep * Of::together / Of::per) + (4 * step + t) * Of::together +
                      i % Of::together;
        widen_8<Of>(words[t], i, to.value[k] + tile);
      }
    }
  }
  if (across == 16 && tiles == 1) {
    for (int k = 0; k < deep; ++k) std::fill_n(to.value[k] + 8, 8, 0.0f);
  }
}
using ReadA = void (*)(Warp&, const uint32_t*, int, int, Factors<16>&);
using ReadB = void (*)(Warp&, const uint32_t*, int, int, Factors<8>&);

// C from, and D to, 2 · tiles registers of 32 or 64 bits: matrix[column][row].
template <class T>
void read_results(Warp& warp, const uint32_t* registers, int tiles, T matrix[8][16]) {
  for (int r = 0; r < 2 * tiles; ++r) {
    T values[4][8];
    turn(warp.reg<T>(registers[r]), values);
    for (int t = 0; t < 4; ++t) {
      for (int g = 0; g < 8; ++g) matrix[2 * t + r % 2][r / 2 * 8 + g] = values[t][g];
    }
  }
}
template <class T>
void write_results(Warp& warp, const uint32_t* registers, int tiles, const T matrix[8][16]) {
  for (int r = 0; r < 2 * tiles; ++r) {
    T values[32];
    for (int g = 0; g < 8; ++g) {
      for (int t = 0; t < 4; ++t) values[4 * g + t] = matrix[2 * t + r % 2][r / 2 * 8 + g];
    }
    warp.write<T>(registers[r], [&](int l) { return values[l]; });
  }
}
// The accumulators of 16 × 8 floating-point results: four registers, or two of pairs of f16.
inline void read_accumulators(const std::byte* registers, const uint32_t* list, bool half, Accumulators& to) {
  if (!half) {
    for (int r = 0; r < 4; ++r) std::memcpy(to.value[r], registers + list[r], sizeof to.value[r]);
    return;
  }
  for (int r = 0; r < 2; ++r) {
    uint32_t words[32];
    std::memcpy(words, registers + list[r], sizeof words);
    for (int odd = 0; odd < 2; ++odd) {
      uint16_t halves[32];
      for (int l = 0; l < 32; ++l) halves[l] = static_cast<uint16_t>(words[l] >> 16 * odd);
      widen_f16(halves, to.value[2 * r + odd], 32);
    }
  }
}
inline void write_accumulators(std::byte* registers, const uint32_t* list, bool half,
                               const Accumulators& from) {
  if (!half) {
    for (int r = 0; r < 4; ++r) std::memcpy(registers + list[r], from.value[r], sizeof from.value[r]);
    return;
  }
  for (int r = 0; r < 2; ++r) {
    uint16_t halves[2][32];
    for (int odd = 0; odd < 2; ++odd) narrow_f16(from.value[2 * r + odd], halves[odd], 32);
    uint32_t words[32];
    for (int l = 0; l < 32; ++l) words[l] = halves[0][l] | static_cast<uint32_t>(halves[1][l]) << 16;
    std::memcpy(registers + list[r], words, sizeof words);
  }
}

}  // namespace simulator::fragments
