// mov (PTX ISA 9.7.9.3, 9.7.9.4) and special registers (PTX ISA 10).
#include <array>
#include <cstring>
#include <string_view>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

template <class T>
void run_move(Warp& warp, const Inst& inst) {
  const T* a = warp.reg<T>(inst.a);
  warp.write<T>(inst.d, [&](int l) { return a[l]; });
}

void run_move_predicate(Warp& warp, const Inst& inst) {
  warp.set_pred(inst.d, inst.imm ? ~warp.pred(inst.a) : warp.pred(inst.a));
}

// Vector to scalar: the first element is the lowest.
template <class Part, class Whole, int count>
void run_pack(Warp& warp, const Inst& inst) {
  const Part* parts[count];
  for (int k = 0; k < count; ++k) parts[k] = warp.reg<Part>(inst.list[k]);
  warp.write<Whole>(inst.d, [&](int l) {
    Part all[count];
    for (int k = 0; k < count; ++k) all[k] = parts[k][l];
    Whole whole;
    std::memcpy(&whole, all, sizeof whole);
    return whole;
  });
}

template <class Part, class Whole, int count>
void run_unpack(Warp& warp, const Inst& inst) {
  const Whole* whole = warp.reg<Whole>(inst.a);
  for (int k = 0; k < count; ++k) {
    warp.write<Part>(inst.list[k], [&](int l) {
      Part all[count];
      std::memcpy(all, &whole[l], sizeof all);
      return all[k];
    });
  }
}

// Bytes: a part of 8 bits lies in a 16-bit register.
template <class Whole, int count>
void run_pack_bytes(Warp& warp, const Inst& inst) {
  warp.write<Whole>(inst.d, [&](int l) {
    Whole whole = 0;
    for (int k = 0; k < count; ++k) {
      whole = static_cast<Whole>(whole | static_cast<Whole>(warp.reg<uint16_t>(inst.list[k])[l] & 0xff)
                                             << (8 * k));
    }
    return whole;
  });
}

template <class Whole, int count>
void run_unpack_bytes(Warp& warp, const Inst& inst) {
  const Whole* whole = warp.reg<Whole>(inst.a);
  for (int k = 0; k < count; ++k) {
    warp.write<uint16_t>(inst.list[k],
                         [&](int l) { return static_cast<uint16_t>(whole[l] >> (8 * k) & 0xff); });
  }
}

void run_frame_address(Warp& warp, const Inst& inst) {
  const Frame& frame = *warp.frame;
  if (inst.bytes == 8) {
    warp.write<uint64_t>(inst.d, [&](int lane) { return inst.imm + frame.local_base(lane); });
  } else {
    warp.write<uint32_t>(inst.d,
                         [&](int lane) { return static_cast<uint32_t>(inst.imm) + frame.local_base(lane); });
  }
}

// Special registers.

using Special = uint64_t (*)(const Warp& warp, uint32_t lane);

uint32_t thread_at(const Warp& warp, uint32_t lane, int axis) {
  const auto& block = warp.cta->grid->launch.block;
  const uint32_t thread = thread_index(warp, lane);
  return axis == 0   ? thread % block[0]
         : axis == 1 ? thread / block[0] % block[1]
                     : thread / block[0] / block[1];
}

// %clock: one cycle for each instruction, as if all warps of the CTA ran at the same time, and one for each
// reading, so that a loop that waits for a time ends.
uint64_t clock_of(const Warp& warp, uint32_t) {
  return warp.cta->time + warp.in_turn + ++warp.cta->clock_reads;
}

struct Name {
  std::string_view name;
  Special value;
  bool differs = false;  // between the lanes of a warp
};

