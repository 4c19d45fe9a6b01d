// The inputs of float_ops, for the program itself and for tests that compare a simulator with what hardware
// gave: case i's operand number n of a kind of value is a function of (kind, n, i) alone. The first cases are
// edge values (for two operands: each with each), those after them are pseudo-random bits of several shapes.
#pragma once

#include <cstdint>

namespace float_ops {

enum class Kind {
  none,
  f32,
  f64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  e4m3x2,
  e5m2x2,
  s8,
  u8,
  s16,
  u16,
  s32,
  u32,
  s64,
  u64
};

constexpr int kind_count = 17;
inline const char* name_of(Kind kind) {
  constexpr const char* names[kind_count] = {"",       "f32",    "f64",    "f16", "bf16", "f16x2",
                                             "bf16x2", "e4m3x2", "e5m2x2", "s8",  "u8",   "s16",
                                             "u16",    "s32",    "u32",    "s64", "u64"};
  return names[static_cast<int>(kind)];
}

struct Format {
  int exponent_bits, mantissa_bits;
};
inline Format format(Kind kind) {
  switch (kind) {
    case Kind::f32:
      return {8, 23};
    case Kind::f64:
      return {11, 52};
    case Kind::f16:
    case Kind::f16x2:
      return {5, 10};
    default:
      return {8, 7};
  }
}

inline uint64_t mix(uint64_t x) {  // a bijection that scatters bits (xor-shift and multiply)
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// value · 2^exponent, |value| < 2^53, rounded towards zero to the format (not for subnormal or too large
// results).
inline uint64_t pack(Format f, bool negative, uint64_t value, int exponent) {
  const int width = 1 + f.exponent_bits + f.mantissa_bits, bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint64_t sign = static_cast<uint64_t>(negative) << (width - 1);
  if (value == 0) return sign;
  int top = 63;
  while (!(value >> top & 1)) --top;
  const uint64_t mantissa = value << (63 - top) << 1;  // without the leading one, at the top of 64 bits
  int biased = top + exponent + bias;
  const int largest = (1 << f.exponent_bits) - 2;
  if (biased < 1) biased = 1;
  if (biased > largest) biased = largest;
  return sign | static_cast<uint64_t>(biased) << f.mantissa_bits | mantissa >> (64 - f.mantissa_bits);
}

// The edge values that meet each other in two-operand cases.
inline int edge_count() {
  return 13;
}
inline uint64_t edge(Format f, int index) {
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const uint64_t sign = uint64_t{1} << (width - 1), one = uint64_t{1} << f.mantissa_bits, mantissa = one - 1;
  const uint64_t infinity = ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
  switch (index) {
    case 0:
      return 0;
    case 1:
      return sign;
    case 2:
      return pack(f, false, 1, 0);
    case 3:
      return pack(f, true, 1, 0);
    case 4:
      return infinity;
    case 5:
      return sign | infinity;
    case 6:
      return sign | infinity | one >> 1 | 5;  // a quiet NaN with a payload
    case 7:
      return infinity | 3;  // a signalling NaN
    case 8:
      return 1;  // the smallest subnormal
    case 9:
      return sign | mantissa;  // the largest subnormal
    case 10:
      return one;  // the smallest normal
    case 11:
      return infinity - 1;  // the largest finite value
    default:
      return pack(f, true, 3, -1);  // -1.5
  }
}

// Further values for one-operand cases: value · 2^exponent, both signs.
struct Scaled {
  uint64_t value;
  int exponent;
};
inline int scaled_count() {
  return 44;
}
inline Scaled scaled(int index) {
  constexpr Scaled values[] = {
      {1, -1},         {3, -1},        {5, -1},         {7, -1},        {0xffffff, -25}, {0x1fffffff, -30},
      {127, 0},        {255, -1},      {128, 0},        {257, -1},      {255, 0},        {511, -1},
      {256, 0},        {32767, 0},     {65535, -1},     {65535, 0},     {131071, -1},    {65504, 0},
      {65519, 0},      {65520, 0},     {0x7fffff80, 0}, {1, 31},        {0xffffff, 8},   {0x1fffffff, 3},
      {1, 32},         {0xffffff, 39}, {1, 63},         {0xffffff, 40}, {1, 64},         {448, 0},
      {464, 0},        {465, 0},       {57344, 0},      {61440, 0},     {1, -10},        {3, -11},
      {1, -14},        {1, -15},       {1, -24},        {3, -26},       {1, -126},       {1, 15},
      {0x3243f7, -20}, {100, 0}};
  return values[index];
}

inline uint64_t random_float(Format f, int operand, int index) {
  const uint64_t h = mix(static_cast<uint64_t>(index) * 4 + static_cast<uint64_t>(operand));
  const uint64_t r = mix(h);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int shape = static_cast<int>(h & 15);
  if (shape == 0) return edge(f, static_cast<int>(h >> 8) % edge_count());
  if (shape < 4) return r & ((uint64_t{2} << (f.exponent_bits + f.mantissa_bits)) - 1);  // any bits
  const int spread = shape < 9 ? 4 : shape < 12 ? 20 : 66;  // binary orders of magnitude around 1
  int exponent = static_cast<int>((h >> 8) % static_cast<uint64_t>(2 * spread + 1)) - spread;
  if (exponent <= -bias) exponent = 1 - bias;
  if (exponent > bias) exponent = bias;
  uint64_t mantissa = r & ((uint64_t{1} << f.mantissa_bits) - 1);
  if (h >> 40 & 1) {  // few leading bits only: halfway cases and exact results
    const int kept = static_cast<int>((h >> 41) % static_cast<uint64_t>(f.mantissa_bits));
    mantissa = mantissa >> (f.mantissa_bits - kept) << (f.mantissa_bits - kept);
  }
  return (h >> 39 & 1) << (f.exponent_bits + f.mantissa_bits) |
         static_cast<uint64_t>(exponent + bias) << f.mantissa_bits | mantissa;
}

inline uint64_t integer(int bits, int index) {
  const uint64_t mask = ~uint64_t{0} >> (64 - bits), top = uint64_t{1} << (bits - 1);
  const uint64_t values[] = {0,        1,    mask, top,    top - 1,   top + 1,
                             mask - 1, 0x55, 0x80, 0xff7f, 0x1000001, 0x1800000};
  if (index < 12) return values[index] & mask;
  const uint64_t h = mix(static_cast<uint64_t>(index));
  const int kept =
      static_cast<int>(h % static_cast<uint64_t>(bits)) + 1;  // significant bits, so that all sizes occur
  const uint64_t r = mix(h) & mask;
  const uint64_t magnitude = r >> (bits - kept);
  return (h >> 32 & 1 ? 0 - magnitude : magnitude) & mask;
}

// How many operands the instruction has decides which cases come first.
inline uint64_t input(Kind kind, int operands, int operand, int index) {
  switch (kind) {
    case Kind::none:
      return 0;
    case Kind::s8:
    case Kind::u8:
      return integer(8, index + operand);
    case Kind::s16:
    case Kind::u16:
      return integer(16, index + operand);
    case Kind::s32:
    case Kind::u32:
      return integer(32, index + operand);
    case Kind::s64:
    case Kind::u64:
      return integer(64, index + operand);
    case Kind::e4m3x2:
    case Kind::e5m2x2:  // every byte, in both places
      return static_cast<uint64_t>((index & 255) | ((index * 7 + 3) & 255) << 8);
    case Kind::f16x2:
      return input(Kind::f16, operands, operand, index) | random_float({5, 10}, operand, index + 9000) << 16;
    case Kind::bf16x2:
      return input(Kind::bf16, operands, operand, index) | random_float({8, 7}, operand, index + 9000) << 16;
    default:
      break;
  }
  const Format f = format(kind);
  const int edges = edge_count();
  if (operands == 1) {
    if (index < edges) return edge(f, index);
    if (index < edges + 2 * scaled_count()) {
      const Scaled s = scaled((index - edges) / 2);
      return pack(f, (index - edges) % 2 != 0, s.value, s.exponent);
    }
  } else if (operands == 2 && index < edges * edges) {
    return edge(f, operand == 0 ? index % edges : index / edges);
  } else if (operands == 3 && index < 96) {
    return edge(
        f, static_cast<int>(mix(static_cast<uint64_t>(index * 3 + operand)) % static_cast<uint64_t>(edges)));
  }
  return random_float(f, operand, index);
}

// Cases that an operation is tried on, of which the first are printed in full.
constexpr int cases = 4096;

}  // namespace float_ops
