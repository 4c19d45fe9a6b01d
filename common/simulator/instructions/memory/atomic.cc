// Atomic operations (PTX ISA 9.7.13.5, 9.7.13.6), lane after lane. On global memory each one is atomic for
// the CPU too: CTAs of a kernel whose atomics commute run side by side.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/lanes.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/async/opcodes.h"
#include "common/simulator/numeric/atomic_operation.h"
#include "common/simulator/numeric/halves.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

struct AtomicUse {
  AddressUse address;  // first: the handler's data is an AddressUse too
  bool returns = false;
};

// list: destinations …, then b's …, then c (cas); inst.extra: elements per lane.
template <class T, class Op>
void run_atomic(Warp& warp, const Inst& inst) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  const AtomicUse& use = *static_cast<const AtomicUse*>(inst.data);
  Resolved at;
  resolve(warp, inst, use.address, at);
  const int count = inst.extra;
  std::byte values[warp_size * 32];
  bool changed = false;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    const auto holds = [&](const auto& cta) {
      return at.at[l] >= cta->shared.data() && at.at[l] < cta->shared.data() + cta->shared.size();
    };
    const auto& ctas = warp.cta->cluster->ctas;
    const bool in_shared = at.shared || std::any_of(ctas.begin(), ctas.end(), holds);
    for (int k = 0; k < count; ++k) {
      const T b = warp.reg<T>(inst.list[count + k])[l];
      const T c = warp.reg<T>(inst.list[2 * count])[l];
      Bits* place = reinterpret_cast<Bits*>(at.at[l] + static_cast<size_t>(k) * sizeof(T));
      Bits old = __atomic_load_n(place, __ATOMIC_RELAXED), next;
      do {
        T value = Op::apply(std::bit_cast<T>(old), b, c);
        if constexpr (std::is_same_v<T, float>) {
          if (in_shared) value = Op::apply_in_shared(std::bit_cast<T>(old), b);
        }
        next = std::bit_cast<Bits>(value);
      } while (!__atomic_compare_exchange_n(place, &old, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
      changed |= next != old;
      std::memcpy(values + static_cast<size_t>(l) * inst.bytes + static_cast<size_t>(k) * sizeof(T), &next,
                  sizeof next);
      if (use.returns) warp.reg<Bits>(inst.list[k])[l] = old;
    }
  }
  // No thread waits for what has no result. (Whether it changes anything may depend on CTAs that other CPU
  // threads run: the order of this one's warps must not.)
  changed |= !use.returns;
  if (!changed) polled(warp);
  stored(warp, inst, use.address, at, values, changed);
}

// 128 bits: exch and cas. Only one CPU thread runs such kernels.
template <bool compare>
void run_atomic_128(Warp& warp, const Inst& inst) {
  const AtomicUse& use = *static_cast<const AtomicUse*>(inst.data);
  Resolved at;
  resolve(warp, inst, use.address, at);
  Quad values[warp_size];
  bool changed = false;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    const Quad b = warp.reg<Quad>(inst.list[1])[l], c = warp.reg<Quad>(inst.list[2])[l];
    Quad old;
    std::memcpy(&old, at.at[l], sizeof old);
    const Quad next = compare ? (old.low == b.low && old.high == b.high ? c : old) : b;
    std::memcpy(at.at[l], &next, sizeof next);
    values[l] = next;
    changed |= next.low != old.low || next.high != old.high;
    if (use.returns) warp.reg<Quad>(inst.list[0])[l] = old;
  }
  if (!changed) polled(warp);
  stored(warp, inst, use.address, at, reinterpret_cast<const std::byte*>(values), changed);
}

enum Operation { add, min, max, op_and, op_or, op_xor, exch, cas, inc, dec };

template <class T>
Handler integer_handler(int op) {
  switch (op) {
    case add:
      return run_atomic<T, Add<T>>;
    case min:
      return run_atomic<T, Min<T>>;
    case max:
      return run_atomic<T, Max<T>>;
    default:
      return nullptr;
  }
}
template <class T>
Handler bits_handler(int op) {
  switch (op) {
    case op_and:
      return run_atomic<T, And<T>>;
    case op_or:
      return run_atomic<T, Or<T>>;
    case op_xor:
      return run_atomic<T, Xor<T>>;
    case exch:
      return run_atomic<T, Exchange<T>>;
    case cas:
      return run_atomic<T, CompareAndSwap<T>>;
    default:
      return nullptr;
  }
}
template <class Half>
Handler half_handler(int op, bool pair) {
  switch (op) {
    case add:
      return pair ? Handler{run_atomic<uint32_t, AddPair<Half>>} : run_atomic<uint16_t, AddHalf<Half>>;
    case min:
      return pair ? Handler{run_atomic<uint32_t, ExtremePair<Half, false>>}
                  : run_atomic<uint16_t, ExtremeHalf<Half, false>>;
    case max:
      return pair ? Handler{run_atomic<uint32_t, ExtremePair<Half, true>>}
                  : run_atomic<uint16_t, ExtremeHalf<Half, true>>;
    default:
      return nullptr;
  }
}

