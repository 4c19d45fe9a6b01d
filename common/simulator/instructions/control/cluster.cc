#include <bit>

#include "common/simulator/access/names.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/control/opcodes.h"
#include "common/simulator/machine/machine.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr uint64_t window_of_shared = shared_window >> 48;

// Register: of an address. generic: else in .shared::cluster. b: rank.
template <class Register, bool generic>
void run_map(Warp& warp, const Inst& inst) {
  const Register* a = warp.reg<Register>(inst.a);
  const uint32_t* b = warp.reg<uint32_t>(inst.b);
  if constexpr (generic) {
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const int l = std::countr_zero(left);
      if (uint64_t{a[l]} >> 48 != window_of_shared)
        fault(warp, FindingKind::illegal_instruction, "mapa of an address that is not in shared memory", l);
    }
  }
  constexpr Register rank_bits = static_cast<Register>(0xff) << rank_shift;
  warp.write<Register>(inst.d, [=](int l) {
    return static_cast<Register>((a[l] & ~rank_bits) |
                                 (static_cast<Register>(b[l]) << rank_shift & rank_bits));
  });
}

template <class Register, bool generic>
void run_rank(Warp& warp, const Inst& inst) {
  const Register* a = warp.reg<Register>(inst.a);
  if constexpr (generic) {
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const int l = std::countr_zero(left);
      if (uint64_t{a[l]} >> 48 != window_of_shared) {
        fault(warp, FindingKind::illegal_instruction, "getctarank of an address that is not in shared memory",
              l);
      }
    }
  }
  warp.write<uint32_t>(inst.d, [=](int l) { return static_cast<uint32_t>(a[l] >> rank_shift) & 0xff; });
}

// mapa, getctarank: the handlers for shared addresses of 32 and of 64 bits, and for generic ones.
void decode(Decoder& d, bool map) {
  const bool shared = d.has("shared::cluster");
  const Type type = d.type();
  if (type != Type::u64 && !(shared && type == Type::u32)) d.unsupported("addresses of this width");
  d.inst().d = d.dst(0, map ? type : Type::u32);
  d.inst().a = d.src(1, type);
  if (map) d.inst().b = d.src(2, Type::u32);
  if (d.operand_count() != (map ? 3 : 2)) d.unsupported("unexpected operands");
  d.inst().inner = !shared             ? map ? run_map<uint64_t, true> : run_rank<uint64_t, true>
                               : type == Type::u32 ? map ? run_map<uint32_t, false> : run_rank<uint32_t, false>
                               : map ? run_map<uint64_t, false>
                                       : run_rank<uint64_t, false>;
}

// The last threads of the warp's CTA are about to exit: no other CTA may be about to address its shared
// memory.
void check_reach(Warp& warp, int lane) {
  const Cta& cta = *warp.cta;
  if (!warp.worker->checking) return;
  const auto other = cta.cluster->shadow.unordered_reach(cta.rank);
  if (!other) return;
  finding(warp, FindingKind::absent_cta,
          name_of_cta(cta) +
              " exits while another CTA may still address its shared memory: a barrier.cluster, or "
              "an mbarrier that it waits for, must come between",
          lane,
          {std::string("the ") + (other->write ? "write" : "read") + " is by " +
           name_of_thread(warp, other->warp, other->lane) + " at " + place_of(cta, other->pc)});
}

class Clusters final : public Unit {
  void leave(Warp& warp, int lane) override { check_reach(warp, lane); }
};

}  // namespace

Unit& cluster_unit() {
  static Clusters unit;
  return unit;
}

std::span<const Opcode> cluster_opcodes() {
  static const Opcode table[] = {{"mapa", [](Decoder& d) { decode(d, true); }},
                                 {"getctarank", [](Decoder& d) { decode(d, false); }}};
  return table;
}

}  // namespace simulator
