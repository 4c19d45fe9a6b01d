// Loads, stores and conversions of addresses (PTX ISA 9.7.9).
#include <bit>
#include <cstring>
#include <type_traits>

#include "common/simulator/access/addresses.h"
#include "common/simulator/access/written.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/async/opcodes.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

// The element at this place as a register holds it, extended with its sign if it has one; and back.
template <class Element, class Register>
Register fetch(const std::byte* from) {
  Element element;
  std::memcpy(&element, from, sizeof element);
  if constexpr (std::is_class_v<Element>) {
    return element;
  } else if constexpr (std::is_signed_v<Element>) {
    return static_cast<Register>(static_cast<std::make_signed_t<Register>>(element));
  } else {
    return static_cast<Register>(element);
  }
}
template <class Element, class Register>
Element narrow(Register value) {
  if constexpr (std::is_class_v<Element>) {
    return value;
  } else {
    return static_cast<Element>(value);
  }
}

// Element in memory, register it goes to or comes from, elements per lane.
template <class Element, class Register, int count>
void run_load(Warp& warp, const Inst& inst) {
  const AddressUse& use = *static_cast<const AddressUse*>(inst.data);
  if (use.carried.bytes && !warp.frame->unwritten.empty()) [[unlikely]]
    forget_unwritten(warp);
  Resolved from;
  resolve(warp, inst, use, from);
  for (int k = 0; k < count; ++k) {
    warp.write<Register>(count == 1 ? inst.d : inst.list[k],
                         [&](int l) { return fetch<Element, Register>(from.at[l] + k * sizeof(Element)); });
  }
}

template <class Element, class Register, int count>
void run_store(Warp& warp, const Inst& inst) {
  const AddressUse& use = *static_cast<const AddressUse*>(inst.data);
  Resolved to;
  resolve(warp, inst, use, to);
  Element values[warp_size][count];
  for (int k = 0; k < count; ++k) {
    const Register* source = warp.reg<Register>(count == 1 ? inst.d : inst.list[k]);
    for (int l = 0; l < warp_size; ++l) {
      values[l][k] = narrow<Element>(source[l]);
    }
  }
  bool changed = !warp.worker->probing, same = to.shared && warp.worker->checking;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    changed = changed || std::memcmp(to.at[l], values[l], sizeof values[l]) != 0;
    same = same && std::memcmp(to.at[l], values[l], sizeof values[l]) == 0;
    std::memcpy(to.at[l], values[l], sizeof values[l]);
  }
  stored(warp, inst, use, to, reinterpret_cast<const std::byte*>(values), changed, same);
}

template <template <class, class, int> class Run, class Element, class Register>
Handler with_count(int count) {
  switch (count) {
    case 1:
      return Run<Element, Register, 1>::handler;
    case 2:
      return Run<Element, Register, 2>::handler;
    case 4:
      return Run<Element, Register, 4>::handler;
    case 8:
      return Run<Element, Register, 8>::handler;
    default:
      return nullptr;
  }
}

template <template <class, class, int> class Run, class Element>
Handler with_register(int width, int count) {
  if constexpr (std::is_class_v<Element>) {
    return width == 128 && count <= 2 ? with_count<Run, Element, Element>(count) : nullptr;
  } else {
    if constexpr (sizeof(Element) <= 2) {
      if (width <= 16) return with_count<Run, Element, uint16_t>(count);
    }
    if constexpr (sizeof(Element) <= 4) {
      if (width == 32) return with_count<Run, Element, uint32_t>(count);
    }
    return width == 64 ? with_count<Run, Element, uint64_t>(count) : nullptr;
  }
}

template <template <class, class, int> class Run>
Handler with_element(Type type, bool extend, int width, int count) {
  const bool is_signed = extend && (type == Type::s8 || type == Type::s16 || type == Type::s32);
  switch (ptx::bits(type)) {
    case 8:
      return is_signed ? with_register<Run, int8_t>(width, count) : with_register<Run, uint8_t>(width, count);
    case 16:
      return is_signed ? with_register<Run, int16_t>(width, count)
                       : with_register<Run, uint16_t>(width, count);
    case 32:
      return is_signed ? with_register<Run, int32_t>(width, count)
                       : with_register<Run, uint32_t>(width, count);
    case 64:
      return with_register<Run, uint64_t>(width, count);
    case 128:
      return with_register<Run, Quad>(width, count);
    default:
      return nullptr;
  }
}