Handler handler_for(int op, Type type) {
  switch (type) {
    case Type::u32:
      if (op == inc) return run_atomic<uint32_t, Increment>;
      if (op == dec) return run_atomic<uint32_t, Decrement>;
      return integer_handler<uint32_t>(op);
    case Type::s32:
      return integer_handler<int32_t>(op);
    case Type::u64:
      return integer_handler<uint64_t>(op);
    case Type::s64:
      return integer_handler<int64_t>(op);
    case Type::b16:
      return op == cas || op == exch ? bits_handler<uint16_t>(op) : nullptr;
    case Type::b32:
      return bits_handler<uint32_t>(op);
    case Type::b64:
      return bits_handler<uint64_t>(op);
    case Type::b128:
      return op == cas ? run_atomic_128<true> : op == exch ? run_atomic_128<false> : nullptr;
    case Type::f32:
      return op == add ? run_atomic<float, Add<float>> : nullptr;
    case Type::f64:
      return op == add ? run_atomic<double, Add<double>> : nullptr;
    case Type::f16:
      return half_handler<F16>(op, false);
    case Type::f16x2:
      return half_handler<F16>(op, true);
    case Type::bf16:
      return half_handler<Bf16>(op, false);
    case Type::bf16x2:
      return half_handler<Bf16>(op, true);
    default:
      return nullptr;
  }
}

void decode_atomic(Decoder& d) {
  if (d.has("async")) return decode_async_store(d);
  const bool returns = d.ptx().opcode == "atom";
  AtomicUse use;
  use.address.kind = AccessKind::atomic;
  memory_space(d, use.address);
  memory_order(d, use.address);
  cache_operators(d);
  const int op = d.one_of({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  d.has("noftz");
  const int vector = d.one_of({"v2", "v4", "v8"});
  const int count = vector < 0 ? 1 : 2 << vector;
  const Type type = d.type();
  if (op < 0 || type == Type::none) d.unsupported("unknown operation");
  const size_t first = returns ? 1 : 0;
  const auto operands = [&](const Operand& operand, bool write, std::vector<uint32_t>& to) {
    if (count == 1) return to.push_back(write ? d.dst(operand, type) : d.src(operand, type));
    if (operand.elements.size() != static_cast<size_t>(count)) d.unsupported("the vector's size differs");
    for (const Operand& each : operand.elements) to.push_back(write ? d.dst(each, type) : d.src(each, type));
  };
  std::vector<uint32_t> list;
  bool unused = true;
  d.early_clobber();
  if (returns) {
    const Operand& to = d.operand(0);
    for (const Operand& each : to.elements) unused &= d.unused(each);
    if (to.elements.empty()) unused = d.unused(to);
    operands(to, true, list);
  } else {
    list.assign(static_cast<size_t>(count), 0);
  }
  operands(d.operand(first + 1), false, list);
  if (op == cas) {
    operands(d.operand(first + 2), false, list);
  } else {
    list.push_back(list.back());
  }
  use.returns = returns && !unused;
  use.address.overwrites = op == exch && !use.returns;
  // In a debug build a function of its own exchanges, and what it returns may be of no use.
  use.address.finds_anything = op == exch && d.program().module->debug;
  use.address =
      memory_address(d, d.operand(first), use.address, static_cast<uint32_t>(ptx::bits(type) / 8 * count));
  d.inst().data = d.keep(use);
  d.inst().extra = static_cast<uint16_t>(count);
  d.inst().list = d.list(std::move(list));
  d.inst().inner = handler_for(op, type);
  // Integer reductions commute; everything else between CTAs depends on who comes first.
  const bool integer = type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64 ||
                       type == Type::b32 || type == Type::b64;
  const bool commutes = integer && op != exch && op != cas && op != inc && op != dec;
  if (use.address.space != ptx::Space::shared && (use.returns || !commutes))
    d.program().order_sensitive = true;
}

}  // namespace

std::span<const Opcode> atomic_opcodes() {
  static const Opcode table[] = {{"atom", decode_atomic}, {"red", decode_atomic}};
  return table;
}

}  // namespace simulator
