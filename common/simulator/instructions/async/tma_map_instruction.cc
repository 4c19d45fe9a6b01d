// Tensor maps that a kernel changes: tensormap.replace (PTX ISA 9.7.9.28) and tensormap.cp_fenceproxy
// (9.7.13.16).
#include <bit>
#include <cstring>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/async/opcodes.h"
#include "common/simulator/instructions/sync/tma_map_fence.h"
#include "common/simulator/units/tma_map.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

enum class Field : uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
};
constexpr const char* field_names[] = {"global_address", "rank",           "box_dim",  "global_dim",
                                       "global_stride",  "element_stride", "elemtype", "interleave_layout",
                                       "swizzle_mode",   "fill_mode"};

struct MapUse {
  AddressUse to, from;  // from: cp_fenceproxy
  Field field = Field::rank;
  uint32_t ordinal = 0;
  uint32_t to_base = 0;  // register
  uint64_t to_offset = 0;
};

constexpr uint32_t part = 16;  // bytes of a tensor map that are accessed at once

// The lane's tensor map, read or written as any memory is.
void access_map(Warp& warp, const Inst& inst, const AddressUse& use, uint32_t base, uint64_t offset,
                std::byte* map, uint64_t* address = nullptr) {
  Inst step = inst;
  step.a = base;
  step.bytes = part;
  const int lane = std::countr_zero(warp.exec);
  for (uint32_t i = 0; i < tma_map_bytes; i += part) {
    Resolved at;
    step.imm = offset + i;
    resolve(warp, step, use, at);
    if (i == 0 && address) *address = at.shared ? 0 : at.address[lane];
    if (use.kind == AccessKind::load) {
      std::memcpy(map + i, at.at[lane], part);
      continue;
    }
    std::memcpy(at.at[lane], map + i, part);
    std::byte values[warp_size * part] = {};
    std::memcpy(values + static_cast<size_t>(lane) * part, map + i, part);
    stored(warp, step, use, at, values);
  }
}

// Calls f() for each lane alone.
template <class F>
void one_by_one(Warp& warp, uint32_t lanes, F f) {
  const uint32_t exec = warp.exec;
  const bool full = warp.full;
  warp.full = false;
  for (uint32_t left = lanes; left; left &= left - 1) {
    warp.exec = left & -left;
    f(static_cast<uint32_t>(std::countr_zero(left)));
  }
  warp.exec = exec;
  warp.full = full;
}

void replace(TmaMap& map, Field field, uint32_t ordinal, uint64_t value) {
  // In the order of table 33 in the PTX ISA, which is not that of the driver.
  constexpr TmaType types[tma_types] = {
      TmaType::u8,       TmaType::u16, TmaType::u32,       TmaType::s32,      TmaType::u64,  TmaType::s64,
      TmaType::f16,      TmaType::f32, TmaType::f32_ftz,   TmaType::f64,      TmaType::bf16, TmaType::tf32,
      TmaType::tf32_ftz, TmaType::b4,  TmaType::b4_padded, TmaType::b6_padded};
  switch (field) {
    case Field::global_address:
      map.address = value;
      return;
    case Field::rank:
      map.rank = static_cast<uint8_t>(value + 1);
      return;
    case Field::box_dim:
      map.box[ordinal] = static_cast<uint16_t>(value);
      return;
    case Field::global_dim:
      map.last[ordinal] = static_cast<uint32_t>(value - 1);
      return;
    case Field::global_stride:
      map.stride[ordinal] = value;
      return;
    case Field::element_stride:
      map.step[ordinal] = static_cast<uint8_t>(value);
      return;
    case Field::elemtype:
      map.type = types[value];
      return;
    case Field::interleave_layout:
      map.interleave = static_cast<uint8_t>(value);
      return;
    case Field::swizzle_mode:
      map.swizzle = static_cast<Swizzle>(value);
      return;
    case Field::fill_mode:
      map.fill_nan = value != 0;
      return;
  }
}