template <class Element, class Register, int count>
struct Load {
  static constexpr Handler handler = run_load<Element, Register, count>;
};
template <class Element, class Register, int count>
struct Store {
  static constexpr Handler handler = run_store<Element, Register, count>;
};

// Kernel parameters: the same for all lanes.
template <class Element, class Register, int count>
void run_load_kernel_param(Warp& warp, const Inst& inst) {
  for (int k = 0; k < count; ++k) {
    const Register value = fetch<Element, Register>(warp.cta->grid->params + inst.imm + k * sizeof(Element));
    warp.write<Register>(count == 1 ? inst.d : inst.list[k], [&](int) { return value; });
  }
}
template <class Element, class Register, int count>
struct LoadKernelParam {
  static constexpr Handler handler = run_load_kernel_param<Element, Register, count>;
};

// Parameters of functions: in the frame, lane by lane. imm: offset in the frame; c: bytes between lanes.
template <class Element, class Register, int count>
void run_load_call_param(Warp& warp, const Inst& inst) {
  for (int k = 0; k < count; ++k) {
    warp.write<Register>(count == 1 ? inst.d : inst.list[k], [&](int l) {
      return fetch<Element, Register>(warp.registers + inst.imm + static_cast<uint32_t>(l) * inst.c +
                                      k * sizeof(Element));
    });
  }
}
template <class Element, class Register, int count>
struct LoadCallParam {
  static constexpr Handler handler = run_load_call_param<Element, Register, count>;
};

template <class Element, class Register, int count>
void run_store_call_param(Warp& warp, const Inst& inst) {
  for (int k = 0; k < count; ++k) {
    const Register* source = warp.reg<Register>(count == 1 ? inst.d : inst.list[k]);
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const uint32_t l = static_cast<uint32_t>(std::countr_zero(left));
      const Element element = narrow<Element>(source[l]);
      std::memcpy(warp.registers + inst.imm + l * inst.c + k * sizeof(Element), &element, sizeof(Element));
    }
  }
}
template <class Element, class Register, int count>
struct StoreCallParam {
  static constexpr Handler handler = run_store_call_param<Element, Register, count>;
};

int vector_count(Decoder& d) {
  switch (d.one_of({"v2", "v4", "v8"})) {
    case 0:
      return 2;
    case 1:
      return 4;
    case 2:
      return 8;
    default:
      return 1;
  }
}

// The register operand of a load (write) or store, one or a vector; returns the registers' width.
int value_registers(Decoder& d, const Operand& operand, Type type, int count, bool write) {
  const int bits = ptx::bits(type);
  int width = 0;
  const auto one = [&](const Operand& each) {
    const int own = d.width(each, 0);
    if (own) {
      if (width && own != width) d.unsupported("registers of several widths in one vector");
      width = own;
    }
  };
  const bool vector = operand.kind == Operand::Kind::vector;
  if (vector ? static_cast<int>(operand.elements.size()) != count : count != 1)
    d.unsupported("the vector's size differs");
  if (vector) {
    for (const Operand& each : operand.elements) one(each);
  } else {
    one(operand);
  }
  if (!width) width = bits < 16 ? 16 : bits;
  const Type as = width <= 16 ? Type::b16 : width == 32 ? Type::b32 : width == 64 ? Type::b64 : Type::b128;
  const auto reg = [&](const Operand& each) {
    if (write) return d.dst(each, as);
    const bool floating = each.kind == Operand::Kind::floating;
    return d.src(each, floating && width == bits ? type : as);
  };
  if (vector) {
    std::vector<uint32_t> list;
    for (const Operand& each : operand.elements) list.push_back(reg(each));
    d.inst().d = list[0];
    d.inst().list = d.list(std::move(list));
  } else {
    d.inst().d = reg(operand);
  }
  return width;
}

