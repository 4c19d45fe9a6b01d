// Selection and tests of one operand: PTX ISA 9.0, sections 9.7.6.3 (selp), 9.7.6.4 (slct), 9.7.3.1 (testp).
#include "common/simulator/instructions/scalar/select.h"

#include <cstdint>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/machine/warp.h"

namespace simulator {
namespace {

using ptx::Type;

template <class T>
void selp(Warp& warp, const Inst& inst) {
  const T* a = warp.reg<T>(inst.a);
  const T* b = warp.reg<T>(inst.b);
  const uint32_t p = warp.pred(inst.c);
  warp.write<T>(inst.d, [=](int lane) {
    return static_cast<T>(b[lane] ^ ((a[lane] ^ b[lane]) & lane_mask<T>(p, lane)));
  });
}

// Types that selp and slct move: by width alone.
bool is_selectable(Type type) {
  switch (type) {
    case Type::b16:
    case Type::b32:
    case Type::b64:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s16:
    case Type::s32:
    case Type::s64:
    case Type::f32:
    case Type::f64:
      return true;
    default:
      return false;
  }
}

struct SelectBySign {
  template <class T>
  static T apply(T a, T b, int32_t c) {
    return c >= 0 ? a : b;
  }
  template <class T>
  static T apply(T a, T b, float c) {
    return c >= 0 ? a : b;  // b where c is NaN
  }
};
struct SelectBySignFlushed {
  template <class T>
  static T apply(T a, T b, float c) {
    return SelectBySign::apply(a, b, flush(c));
  }
};

// ---- testp: by the bits. Zeroes count as normal.

template <class T>
struct Bits {
  static constexpr int mantissa_bits = sizeof(T) == 4 ? 23 : 52;
  static constexpr T infinity = ~T{0} >> 1 >> mantissa_bits << mantissa_bits;
  static constexpr T least_normal = T{1} << mantissa_bits;
  static T magnitude(T a) { return a & (~T{0} >> 1); }
};
struct Infinite {
  template <class T>
  static bool apply(T a) {
    return Bits<T>::magnitude(a) == Bits<T>::infinity;
  }
};
struct Finite {
  template <class T>
  static bool apply(T a) {
    return Bits<T>::magnitude(a) < Bits<T>::infinity;
  }
};
struct IsNumber {
  template <class T>
  static bool apply(T a) {
    return Bits<T>::magnitude(a) <= Bits<T>::infinity;
  }
};
struct NotANumber {
  template <class T>
  static bool apply(T a) {
    return Bits<T>::magnitude(a) > Bits<T>::infinity;
  }
};
struct Subnormal {
  template <class T>
  static bool apply(T a) {
    return Bits<T>::magnitude(a) - 1 <
           Bits<T>::least_normal - 1;  // neither zero (which wraps) nor as much as normal
  }
};
struct Normal {
  template <class T>
  static bool apply(T a) {
    return Finite::apply(a) && !Subnormal::apply(a);
  }
};

template <class Test, class T>
void testp(Warp& warp, const Inst& inst) {
  warp.set_pred(inst.d, test_lanes<Test, T>(warp, inst.a));
}
template <class T>
Handler testp_handler(int test) {
  constexpr Handler handlers[] = {testp<Finite, T>,     testp<Infinite, T>, testp<IsNumber, T>,
                                  testp<NotANumber, T>, testp<Normal, T>,   testp<Subnormal, T>};
  return test < 0 ? nullptr : handlers[test];
}

}  // namespace

void decode_selp(Decoder& decoder) {
  const Type type = decoder.type();
  if (!is_selectable(type)) decoder.unsupported("not for this type");
  operands(decoder, {type, type, type, Type::pred});
  set_handler(decoder, for_bits(ptx::bits(type), []<class T>() -> Handler { return selp<T>; }));
}

void decode_slct(Decoder& decoder) {
  const Type type = decoder.type(0), sign = decoder.type(1);
  const bool ftz = decoder.has("ftz");
  if (!is_selectable(type) || (sign != Type::s32 && sign != Type::f32) || (ftz && sign != Type::f32))
    decoder.unsupported("not for these types");
  operands(decoder, {type, type, type, sign});
  set_handler(decoder, for_bits(ptx::bits(type), [=]<class T>() -> Handler {
                if (sign == Type::s32) return ternary<SelectBySign, T, T, T, int32_t>;
                return ftz ? ternary<SelectBySignFlushed, T, T, T, float>
                           : ternary<SelectBySign, T, T, T, float>;
              }));
}

void decode_testp(Decoder& decoder) {
  const Type type = decoder.type();
  const int test = decoder.one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  operands(decoder, {Type::pred, type});
  set_handler(decoder, type == Type::f32   ? testp_handler<uint32_t>(test)
                       : type == Type::f64 ? testp_handler<uint64_t>(test)
                                           : nullptr);
}

}  // namespace simulator
