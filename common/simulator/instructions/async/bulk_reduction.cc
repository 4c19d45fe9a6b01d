#include "common/simulator/instructions/async/bulk_reduction.h"

#include <bit>
#include <cstring>

#include "common/simulator/numeric/atomic_operation.h"

namespace simulator {
namespace {

using ptx::Type;

// Each element is updated atomically: CTAs that other CPU threads run may add to the same ones.
template <class T, class Op>
void reduce(std::byte* to, const std::byte* from, uint32_t bytes) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  for (uint32_t i = 0; i < bytes; i += sizeof(T)) {
    T value;
    std::memcpy(&value, from + i, sizeof value);
    Bits* place = reinterpret_cast<Bits*>(to + i);
    Bits old = __atomic_load_n(place, __ATOMIC_RELAXED), next;
    do {
      next = std::bit_cast<Bits>(Op::apply(std::bit_cast<T>(old), value, T{}));
    } while (!__atomic_compare_exchange_n(place, &old, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  }
}

// As an H200 adds: fp32 with its subnormals, which atomics in global memory flush; fp64 lets a NaN through as
// it is, signalling or not.
struct AddFloat {
  static float apply(float old, float b, float) { return Add<float>::apply_in_shared(old, b); }
};
struct AddDouble {
  static double apply(double old, double b, double) { return b != b ? b : old != old ? old : old + b; }
};

template <class T>
Reduction integer(ReductionOp op) {
  switch (op) {
    case ReductionOp::add:
      return reduce<T, Add<T>>;
    case ReductionOp::min:
      return reduce<T, Min<T>>;
    case ReductionOp::max:
      return reduce<T, Max<T>>;
    default:
      return nullptr;
  }
}
template <class T>
Reduction bitwise(ReductionOp op) {
  switch (op) {
    case ReductionOp::op_and:
      return reduce<T, And<T>>;
    case ReductionOp::op_or:
      return reduce<T, Or<T>>;
    case ReductionOp::op_xor:
      return reduce<T, Xor<T>>;
    default:
      return nullptr;
  }
}
template <class Half>
Reduction half(ReductionOp op) {
  switch (op) {
    case ReductionOp::add:
      return reduce<uint16_t, AddHalf<Half>>;
    case ReductionOp::min:
      return reduce<uint16_t, ExtremeHalf<Half, false>>;
    case ReductionOp::max:
      return reduce<uint16_t, ExtremeHalf<Half, true>>;
    default:
      return nullptr;
  }
}

// The type that the operation takes an element of a tensor for.
Type reduced_type(ReductionOp op, TmaType type) {
  if (op >= ReductionOp::op_and) {
    const uint32_t bytes = bits_of(type) / 8;
    if (is_floating(type) || type == TmaType::s64) return Type::none;
    return bytes == 4 ? Type::b32 : bytes == 8 ? Type::b64 : Type::none;
  }
  switch (type) {
    case TmaType::u32:
      return Type::u32;
    case TmaType::s32:
      return Type::s32;
    case TmaType::u64:
      return Type::u64;
    case TmaType::s64:  // an H200 stops at sums and at logic of such elements
      return op == ReductionOp::add ? Type::none : Type::s64;
    case TmaType::f16:
      return Type::f16;
    case TmaType::bf16:
      return Type::bf16;
    case TmaType::f32:
    case TmaType::f32_ftz:
      return Type::f32;
    case TmaType::f64:
      return Type::f64;
    default:
      return Type::none;
  }
}

}  // namespace

Reduction reduction_for(ReductionOp op, Type type, bool shared) {
  const bool add = op == ReductionOp::add;
  switch (type) {
    case Type::u32:
      if (op == ReductionOp::inc) return reduce<uint32_t, Increment>;
      if (op == ReductionOp::dec) return reduce<uint32_t, Decrement>;
      return integer<uint32_t>(op);
    case Type::s32:
      return integer<int32_t>(op);
    case Type::u64:
      return shared && !add ? nullptr : integer<uint64_t>(op);
    case Type::s64:  // sums of signed and of unsigned numbers are the same bits
      return shared ? nullptr : integer<int64_t>(op);
    case Type::b32:
      return bitwise<uint32_t>(op);
    case Type::b64:
      return shared ? nullptr : bitwise<uint64_t>(op);
    case Type::f32:
      return add && !shared ? reduce<float, AddFloat> : nullptr;
    case Type::f64:
      return add && !shared ? reduce<double, AddDouble> : nullptr;
    case Type::f16:
      return shared ? nullptr : half<F16>(op);
    case Type::bf16:
      return shared ? nullptr : half<Bf16>(op);
    default:
      return nullptr;
  }
}

Reduction reduction_for(ReductionOp op, TmaType type) {
  if (type == TmaType::f32_ftz && op == ReductionOp::add) return reduce<float, Add<float>>;
  return reduction_for(op, reduced_type(op, type), false);
}

bool commutes(ReductionOp op, Type type) {
  if (op == ReductionOp::inc || op == ReductionOp::dec) return false;
  return op != ReductionOp::add ||
         (type != Type::f16 && type != Type::bf16 && type != Type::f32 && type != Type::f64);
}

}  // namespace simulator
