// What atomic operations and reductions do to one value (PTX ISA 9.7.13.5).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/simulator/numeric/halves.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator {

// apply(old, b, c) = new value. Bits: what lies in memory.
template <class T>
struct Add {
  static T apply(T old, T b, T) {
    if constexpr (std::is_integral_v<T>) {  // wraps around
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(b));
    } else {
      return old + b;
    }
  }
};
template <>
struct Add<float> {
  // Subnormals count as zero in global memory, not in shared memory.
  static float apply(float old, float b, float) { return canonical(flush(flush(old) + flush(b))); }
  static float apply_in_shared(float old, float b) { return canonical(old + b); }
};
template <class Half>
struct AddHalf {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    const float x = Half::widen(old), y = Half::widen(b), sum = x + y;
    if (!std::isfinite(sum)) return Half::narrow(sum);
    const float back = sum - x;  // what of y the sum holds; the rest decides ties (Knuth's two-sum)
    return Half::narrow(odd(sum, (x - (sum - back)) + (y - back)));
  }
};
template <class Half>
struct AddPair {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    const auto half = [](uint32_t x, int k) { return static_cast<uint16_t>(x >> 16 * k); };
    return static_cast<uint32_t>(AddHalf<Half>::apply(half(old, 0), half(b, 0), 0)) |
           static_cast<uint32_t>(AddHalf<Half>::apply(half(old, 1), half(b, 1), 0)) << 16;
  }
};
template <class T>
struct Min {
  static T apply(T old, T b, T) { return std::min(old, b); }
};
template <class T>
struct Max {
  static T apply(T old, T b, T) { return std::max(old, b); }
};
template <class Half, bool max>
struct ExtremeHalf {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    const float x = Half::widen(old), y = Half::widen(b);
    if (x != x) return y != y ? 0x7fff : b;
    if (y != y) return old;
    if (x == y) return max == std::signbit(x) ? b : old;  // −0 < +0
    return (x < y) == max ? b : old;
  }
};
template <class Half, bool max>
struct ExtremePair {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    const auto half = [](uint32_t x, int k) { return static_cast<uint16_t>(x >> 16 * k); };
    return static_cast<uint32_t>(ExtremeHalf<Half, max>::apply(half(old, 0), half(b, 0), 0)) |
           static_cast<uint32_t>(ExtremeHalf<Half, max>::apply(half(old, 1), half(b, 1), 0)) << 16;
  }
};
template <class T>
struct And {
  static T apply(T old, T b, T) { return old & b; }
};
template <class T>
struct Or {
  static T apply(T old, T b, T) { return old | b; }
};
template <class T>
struct Xor {
  static T apply(T old, T b, T) { return old ^ b; }
};
template <class T>
struct Exchange {
  static T apply(T, T b, T) { return b; }
};
template <class T>
struct CompareAndSwap {
  static T apply(T old, T b, T c) { return old == b ? c : old; }
};
struct Increment {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) { return old == 0 || old > b ? b : old - 1; }
};

template <size_t bytes>
struct BitsOf;
template <>
struct BitsOf<2> {
  using type = uint16_t;
};
template <>
struct BitsOf<4> {
  using type = uint32_t;
};
template <>
struct BitsOf<8> {
  using type = uint64_t;
};

}  // namespace simulator
