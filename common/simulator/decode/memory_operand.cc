#include "common/simulator/decode/memory_operand.h"

#include <algorithm>

namespace simulator {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

void memory_space(Decoder& d, AddressUse& use) {
  switch (d.one_of({"global", "const", "shared", "shared::cta", "local", "param", "param::func",
                    "param::entry", "shared::cluster"})) {
    case 0:
    case 1:
      use.space = Space::global;
      break;
    case 2:
    case 3:
      use.space = Space::shared;
      break;
    case 4:
      use.space = Space::local;
      break;
    case 5:
    case 6:
    case 7:
      use.space = Space::param;
      break;
    case 8:
      use.space = Space::shared;
      use.cluster = true;
      break;
    default:
      use.generic = use.cluster = true;
  }
}

void memory_order(Decoder& d, AddressUse& use) {
  const bool weak = d.has("weak") && !d.has("cv");
  int order = d.one_of({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"});
  if (d.has("cv") && order < 0) order = 0;  // "don't cache, fetch again": used to wait for others, too
  const int scope = d.one_of({"cta", "cluster", "gpu", "sys"});
  d.has("mmio");
  d.has("relaxed");
  use.strong = !weak && (order >= 0 || use.kind == AccessKind::atomic);
  // Between clusters, what such an access sees depends on who came first.
  const bool inside = scope == 0 || scope == 1 || use.space == Space::shared || use.space == Space::local;
  if (use.kind != AccessKind::atomic && use.strong && (use.generic || !inside))
    d.program().order_sensitive = true;
}

void cache_operators(Decoder& d) {
  const auto& modifiers = d.ptx().modifiers;
  for (size_t i = 0; i < modifiers.size(); ++i) {
    const std::string_view m = modifiers[i];
    if (m == "ca" || m == "cg" || m == "cs" || m == "lu" || m == "cv" || m == "wb" || m == "wt" ||
        m.starts_with("L1::") || m.starts_with("L2::") || m == "level::cache_hint") {
      d.modifier(i);
    }
  }
}

AddressUse memory_address(Decoder& d, const Operand& address, AddressUse use, uint32_t bytes) {
  if (address.kind != Operand::Kind::address || address.elements.size() != 1) d.unsupported("not an address");
  const Operand& base = address.elements[0];
  if (base.kind == Operand::Kind::variable && base.variable->space == Space::local) {
    use.in_frame = true;
    d.inst().imm = d.loader().address_of(*base.variable) + static_cast<uint64_t>(base.value + address.value);
    Operand zero;
    zero.kind = Operand::Kind::immediate;
    d.inst().a = d.src(zero, Type::u64);
  } else {
    use.base_is_64 = d.width(base, 64) == 64;
    if (!use.base_is_64 && d.width(base, 64) != 32) d.unsupported("an address of 16 bits");
    d.inst().a = d.src(base, use.base_is_64 ? Type::u64 : Type::u32);
    d.inst().imm = static_cast<uint64_t>(address.value);
  }
  d.inst().bytes = static_cast<uint8_t>(bytes);
  d.inst().data = d.keep(use);
  d.memory().kind = use.kind == AccessKind::load    ? MemoryUse::Kind::load
                    : use.kind == AccessKind::store ? MemoryUse::Kind::store
                                                    : MemoryUse::Kind::atomic;
  d.memory().space = use.space;
  d.memory().generic = use.generic;
  d.memory().bytes = static_cast<uint8_t>(bytes);
  if (use.space == Space::shared || use.generic) {
    d.program().shared_granule = std::min(d.program().shared_granule, bytes);
  }
  return use;
}

}  // namespace simulator
