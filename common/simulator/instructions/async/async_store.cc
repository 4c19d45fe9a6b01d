#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>

#include "common/simulator/access/addresses.h"
#include "common/simulator/access/names.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/async/opcodes.h"
#include "common/simulator/instructions/sync/mbarrier.h"
#include "common/simulator/instructions/sync/mbarrier_life.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/naming/mbarrier_names.h"
#include "common/simulator/numeric/atomic_operation.h"
#include "common/simulator/units/async_stores.h"
#include "common/simulator/units/mbarriers.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

using Reduce = void (*)(std::byte* at, const std::byte* value);

struct StoreUse {
  AddressUse to, mbarrier;
  uint32_t mbarrier_base = 0;  // register
  uint64_t mbarrier_offset = 0;
  Reduce reduce = nullptr;
  uint32_t count = 1, element = 4;  // values of a lane, bytes of each
};

template <class T, class Op>
void reduce(std::byte* at, const std::byte* value) {
  T old, operand;
  std::memcpy(&old, at, sizeof old);
  std::memcpy(&operand, value, sizeof operand);
  old = Op::apply(old, operand, T{});
  std::memcpy(at, &old, sizeof old);
}

void land(Cta& cta, AsyncStore& store) {
  if (store.landed) return;
  store.landed = true;
  std::byte* to = cta.shared.data() + store.to;
  if (store.reduce) {
    store.reduce(to, store.value.data());
  } else {
    std::memcpy(to, store.value.data(), store.bytes);
  }
  if (arrives_late(cta, store.mbarrier, store.phase,
                   {"an asynchronous store", *store.warp, store.lane, store.pc}))
    return;
  MbarrierClocks& mbarrier = mbarriers_of(cta)[store.mbarrier];
  if (cta.worker->checking) cta.cluster->shadow.merge(store.clock, mbarrier.arriving);
  store.phase = mbarrier.phase;
  const std::string problem = complete_bytes(cta, store.mbarrier, store.bytes);
  if (problem.empty()) return;
  const Program& program = *program_at(cta, store.pc);
  throw Fault({FindingKind::illegal_instruction,
               problem,
               {},
               site_of(*store.warp, program, store.pc - program.first, static_cast<int>(store.lane))});
}

// a, imm: where to; list: the values.
void run(Warp& warp, const Inst& inst) {
  const StoreUse& use = *static_cast<const StoreUse*>(inst.data);
  Resolved to, mbarrier;
  Inst counter = inst;
  counter.a = use.mbarrier_base;
  counter.imm = use.mbarrier_offset;
  counter.bytes = 8;
  resolve(warp, counter, use.mbarrier, mbarrier);
  resolve(warp, inst, use.to, to);
  if (!to.shared || !mbarrier.shared)
    fault(warp, FindingKind::illegal_address, "an asynchronous store goes to shared memory");
  if (warp.cta->cluster->ctas.size() == 1)
    fault(warp, FindingKind::illegal_instruction, "an asynchronous store takes a cluster of several CTAs");
  std::array<std::byte, 16> values[warp_size];
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    for (uint32_t k = 0; k < use.count; ++k) {
      std::memcpy(values[l].data() + k * use.element,
                  warp.registers + inst.list[k] + static_cast<uint32_t>(l) * use.element, use.element);
    }
    if (to.holder[l] != mbarrier.holder[l]) {
      fault(warp, FindingKind::illegal_instruction,
            "an asynchronous store to " + name_of_cta(*to.holder[l]) + " that an mbarrier of " +
                name_of_cta(*mbarrier.holder[l]) + " counts: it must be of the same CTA",
            l);
    }
    if (!mbarriers_of(*to.holder[l]).contains(static_cast<uint32_t>(mbarrier.address[l]))) {
      fault(warp, FindingKind::illegal_instruction,
            "there is no mbarrier object where the store is to be counted, " +
                name_of_mbarrier(*to.holder[l], static_cast<uint32_t>(mbarrier.address[l])) +
                (to.holder[l] == warp.cta ? "" : " of " + name_of_cta(*to.holder[l])) +
                ": it has not been initialised",
            l);
    }
    check_mbarrier(warp, *to.holder[l], static_cast<uint32_t>(mbarrier.address[l]));
  }
  std::byte packed[warp_size * 16];
  for (uint32_t l = 0; l < warp_size; ++l) std::memcpy(packed + l * inst.bytes, values[l].data(), inst.bytes);
  stored(warp, inst, use.to, to, packed);  // who accesses these bytes now races with it
  std::vector<uint32_t> clock;
  if (warp.worker->checking) warp.cta->cluster->shadow.release_own(warp.in_cluster, clock);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const uint32_t l = static_cast<uint32_t>(std::countr_zero(left));
    Cta& cta = *to.holder[l];
    AsyncStore store;
    store.warp = &warp;
    store.lane = l;
    store.pc = warp.frame->program->first + warp.pc - 1;
    store.number = cta.state<AsyncStores>().next++ << 4 | cta.rank;  // of the cluster
    store.to = static_cast<uint32_t>(to.address[l]);
    store.mbarrier = static_cast<uint32_t>(mbarrier.address[l]);
    store.phase = mbarrier_phase(cta, store.mbarrier);
    store.bytes = inst.bytes;
    store.value = values[l];
    store.reduce = use.reduce;
    store.clock = clock;
    if (warp.worker->checking) {
      cta.cluster->pending_copies.add(shadow_offset(cta, store.to), store.bytes,
                                      {warp.in_cluster, l, async_store_number | store.number});
    }
    cta.state<AsyncStores>().pending.push_back(std::move(store));
  }
}