const Name specials[] = {
    {"%tid.x", [](const Warp& w, uint32_t l) -> uint64_t { return thread_at(w, l, 0); }, true},
    {"%tid.y", [](const Warp& w, uint32_t l) -> uint64_t { return thread_at(w, l, 1); }, true},
    {"%tid.z", [](const Warp& w, uint32_t l) -> uint64_t { return thread_at(w, l, 2); }, true},
    {"%ntid.x", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.block[0]; }},
    {"%ntid.y", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.block[1]; }},
    {"%ntid.z", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.block[2]; }},
    {"%ctaid.x", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[0]; }},
    {"%ctaid.y", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[1]; }},
    {"%ctaid.z", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[2]; }},
    {"%nctaid.x", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.grid[0]; }},
    {"%nctaid.y", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.grid[1]; }},
    {"%nctaid.z", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.grid[2]; }},
    {"%cluster_ctaid.x",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[0] % w.cta->grid->launch.cluster[0]; }},
    {"%cluster_nctaid.x", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.cluster[0]; }},
    {"%clusterid.x",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[0] / w.cta->grid->launch.cluster[0]; }},
    {"%nclusterid.x",
     [](const Warp& w, uint32_t) -> uint64_t {
       return w.cta->grid->launch.grid[0] / w.cta->grid->launch.cluster[0];
     }},
    {"%cluster_ctaid.y",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[1] % w.cta->grid->launch.cluster[1]; }},
    {"%cluster_nctaid.y", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.cluster[1]; }},
    {"%clusterid.y",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[1] / w.cta->grid->launch.cluster[1]; }},
    {"%nclusterid.y",
     [](const Warp& w, uint32_t) -> uint64_t {
       return w.cta->grid->launch.grid[1] / w.cta->grid->launch.cluster[1];
     }},
    {"%cluster_ctaid.z",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[2] % w.cta->grid->launch.cluster[2]; }},
    {"%cluster_nctaid.z", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.cluster[2]; }},
    {"%clusterid.z",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->id[2] / w.cta->grid->launch.cluster[2]; }},
    {"%nclusterid.z",
     [](const Warp& w, uint32_t) -> uint64_t {
       return w.cta->grid->launch.grid[2] / w.cta->grid->launch.cluster[2];
     }},
    {"%cluster_ctarank", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->rank; }},
    {"%cluster_nctarank",
     [](const Warp& w, uint32_t) -> uint64_t {
       const auto& cluster = w.cta->grid->launch.cluster;
       return uint64_t{cluster[0]} * cluster[1] * cluster[2];
     }},
    {"%laneid", [](const Warp&, uint32_t l) -> uint64_t { return l; }, true},
    {"%warpid", [](const Warp& w, uint32_t) -> uint64_t { return w.index; }},
    {"%nwarpid",
     [](const Warp&, uint32_t) -> uint64_t { return uint64_t(device().max_threads_per_sm) / warp_size; }},
    {"%smid",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->index % uint64_t(device().multiprocessors); }},
    {"%nsmid", [](const Warp&, uint32_t) -> uint64_t { return uint64_t(device().multiprocessors); }},
    {"%gridid", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->id; }},
    {"%lanemask_eq", [](const Warp&, uint32_t l) -> uint64_t { return 1u << l; }, true},
    {"%lanemask_lt", [](const Warp&, uint32_t l) -> uint64_t { return (1u << l) - 1; }, true},
    {"%lanemask_le", [](const Warp&, uint32_t l) -> uint64_t { return (2ull << l) - 1; }, true},
    {"%lanemask_gt",
     [](const Warp&, uint32_t l) -> uint64_t { return static_cast<uint32_t>(~((2ull << l) - 1)); }, true},
    {"%lanemask_ge", [](const Warp&, uint32_t l) -> uint64_t { return ~((1u << l) - 1); }, true},
    {"%clock", clock_of},
    {"%clock_hi", [](const Warp& w, uint32_t l) -> uint64_t { return clock_of(w, l) >> 32; }},
    {"%clock64", clock_of},
    {"%globaltimer", clock_of},
    {"%globaltimer_lo", clock_of},
    {"%globaltimer_hi", [](const Warp& w, uint32_t l) -> uint64_t { return clock_of(w, l) >> 32; }},
    {"%dynamic_smem_size",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->launch.dynamic_shared; }},
    {"%total_smem_size",
     [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->shared_bytes - shared_reserved; }},
    {"%aggr_smem_size", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->shared_bytes; }},
    {"%reserved_smem_offset_begin", [](const Warp&, uint32_t) -> uint64_t { return 0; }},
    {"%reserved_smem_offset_end", [](const Warp&, uint32_t) -> uint64_t { return shared_reserved; }},
    {"%reserved_smem_offset_cap", [](const Warp&, uint32_t) -> uint64_t { return shared_reserved; }},
    {"%envreg1", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->workspace >> 32; }},
    {"%envreg2", [](const Warp& w, uint32_t) -> uint64_t { return w.cta->grid->workspace & 0xffffffffu; }},
};

// A loop that only waits for a time has one reading, every few instructions.
template <class T>
void run_clock(Warp& warp, const Inst& inst) {
  constexpr uint64_t soon = 64;
  const uint64_t now = warp.cta->time + warp.in_turn;
  warp.watches += warp.clock_pc == warp.pc && now - warp.clock <= soon;
  warp.clock = now;
  warp.clock_pc = warp.pc;
  const T value = static_cast<T>(static_cast<const Name*>(inst.data)->value(warp, 0));
  warp.write<T>(inst.d, [&](int) { return value; });
}

template <class T>
void run_special(Warp& warp, const Inst& inst) {
  const Name& special = *static_cast<const Name*>(inst.data);
  if (special.differs) {
    warp.write<T>(inst.d,
                  [&](int l) { return static_cast<T>(special.value(warp, static_cast<uint32_t>(l))); });
  } else {
    const T value = static_cast<T>(special.value(warp, 0));
    warp.write<T>(inst.d, [&](int) { return value; });
  }
}