// b: the new value; extra: not 0: of 64 bits.
void run_replace(Warp& warp, const Inst& inst) {
  const MapUse& use = *static_cast<const MapUse*>(inst.data);
  const bool wide = inst.extra != 0;
  one_by_one(warp, warp.exec, [&](uint32_t lane) {
    std::byte bytes[tma_map_bytes];
    AddressUse read = use.to;
    read.kind = AccessKind::load;
    uint64_t address = 0;
    access_map(warp, inst, read, use.to_base, use.to_offset, bytes, &address);
    auto map = TmaMap::load(bytes);
    if (!map) fault(warp, FindingKind::illegal_instruction, "there is no tensor map at this address");
    const uint64_t value = wide ? warp.reg<uint64_t>(inst.b)[lane] : warp.reg<uint32_t>(inst.b)[lane];
    replace(*map, use.field, use.ordinal, value);
    map->store(bytes);
    access_map(warp, inst, use.to, use.to_base, use.to_offset, bytes);
    if (address) tma_map_changed(warp, address, false);
  });
}

// All lanes of the warp name the same addresses: one of them copies.
void run_copy(Warp& warp, const Inst& inst) {
  const MapUse& use = *static_cast<const MapUse*>(inst.data);
  one_by_one(warp, warp.exec & -warp.exec, [&](uint32_t) {
    std::byte bytes[tma_map_bytes];
    uint64_t address = 0;
    access_map(warp, inst, use.from, inst.a, inst.imm, bytes);
    access_map(warp, inst, use.to, use.to_base, use.to_offset, bytes, &address);
    tma_map_changed(warp, address, true);
  });
}

void decode_replace(Decoder& d, MapUse& use) {
  d.has("tile");
  d.has("b1024");
  int field = -1;
  for (int i = 0; i < 10; ++i) field = d.has(field_names[i]) ? i : field;
  if (field < 0) d.unsupported("this simulator has no such field");
  use.field = static_cast<Field>(field);
  memory_space(d, use.to);
  const Type type = d.type();
  const bool wide = use.field == Field::global_address || use.field == Field::global_stride;
  if (type != (wide ? Type::b64 : Type::b32)) d.unsupported("the field has another type");
  use.to.kind = AccessKind::store;
  use.to.counted = false;
  use.to = memory_address(d, d.operand(0), use.to, part);
  use.to_base = d.inst().a;
  use.to_offset = d.inst().imm;
  size_t next = 1;
  if (use.field >= Field::box_dim && use.field <= Field::element_stride) {
    const Operand& ordinal = d.operand(next++);
    const uint32_t count = use.field == Field::global_stride ? max_tma_rank - 1 : max_tma_rank;
    if (ordinal.kind != Operand::Kind::immediate || ordinal.value < 0 || ordinal.value >= count)
      d.unsupported("the dimension must be an immediate from 0 to " + std::to_string(count - 1));
    use.ordinal = static_cast<uint32_t>(ordinal.value);
  }
  const Operand& value = d.operand(next++);
  if (use.field >= Field::elemtype) {
    constexpr int64_t values[] = {tma_types, 1, 4, 2};
    if (value.kind != Operand::Kind::immediate || value.value < 0 ||
        value.value >= values[field - static_cast<int>(Field::elemtype)])
      d.unsupported("this simulator has no such value of the field");
  }
  d.inst().b = d.src(value, type);
  d.inst().extra = wide;
  d.inst().inner = run_replace;
}

void decode(Decoder& d) {
  MapUse use;
  if (d.has("cp_fenceproxy")) {
    d.has("tensormap::generic");
    d.has("release");
    d.one_of({"cta", "cluster", "gpu", "sys"});
    d.has("sync");
    d.has("aligned");
    if (!d.has("global") || !d.has("shared::cta")) d.unsupported("unknown state spaces");
    if (d.operand(2).kind != Operand::Kind::immediate || d.operand(2).value != tma_map_bytes)
      d.unsupported("the size must be 128");
    use.to.space = Space::global;
    use.to.kind = AccessKind::store;
    use.from.space = Space::shared;
    use.to.counted = use.from.counted = false;
    use.to = memory_address(d, d.operand(0), use.to, part);
    use.to_base = d.inst().a;
    use.to_offset = d.inst().imm;
    use.from = memory_address(d, d.operand(1), use.from, part);
    d.inst().inner = run_copy;
  } else if (d.has("replace")) {
    decode_replace(d, use);
  } else {
    d.unsupported("this simulator has no such instruction");
  }
  d.memory() = {};
  d.inst().data = d.keep(use);
}

}  // namespace

std::span<const Opcode> tma_map_opcodes() {
  static const Opcode table[] = {{"tensormap", decode}};
  return table;
}

}  // namespace simulator