Reduce reduction(int op, Type type) {
  enum Operation { inc, dec, min, max, op_and, op_or, op_xor, add };
  const auto on_integers = [&]<class T>(T) -> Reduce {
    if (op == min) return reduce<T, Min<T>>;
    if (op == max) return reduce<T, Max<T>>;
    return op == add ? Reduce{reduce<T, Add<T>>} : nullptr;
  };
  switch (type) {
    case Type::u32:
      if (op == inc) return reduce<uint32_t, Increment>;
      if (op == dec) return reduce<uint32_t, Decrement>;
      return on_integers(uint32_t{});
    case Type::s32:
      return on_integers(int32_t{});
    case Type::u64:
      return op == add ? Reduce{reduce<uint64_t, Add<uint64_t>>} : nullptr;
    case Type::b32:
      if (op == op_and) return reduce<uint32_t, And<uint32_t>>;
      if (op == op_or) return reduce<uint32_t, Or<uint32_t>>;
      return op == op_xor ? Reduce{reduce<uint32_t, Xor<uint32_t>>} : nullptr;
    default:
      return nullptr;
  }
}

void land_stores_for(Cta& cta, uint32_t mbarrier) {
  const uint64_t phase = mbarrier_phase(cta, mbarrier);
  for (AsyncStore& store : cta.state<AsyncStores>().pending) {
    if (store.mbarrier != mbarrier || store.landed) continue;
    land(cta, store);
    if (mbarrier_phase(cta, mbarrier) != phase) return;
  }
}

void stores_seen(Cta& cta, uint32_t mbarrier) {
  std::deque<AsyncStore>& pending = cta.state<AsyncStores>().pending;
  if (pending.empty()) return;
  const uint64_t phase = mbarrier_phase(cta, mbarrier);
  std::erase_if(pending, [&](const AsyncStore& store) {
    if (store.mbarrier != mbarrier || !store.landed || store.phase >= phase) return false;
    if (cta.worker->checking) {
      cta.cluster->pending_copies.remove(
          shadow_offset(cta, store.to), store.bytes,
          {store.warp->in_cluster, store.lane, async_store_number | store.number});
    }
    return true;
  });
}

void land_stores_at_random(Cta& cta, uint64_t random) {
  for (AsyncStore& store : cta.state<AsyncStores>().pending) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    if ((random >> 40 & 3) == 0) land(cta, store);
  }
}

