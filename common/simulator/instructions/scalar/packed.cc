// Several small integers in one register: PTX ISA 9.0, sections 9.7.1.23 (dp4a), 9.7.1.24 (dp2a), 9.7.18.2
// (SIMD video).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/integer.h"
#include "common/simulator/machine/warp.h"

namespace simulator {
namespace {

using ptx::Type;

// dp4a: d = c + the sum of four products of bytes. A and B say whether the bytes of a and b are signed.
template <class A, class B>
struct Dot4 {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return c + at<0>(a, b) + at<8>(a, b) + at<16>(a, b) + at<24>(a, b);
  }
  template <int shift>
  static uint32_t at(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(static_cast<A>(a >> shift) * static_cast<B>(b >> shift));
  }
};
// dp2a: the 16-bit halves of a by the two low (high) bytes of b.
template <class A, class B, bool high>
struct Dot2 {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    constexpr int from = high ? 16 : 0;
    const int first = static_cast<A>(a) * static_cast<B>(b >> from);
    const int second = static_cast<A>(a >> 16) * static_cast<B>(b >> (from + 8));
    return c + static_cast<uint32_t>(first) + static_cast<uint32_t>(second);
  }
};

// Whether a (b) holds signed numbers, from the two types of dp4a and dp2a.
bool signed_factor(Decoder& decoder, int nth) {
  const Type type = decoder.type(nth);
  if (type != Type::u32 && type != Type::s32) decoder.unsupported("not for this type");
  return type == Type::s32;
}
template <bool is_high>
Handler dp2a_handler(bool a, bool b) {
  constexpr Handler handlers[2][2] = {{ternary<Dot2<uint16_t, uint8_t, is_high>, uint32_t>,
                                       ternary<Dot2<uint16_t, int8_t, is_high>, uint32_t>},
                                      {ternary<Dot2<int16_t, uint8_t, is_high>, uint32_t>,
                                       ternary<Dot2<int16_t, int8_t, is_high>, uint32_t>}};
  return handlers[a][b];
}
// ---- SIMD video: a and b as two halves or four bytes each, operated on apart.

struct VideoAdd {
  static int apply(int a, int b) { return a + b; }
};
struct VideoSub {
  static int apply(int a, int b) { return a - b; }
};
struct VideoAverage {  // a half rounds up from 0 on, towards -∞ below
  static int apply(int a, int b) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }
};
struct VideoDistance {
  static int apply(int a, int b) { return a < b ? b - a : a - b; }
};
struct VideoMin {
  static int apply(int a, int b) { return std::min(a, b); }
};
struct VideoMax {
  static int apply(int a, int b) { return std::max(a, b); }
};
struct VideoEqual {
  static int apply(int a, int b) { return a == b; }
};
struct VideoNotEqual {
  static int apply(int a, int b) { return a != b; }
};
struct VideoLess {
  static int apply(int a, int b) { return a < b; }
};
struct VideoLessEqual {
  static int apply(int a, int b) { return a <= b; }
};
struct VideoGreater {
  static int apply(int a, int b) { return a > b; }
};
struct VideoGreaterEqual {
  static int apply(int a, int b) { return a >= b; }
};

// Element: uint8_t or uint16_t. A value of inst.extra is a set of these bits.
enum VideoFlags : uint16_t { signed_a = 1, signed_b = 2, signed_d = 4, saturated = 8 };

