// Counting and finding bits, permuting bytes: PTX ISA 9.0, sections 9.7.1.14 to 9.7.1.22, 9.7.9.7.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/instructions/scalar/untyped.h"
#include "common/simulator/machine/warp.h"

namespace simulator {
namespace {

using ptx::Type;

template <class T>
constexpr uint32_t bits_of = std::numeric_limits<std::make_unsigned_t<T>>::digits;

// ---- Counting and finding.

struct CountOnes {
  template <class T>
  static uint32_t apply(T a) {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct CountLeadingZeroes {
  template <class T>
  static uint32_t apply(T a) {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
template <bool shift_amount>
struct FindTop {  // bfind: position of the highest bit that differs from the sign (from 0, if unsigned); else
                  // all ones
  template <class T>
  static uint32_t apply(T a) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(a < T{0} ? ~a : a);
    const auto zeroes = static_cast<uint32_t>(std::countl_zero(bits));
    return bits == 0 ? ~0u : shift_amount ? zeroes : bits_of<T> - 1 - zeroes;
  }
};
struct Reverse {
  // Neighbours of `step` bits change places; mask has the lower one of each two.
  template <int step, class T>
  static T swap(T a, uint64_t mask) {
    return static_cast<T>((a >> step & static_cast<T>(mask)) | (a & static_cast<T>(mask)) << step);
  }
  static uint32_t apply(uint32_t a) { return swap<16>(swap_to_8(a), 0x0000ffff0000ffff); }
  static uint64_t apply(uint64_t a) {
    return swap<32>(swap<16>(swap_to_8(a), 0x0000ffff0000ffff), 0xffffffff);
  }
  template <class T>
  static T swap_to_8(T a) {
    a = swap<1>(a, 0x5555555555555555);
    a = swap<2>(a, 0x3333333333333333);
    a = swap<4>(a, 0x0f0f0f0f0f0f0f0f);
    return swap<8>(a, 0x00ff00ff00ff00ff);
  }
};
struct FindNth {  // fns: the offset-th one of mask, counted from bit base upwards (offset > 0) or downwards
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
    if (base > 31) return ~0u;  // undefined in PTX
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    uint32_t left = offset < 0 ? 0u - static_cast<uint32_t>(offset) : static_cast<uint32_t>(offset);
    const int step = offset > 0 ? 1 : -1;
    for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step)
      if ((mask >> position & 1) && --left == 0) return static_cast<uint32_t>(position);
    return ~0u;
  }
};

template <class Op>
void decode_count(Decoder& decoder) {
  const Type type = untyped(decoder);
  if (type == Type::b16) decoder.unsupported("not for this type");
  operands(decoder, {Type::u32, type});
  set_handler(decoder, type == Type::b32 ? unary<Op, uint32_t, uint32_t> : unary<Op, uint32_t, uint64_t>);
}
void decode_bfind(Decoder& decoder) {
  const Type type = decoder.type();
  const bool shift_amount = decoder.has("shiftamt");
  if (ptx::bits(type) < 32) decoder.unsupported("not for this type");
  operands(decoder, {Type::u32, type});
  set_handler(decoder, for_signed_or_unsigned(type, [=]<class T>() -> Handler {
                return shift_amount ? unary<FindTop<true>, uint32_t, T> : unary<FindTop<false>, uint32_t, T>;
              }));
}
void decode_brev(Decoder& decoder) {
  const Type type = untyped(decoder);
  if (type == Type::b16) decoder.unsupported("not for this type");
  operands(decoder, {type, type});
  set_handler(decoder, type == Type::b32 ? unary<Reverse, uint32_t> : Handler{unary<Reverse, uint64_t>});
}
void decode_fns(Decoder& decoder) {
  if (decoder.type() != Type::b32) decoder.unsupported("not for this type");
  operands(decoder, {Type::b32, Type::b32, Type::b32, Type::s32});
  set_handler(decoder, ternary<FindNth, uint32_t, uint32_t, uint32_t, int32_t>);
}

// ---- prmt.

// (Inlined by force: the loop over the lanes does not vectorise otherwise.) A byte out of b:a: three bits of
// `choice` select it, the fourth says whether its sign is to be spread over it.
[[gnu::always_inline]] inline uint32_t pick_byte(uint32_t a, uint32_t b, uint32_t choice) {
  const uint32_t from_b = 0u - (choice >> 2 & 1), spread = 0u - (choice >> 3 & 1);
  const uint32_t value = (a ^ ((a ^ b) & from_b)) >> 8 * (choice & 3) & 0xff;
  const uint32_t sign = (0u - (value >> 7)) & 0xff;
  return value ^ ((value ^ sign) & spread);
}
// Four bytes, by four bits of `selector` each.
[[gnu::always_inline]] inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  return pick_byte(a, b, selector) | pick_byte(a, b, selector >> 4) << 8 |
         pick_byte(a, b, selector >> 8) << 16 | pick_byte(a, b, selector >> 12) << 24;
}
struct Permute {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c); }
};
// The modes: a selector for each value of c's two low bits, 16 bits each.
template <uint64_t selectors>
struct PermuteMode {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t pair = static_cast<uint32_t>(c & 2 ? selectors >> 32 : selectors);
    return permute(a, b, pair >> 16 * (c & 1));
  }
};
void decode_prmt(Decoder& decoder) {
  if (decoder.type() != Type::b32) decoder.unsupported("not for this type");
  const int mode = decoder.one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  operands(decoder, {Type::b32, Type::b32, Type::b32, Type::b32});
  constexpr Handler handlers[] = {
      ternary<Permute, uint32_t>,
      ternary<PermuteMode<0x6543'5432'4321'3210>, uint32_t>,
      ternary<PermuteMode<0x0123'7012'6701'5670>, uint32_t>,
      ternary<PermuteMode<0x3333'2222'1111'0000>, uint32_t>,
      ternary<PermuteMode<0x3333'3222'3211'3210>, uint32_t>,
      ternary<PermuteMode<0x3210'2210'1110'0000>, uint32_t>,
      ternary<PermuteMode<0x3232'1010'3232'1010>, uint32_t>,
  };
  set_handler(decoder, handlers[mode + 1]);
}

constexpr Opcode opcodes[] = {
    {"popc", decode_count<CountOnes>},
    {"clz", decode_count<CountLeadingZeroes>},
    {"bfind", decode_bfind},
    {"brev", decode_brev},
    {"fns", decode_fns},
    {"prmt", decode_prmt},
};

}  // namespace

std::span<const Opcode> count_opcodes() {
  return opcodes;
}

}  // namespace simulator