// What the mbarrier has counted, a line for each instruction.
void describe_stores(const Cta& cta, uint32_t mbarrier, std::vector<std::string>& lines) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> bytes;  // by warp of the cluster and instruction
  for (const AsyncStore& store : cta.state<AsyncStores>().pending) {
    if (store.mbarrier == mbarrier && store.landed && store.phase == mbarrier_phase(cta, mbarrier))
      bytes[{store.warp->in_cluster, store.pc}] += store.bytes;
  }
  for (const auto& [from, count] : bytes) {
    const Warp& warp = warp_of_cluster(*cta.cluster, from.first);
    lines.push_back("  it has counted " + std::to_string(count) + " bytes of asynchronous stores by warp " +
                    std::to_string(warp.index) + " of " + name_of_cta(*warp.cta) + " at " +
                    place_of(cta, from.second));
  }
}

class AsyncStoreUnit final : public Unit {
  void start(Cta& cta) override { cta.make<AsyncStores>() = {}; }
  bool pending(const Cta& cta) const override { return !cta.state<AsyncStores>().pending.empty(); }
  void land_at_random(Cta& cta, uint64_t random) override { land_stores_at_random(cta, random); }
  void land_for(Cta& cta, uint32_t mbarrier) override { land_stores_for(cta, mbarrier); }
  void seen(Warp&, Cta& cta, uint32_t mbarrier) override { stores_seen(cta, mbarrier); }
  void describe(const Cta& cta, uint32_t mbarrier, std::vector<std::string>& lines) const override {
    describe_stores(cta, mbarrier, lines);
  }
};

}  // namespace

Unit& async_store_unit() {
  static AsyncStoreUnit unit;
  return unit;
}

void decode_async_store(Decoder& d) {
  StoreUse use;
  const bool reduces = d.ptx().opcode == "red";
  use.to.kind = reduces ? AccessKind::atomic : AccessKind::store;
  use.to.strong = reduces;
  use.mbarrier.kind = AccessKind::atomic;
  use.mbarrier.counted = false;
  if (!d.has("mbarrier::complete_tx::bytes")) d.unsupported("not without an mbarrier");
  memory_space(d, use.to);
  if (!use.to.cluster) d.unsupported("it goes to .shared::cluster");
  use.mbarrier.space = use.to.space;
  use.mbarrier.generic = use.to.generic;
  use.mbarrier.cluster = true;
  const int order = d.one_of({"weak", "relaxed"});
  const bool cluster_scope = d.has("cluster");
  if (reduces && (order != 1 || !cluster_scope)) d.unsupported("it must be .relaxed.cluster");
  const int vector = reduces ? -1 : d.one_of({"v2", "v4"});
  use.count = vector < 0 ? 1 : 2u << vector;
  if (reduces) {
    const int op = d.one_of({"inc", "dec", "min", "max", "and", "or", "xor", "add"});
    use.reduce = reduction(op, d.type());
    if (!use.reduce) d.unsupported("not for this type");
  }
  const Type type = d.type();
  use.element = static_cast<uint32_t>(ptx::bits(type)) / 8;
  if ((use.element != 4 && use.element != 8) || use.element * use.count > 16)
    d.unsupported("not for this type");
  if (d.operand_count() != 3) d.unsupported("unexpected operands");
  std::vector<uint32_t> list;
  const Operand& value = d.operand(1);
  if ((value.kind == Operand::Kind::vector ? value.elements.size() : 1) != use.count)
    d.unsupported("the vector's size differs");
  if (value.kind == Operand::Kind::vector) {
    for (const Operand& each : value.elements) list.push_back(d.src(each, type));
  } else {
    list.push_back(d.src(value, type));
  }
  use.mbarrier = memory_address(d, d.operand(2), use.mbarrier, 8);
  use.mbarrier_base = d.inst().a;
  use.mbarrier_offset = d.inst().imm;
  use.to = memory_address(d, d.operand(0), use.to, use.element * use.count);
  d.inst().list = d.list(std::move(list));
  d.inst().data = d.keep(use);
  d.inst().inner = run;
}

}  // namespace simulator