// Parameters are not memory here: kernel parameters are constants of the launch, those of functions lie in
// frames.
bool decode_param(Decoder& d, const Operand& address, const Operand& value, Type type, int count,
                  bool write) {
  const Operand& base = address.elements.at(0);
  if (base.kind != Operand::Kind::variable || base.variable->space != Space::param) return false;
  const uint64_t offset = static_cast<uint64_t>(address.value + base.value);
  if (offset + static_cast<uint64_t>(ptx::bits(type) / 8 * count) > base.variable->size) {
    d.unsupported("the access lies outside the parameter");
  }
  const int width = value_registers(d, value, type, count, !write);
  const auto call = d.program().call_params.find(base.variable);
  if (call == d.program().call_params.end()) {
    if (write) d.unsupported("a store to a kernel parameter");
    d.inst().imm = d.loader().address_of(*base.variable) + offset;
    d.inst().inner = with_element<LoadKernelParam>(type, true, width, count);
  } else {
    d.inst().imm = call->second + offset;
    d.inst().c = param_stride(static_cast<uint32_t>(base.variable->size));
    d.inst().inner = write ? with_element<StoreCallParam>(type, false, width, count)
                           : with_element<LoadCallParam>(type, true, width, count);
  }
  return true;
}

void decode_load(Decoder& d) {
  AddressUse use;
  use.kind = AccessKind::load;
  memory_space(d, use);
  memory_order(d, use);
  cache_operators(d);
  d.has("nc");
  const int count = vector_count(d);
  const Type type = d.type();
  const Operand& address = d.operand(1);
  if (use.space == Space::param && decode_param(d, address, d.operand(0), type, count, false)) return;
  const int width = value_registers(d, d.operand(0), type, count, true);
  if (!address.elements.empty() && address.elements[0].kind == Operand::Kind::reg) {
    use.strong |= d.program().compared.contains({address.elements[0].index, address.value});
  }
  if (d.operand(0).kind == Operand::Kind::reg)
    use.strong |= d.program().compared_values.contains(d.operand(0).index);
  use.element = static_cast<uint8_t>(ptx::bits(type) / 8);
  use.used = d.ptx().used_bytes;
  if (const auto choice = d.speculated()) {
    use.ahead = true;
    use.choice = d.src(*choice->predicate, Type::pred);
    use.choice_when = choice->when;
  }
  use.carried = d.carried();
  memory_address(d, address, use, static_cast<uint32_t>(ptx::bits(type) / 8 * count));
  d.inst().inner = with_element<Load>(type, true, width, count);
}

void decode_store(Decoder& d) {
  if (d.has("async")) return decode_async_store(d);
  if (d.has("bulk")) return decode_bulk_store(d);
  AddressUse use;
  use.kind = AccessKind::store;
  memory_space(d, use);
  memory_order(d, use);
  cache_operators(d);
  const int count = vector_count(d);
  const Type type = d.type();
  const Operand& address = d.operand(0);
  if (use.space == Space::param && decode_param(d, address, d.operand(1), type, count, true)) return;
  const int width = value_registers(d, d.operand(1), type, count, false);
  if (auto from = d.carried_here(); !from.empty()) use.from = d.keep(std::move(from))->data();
  memory_address(d, address, use, static_cast<uint32_t>(ptx::bits(type) / 8 * count));
  d.inst().inner = with_element<Store>(type, false, width, count);
}

