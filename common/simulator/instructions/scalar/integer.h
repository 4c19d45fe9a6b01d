// Integer arithmetic of one lane, and what arithmetic.cc shares with extended.cc and packed.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"

namespace simulator {

template <class T>
constexpr int bits_of = std::numeric_limits<std::make_unsigned_t<T>>::digits;

// GCC's __int128 outside strict ISO C++.
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

// The type of twice the width and the same sign: holds every product.
template <class T>
struct Double;
template <>
struct Double<uint16_t> {
  using type = uint32_t;
};
template <>
struct Double<int16_t> {
  using type = int32_t;
};
template <>
struct Double<uint32_t> {
  using type = uint64_t;
};
template <>
struct Double<int32_t> {
  using type = int64_t;
};
template <>
struct Double<uint64_t> {
  using type = uint128;
};
template <>
struct Double<int64_t> {
  using type = int128;
};
template <class T>
using Twice = typename Double<T>::type;

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
  }
};
struct MulLow {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
  }
};
struct MulHigh {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((Twice<T>(a) * Twice<T>(b)) >> bits_of<T>);
  }
};
struct MulWide {
  template <class T>
  static Twice<T> apply(T a, T b) {
    return Twice<T>(a) * Twice<T>(b);
  }
};
// Which part of a product is meant: .lo, .hi or .wide.
enum class Part { low, high, wide };

// Of the instruction; refused where it names none.
Part part_of_product(Decoder& decoder);

// extended.cc: instructions that read (in) or write (out) the carry flag CC.CF, which is a borrow for
// subtractions.
void decode_addc(Decoder& decoder);
void decode_subc(Decoder& decoder);
void decode_madc(Decoder& decoder);
void decode_add_cc(Decoder& decoder);
void decode_sub_cc(Decoder& decoder);
void decode_mad_cc(Decoder& decoder);

// packed.cc: several small integers in a 32-bit register.
void decode_dp4a(Decoder& decoder);
void decode_dp2a(Decoder& decoder);
void decode_simd_video(Decoder& decoder);  // vadd2, vadd4 …

}  // namespace simulator