// The number in the low bits of `x`; sign is the sign bit's place for signed numbers, 0 for unsigned ones.
template <class Element>
int element(uint32_t x, uint32_t sign) {
  const uint32_t low = x & std::numeric_limits<Element>::max();
  return static_cast<int>(low ^ sign) - static_cast<int>(sign);
}
template <class Op, class Element, bool accumulate>
void simd_video(Warp& warp, const Inst& inst) {
  const uint32_t* a = warp.reg<uint32_t>(inst.a);
  const uint32_t* b = warp.reg<uint32_t>(inst.b);
  const uint32_t* c = warp.reg<uint32_t>(inst.c);
  constexpr uint32_t width = std::numeric_limits<Element>::digits;
  constexpr int most = std::numeric_limits<Element>::max();
  const uint32_t sign_a = inst.extra & signed_a ? 1u << (width - 1) : 0;
  const uint32_t sign_b = inst.extra & signed_b ? 1u << (width - 1) : 0;
  const bool clamp = inst.extra & saturated;
  const int lowest = !clamp ? std::numeric_limits<int>::min() : inst.extra & signed_d ? -(most / 2) - 1 : 0;
  const int highest = !clamp ? std::numeric_limits<int>::max() : inst.extra & signed_d ? most / 2 : most;
  warp.write<uint32_t>(inst.d, [=](int lane) {
    uint32_t result = accumulate ? c[lane] : 0;
    for (uint32_t shift = 0; shift < 32; shift += width) {
      const int value =
          Op::apply(element<Element>(a[lane] >> shift, sign_a), element<Element>(b[lane] >> shift, sign_b));
      const uint32_t part = static_cast<uint32_t>(std::min(std::max(value, lowest), highest));
      if (accumulate) {
        result += part;
      } else {
        result |= (part & std::numeric_limits<Element>::max()) << shift;
      }
    }
    return result;
  });
}
template <class Op>
Handler simd_video_handler(bool bytes, bool accumulate) {
  if (bytes) return accumulate ? simd_video<Op, uint8_t, true> : simd_video<Op, uint8_t, false>;
  return accumulate ? simd_video<Op, uint16_t, true> : simd_video<Op, uint16_t, false>;
}
Handler simd_video_operation(std::string_view name, int comparison, bool bytes, bool accumulate) {
  if (name == "vadd") return simd_video_handler<VideoAdd>(bytes, accumulate);
  if (name == "vsub") return simd_video_handler<VideoSub>(bytes, accumulate);
  if (name == "vavrg") return simd_video_handler<VideoAverage>(bytes, accumulate);
  if (name == "vabsdiff") return simd_video_handler<VideoDistance>(bytes, accumulate);
  if (name == "vmin") return simd_video_handler<VideoMin>(bytes, accumulate);
  if (name == "vmax") return simd_video_handler<VideoMax>(bytes, accumulate);
  switch (comparison) {  // vset
    case 0:
      return simd_video_handler<VideoEqual>(bytes, accumulate);
    case 1:
      return simd_video_handler<VideoNotEqual>(bytes, accumulate);
    case 2:
      return simd_video_handler<VideoLess>(bytes, accumulate);
    case 3:
      return simd_video_handler<VideoLessEqual>(bytes, accumulate);
    case 4:
      return simd_video_handler<VideoGreater>(bytes, accumulate);
    case 5:
      return simd_video_handler<VideoGreaterEqual>(bytes, accumulate);
    default:
      return nullptr;
  }
}

}  // namespace

void decode_dp4a(Decoder& decoder) {
  const bool a = signed_factor(decoder, 0), b = signed_factor(decoder, 1);
  operands(decoder, {Type::b32, Type::b32, Type::b32, Type::b32});
  constexpr Handler handlers[2][2] = {
      {ternary<Dot4<uint8_t, uint8_t>, uint32_t>, ternary<Dot4<uint8_t, int8_t>, uint32_t>},
      {ternary<Dot4<int8_t, uint8_t>, uint32_t>, ternary<Dot4<int8_t, int8_t>, uint32_t>}};
  set_handler(decoder, handlers[a][b]);
}
void decode_dp2a(Decoder& decoder) {
  const bool a = signed_factor(decoder, 0), b = signed_factor(decoder, 1);
  const Part part = part_of_product(decoder);
  if (part == Part::wide) decoder.unsupported("dp2a.wide");
  operands(decoder, {Type::b32, Type::b32, Type::b32, Type::b32});
  set_handler(decoder, part == Part::high ? dp2a_handler<true>(a, b) : dp2a_handler<false>(a, b));
}

// vop2.dtype.atype.btype{.sat}{.add} d, a, b, c; vset2.atype.btype.cmp{.add} d, a, b, c; the same with 4.
// Operands with selectors (a.h01, d.b2) are not read by the parser. Without them c counts for .add alone.
void decode_simd_video(Decoder& decoder) {
  const std::string_view opcode = decoder.ptx().opcode;
  const std::string_view name = opcode.substr(0, opcode.size() - 1);
  const bool is_set = name == "vset";
  const bool bytes = opcode.back() == '4';
  uint16_t flags = 0;
  int nth = 0;
  if (!is_set && signed_factor(decoder, nth++)) flags |= signed_d;
  if (signed_factor(decoder, nth++)) flags |= signed_a;
  if (signed_factor(decoder, nth)) flags |= signed_b;
  const bool accumulate = decoder.has("add");
  if (!is_set && decoder.has("sat")) {
    if (accumulate) decoder.unsupported(".sat with .add");
    flags |= saturated;
  }
  const int comparison = is_set ? decoder.one_of({"eq", "ne", "lt", "le", "gt", "ge"}) : -1;
  operands(decoder, {Type::b32, Type::b32, Type::b32, Type::b32});
  decoder.inst().extra = flags;
  set_handler(decoder, simd_video_operation(name, comparison, bytes, accumulate));
}

}  // namespace simulator