void decode_prefetch(Decoder& d) {  // a hint
  d.one_of({"global", "local", "const", "param"});
  d.has("tensormap");
  d.one_of({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  cache_operators(d);
  d.operand(0);
  d.inst().inner = run_nothing;
}

template <uint64_t window, bool to_window, class Register>
void run_convert_address(Warp& warp, const Inst& inst) {
  const Register* a = warp.reg<Register>(inst.a);
  warp.write<Register>(
      inst.d, [&](int l) { return static_cast<Register>(to_window ? a[l] + window : a[l] - window); });
}

void decode_convert_address(Decoder& d) {
  const bool to = d.has("to");
  const int space = d.one_of(
      {"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"});
  if (d.type() != Type::u64) d.unsupported("addresses have 64 bits here");
  d.inst().d = d.dst(0, Type::u64);
  const Operand& from = d.operand(1);
  if (from.kind == Operand::Kind::variable && from.variable->space == Space::local) {
    d.unsupported("cvta of a local variable; use mov first");
  }
  d.inst().a = d.src(from, Type::u64);
  const Handler handlers[4][2] = {
      {run_convert_address<0, true, uint64_t>, run_convert_address<0, false, uint64_t>},
      {run_convert_address<shared_window, true, uint64_t>,
       run_convert_address<shared_window, false, uint64_t>},
      {run_convert_address<local_window, true, uint64_t>, run_convert_address<local_window, false, uint64_t>},
      {run_convert_address<param_window, true, uint64_t>,
       run_convert_address<param_window, false, uint64_t>}};
  if (space < 0) d.unsupported("no state space");
  d.inst().inner = handlers[space < 2 ? 0 : space < 5 ? 1 : space < 6 ? 2 : 3][to];
}

void run_is_shared_of_cta(Warp& warp, const Inst& inst) {
  const uint64_t* a = warp.reg<uint64_t>(inst.a);
  const uint64_t own = shared_window >> rank_shift | warp.cta->rank;
  warp.set_pred(inst.d, Warp::ballot([&](int l) { return a[l] >> rank_shift == own; }));
}

template <uint64_t window>
void run_is_space(Warp& warp, const Inst& inst) {
  const uint64_t* a = warp.reg<uint64_t>(inst.a);
  warp.set_pred(inst.d, Warp::ballot([&](int l) { return a[l] >> 48 == window >> 48; }));
}

void run_is_constant(Warp& warp, const Inst& inst) {
  const uint64_t* a = warp.reg<uint64_t>(inst.a);
  warp.set_pred(inst.d, Warp::ballot([&](int l) {
                  const Allocation* holder = a[l] >> 48 ? nullptr : global_memory().find(a[l]);
                  return holder && holder->read_only;
                }));
}

void run_is_global(Warp& warp, const Inst& inst) {
  const uint64_t* a = warp.reg<uint64_t>(inst.a);
  warp.set_pred(inst.d, Warp::ballot([&](int l) {
                  const Allocation* holder = a[l] >> 48 ? nullptr : global_memory().find(a[l]);
                  return a[l] >> 48 == 0 && !(holder && holder->read_only);
                }));
}

void decode_is_space(Decoder& d) {
  const int space = d.one_of(
      {"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"});
  d.inst().d = d.dst(0, Type::pred);
  if (d.width(d.operand(1), 64) != 64) d.unsupported("addresses have 64 bits here");
  d.inst().a = d.src(1, Type::u64);
  d.inst().inner = space == 0   ? run_is_global
                   : space == 1 ? run_is_constant
                   : space < 0  ? nullptr
                   : space < 4  ? run_is_shared_of_cta
                   : space < 5  ? run_is_space<shared_window>
                   : space < 6  ? run_is_space<local_window>
                                : run_is_space<param_window>;
}

void decode_policy(Decoder& d) {  // createpolicy: a hint, ignored
  for (size_t i = 0; i < d.ptx().modifiers.size(); ++i) d.modifier(i);
  d.inst().d = d.dst(0, Type::b64);
  d.inst().inner = [](Warp& warp, const Inst& inst) {
    warp.write<uint64_t>(inst.d, [](int) { return uint64_t{0}; });
  };
}

}  // namespace

std::span<const Opcode> memory_opcodes() {
  static const Opcode table[] = {
      {"ld", decode_load},
      {"ldu", decode_load},
      {"st", decode_store},
      {"prefetch", decode_prefetch},
      {"prefetchu", decode_prefetch},
      {"applypriority", decode_prefetch},
      {"discard", decode_prefetch},
      {"cvta", decode_convert_address},
      {"isspacep", decode_is_space},
      {"createpolicy", decode_policy},
  };
  return table;
}

}  // namespace simulator