void decode_special(Decoder& d, const Operand& source, int width) {
  if (source.text == "%is_explicit_cluster") {
    if (width != 1) d.unsupported("a predicate");
    d.inst().inner = [](Warp& warp, const Inst& inst) {
      warp.set_pred(inst.d, warp.cta->grid->launch.explicit_cluster ? ~0u : 0);
    };
    return;
  }
  if (source.text == "%reserved_smem_offset_1") {
    if (width != 32) d.unsupported("an offset in shared memory has 32 bits");
    d.inst().imm = d.loader().group_scratch();
    d.inst().inner = [](Warp& warp, const Inst& inst) {
      const uint32_t address = static_cast<uint32_t>(inst.imm) | warp.cta->rank << rank_shift;
      warp.write<uint32_t>(inst.d, [=](int) { return address; });
    };
    return;
  }
  for (const Name& each : specials) {
    if (each.name != source.text) continue;
    d.inst().data = &each;
    if (source.text.starts_with("%clock") || source.text.starts_with("%globaltimer")) {
      d.program().reads_clock = true;
      d.inst().inner = width == 64   ? run_clock<uint64_t>
                       : width == 32 ? run_clock<uint32_t>
                                     : run_clock<uint16_t>;
      return;
    }
    d.inst().inner = width == 64   ? run_special<uint64_t>
                     : width == 32 ? run_special<uint32_t>
                                   : run_special<uint16_t>;
    return;
  }
  d.unsupported("this simulator has no special register " + std::string(source.text));
}

Type of_width(int width) {
  return width <= 1    ? Type::pred
         : width <= 16 ? Type::b16
         : width == 32 ? Type::b32
         : width == 64 ? Type::b64
                       : Type::b128;
}

void decode_vector(Decoder& d, const Operand& vector, const Operand& scalar, Type type, bool pack) {
  const int whole = ptx::bits(type), count = static_cast<int>(vector.elements.size());
  if (count == 0 || whole % count) d.unsupported("the vector does not fill the scalar");
  const int part = whole / count;
  std::vector<uint32_t> list;
  if (pack) {
    for (const Operand& each : vector.elements) list.push_back(d.src(each, of_width(part)));
    d.inst().d = d.dst(scalar, type);
  } else {
    for (const Operand& each : vector.elements) list.push_back(d.dst(each, of_width(part)));
    d.inst().a = d.src(scalar, type);
  }
  d.early_clobber();
  d.inst().list = d.list(std::move(list));
  struct Form {
    int part, whole;
    Handler pack, unpack;
  };
  static const Form forms[] = {
      {8, 16, run_pack_bytes<uint16_t, 2>, run_unpack_bytes<uint16_t, 2>},
      {8, 32, run_pack_bytes<uint32_t, 4>, run_unpack_bytes<uint32_t, 4>},
      {16, 32, run_pack<uint16_t, uint32_t, 2>, run_unpack<uint16_t, uint32_t, 2>},
      {16, 64, run_pack<uint16_t, uint64_t, 4>, run_unpack<uint16_t, uint64_t, 4>},
      {32, 64, run_pack<uint32_t, uint64_t, 2>, run_unpack<uint32_t, uint64_t, 2>},
      {32, 128, run_pack<uint32_t, Quad, 4>, run_unpack<uint32_t, Quad, 4>},
      {64, 128, run_pack<uint64_t, Quad, 2>, run_unpack<uint64_t, Quad, 2>},
  };
  for (const Form& form : forms) {
    if (form.part == part && form.whole == whole) d.inst().inner = pack ? form.pack : form.unpack;
  }
}

void decode_move(Decoder& d) {
  const Type type = d.type();
  const Operand& to = d.operand(0);
  const Operand& from = d.operand(1);
  if (from.kind == Operand::Kind::vector) return decode_vector(d, from, to, type, true);
  if (to.kind == Operand::Kind::vector) return decode_vector(d, to, from, type, false);
  const int width = ptx::bits(type);
  d.inst().d = d.dst(to, type);
  if (from.kind == Operand::Kind::special && from.text != "WARP_SZ") return decode_special(d, from, width);
  if (from.kind == Operand::Kind::variable && from.variable->space == Space::local) {
    d.inst().imm = d.loader().address_of(*from.variable) + static_cast<uint64_t>(from.value);
    d.inst().bytes = static_cast<uint8_t>(width / 8);
    d.inst().inner = run_frame_address;
    return;
  }
  if (width == 1) {
    bool negated = false;
    d.inst().a = d.predicate(from, negated);
    d.inst().imm = negated;
    d.inst().inner = run_move_predicate;
    return;
  }
  d.inst().a = d.src(from, type);
  d.inst().inner = width == 16    ? run_move<uint16_t>
                   : width == 32  ? run_move<uint32_t>
                   : width == 64  ? run_move<uint64_t>
                   : width == 128 ? run_move<Quad>
                                  : nullptr;
}

}  // namespace

std::span<const Opcode> move_opcodes() {
  static const Opcode table[] = {{"mov", decode_move}};
  return table;
}

}  // namespace simulator
