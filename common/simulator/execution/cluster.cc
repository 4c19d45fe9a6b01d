#include "common/simulator/execution/cluster.h"

#include <bit>

#include "common/simulator/execution/check_shared.h"
#include "common/simulator/execution/decoder.h"
#include "common/simulator/execution/machine.h"
#include "common/simulator/execution/tensor_allocation.h"
#include "common/simulator/settings.h"

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

// Kernels with tcgen05 have their last barrier relaxed at times: what it parts has ended by then.
bool is_relaxed(const Warp& warp, bool relaxed) {
  return relaxed && (settings().strict || warp.cta->grid->entry->cta_group == 0);
}

}  // namespace

void check_presence(Warp& warp, int lane, const Cta& holder) {
  if (&holder == warp.cta) return;
  if (holder.unfinished == 0) {
    const std::string what = "access to shared memory of " + name_of_cta(holder) + ", which has exited";
    if (!settings().survive) fault(warp, FindingKind::illegal_address, what, lane);
    return finding(warp, FindingKind::absent_cta, what, lane);  // with checks off, too
  }
  if (!warp.worker->checking) return;
  const SharedShadow& shadow = warp.cta->cluster->shadow;
  if (!shadow.knows_cta(warp.in_cluster, holder.rank)) {
    finding(warp, FindingKind::absent_cta,
            "access to shared memory of " + name_of_cta(holder) +
                ", which may not have started: a barrier.cluster of all threads must come before",
            lane);
  }
}

void reach(Warp& warp, int lane, const Cta& holder, bool write) {
  if (&holder == warp.cta) return;
  check_presence(warp, lane, holder);
  if (!warp.worker->checking) return;
  SharedShadow& shadow = warp.cta->cluster->shadow;
  shadow.reached(warp.in_cluster, static_cast<uint32_t>(lane), warp.frame->program->first + warp.pc - 1,
                 holder.rank, write);
}

void release_to(Warp& warp, std::vector<uint32_t>& clock, bool relaxed) {
  SharedShadow& shadow = warp.cta->cluster->shadow;
  if (!is_relaxed(warp, relaxed)) return shadow.release(warp.in_cluster, clock);
  shadow.release_ctas(warp.in_cluster, clock);
  shadow.merge(warp.fenced, clock);
}

void acquire_from(Warp& warp, const std::vector<uint32_t>& clock, bool relaxed) {
  SharedShadow& shadow = warp.cta->cluster->shadow;
  if (!is_relaxed(warp, relaxed)) return shadow.acquire(warp.in_cluster, clock);
  shadow.merge(clock, warp.unfenced);
}

void leave_cta(Warp& warp, int lane) {
  const Cta& cta = *warp.cta;
  check_register_pool(warp, lane);
  if (!warp.worker->checking) return;
  check_tensor_leak(warp, lane);
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

std::span<const Opcode> cluster_opcodes() {
  static const Opcode table[] = {{"mapa", [](Decoder& d) { decode(d, true); }},
                                 {"getctarank", [](Decoder& d) { decode(d, false); }}};
  return table;
}

}  // namespace simulator
