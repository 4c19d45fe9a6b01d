#include "common/simulator/instructions/sync/mbarrier.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simulator/access/addresses.h"
#include "common/simulator/access/names.h"
#include "common/simulator/access/release_acquire.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/sync/mbarrier_life.h"
#include "common/simulator/instructions/sync/opcodes.h"
#include "common/simulator/naming/mbarrier_names.h"
#include "common/simulator/units/mbarriers.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr uint32_t most_arrivals = (1u << 20) - 1;
constexpr int32_t most_bytes = (1 << 20) - 1;

using State = MbarrierState;

std::string the_mbarrier(const Cta& cta, uint32_t address) {
  return "the mbarrier " + name_of_mbarrier(cta, address);
}

std::string too_many_bytes(const Cta& cta, uint32_t address, int64_t bytes) {
  return "an mbarrier counts at most 2^20 - 1 bytes under way, not " + std::to_string(bytes) + ": " +
         the_mbarrier(cta, address);
}

// Where a copy or a commit is to be counted.
std::string no_mbarrier(const Cta& cta, uint32_t address) {
  return "there is no mbarrier object " + name_of_mbarrier(cta, address);
}

// The initialisation must come before all else, by a barrier; for other CTAs, where its arrivals are relaxed,
// with fence.mbarrier_init before it.
void check_initialised_before(Warp& warp, const Cta& cta, uint32_t address, MbarrierClocks& mbarrier) {
  const SharedShadow& shadow = cta.cluster->shadow;
  if (mbarrier.life != shadow.life() ||
      shadow.knows(warp.in_cluster, mbarrier.init_warp, mbarrier.init_clock))
    return;
  if (mbarrier.init_tick != 0 && shadow.knows_cta(warp.in_cluster, cta.rank, mbarrier.init_tick)) return;
  mbarrier.life = 0;  // not reported again
  finding(warp, FindingKind::race,
          the_mbarrier(cta, address) + " is used with nothing that orders its initialisation before this", -1,
          {"mbarrier.init is by " + name_of_thread(warp, mbarrier.init_warp, mbarrier.init_lane) + " at " +
           place_of(cta, mbarrier.init_pc) +
           ": a barrier must follow, with fence.mbarrier_init before it where it is relaxed"});
}

State load(Warp& warp, Cta& cta, uint32_t address) {
  if (!mbarriers_of(cta).contains(address)) {
    fault(warp, FindingKind::illegal_instruction,
          no_mbarrier(cta, address) + (&cta == warp.cta ? "" : " of " + name_of_cta(cta)) +
              ": it has not been initialised");
  }
  if (warp.worker->checking) check_initialised_before(warp, cta, address, mbarriers_of(cta)[address]);
  State state;
  std::memcpy(&state, cta.shared.data() + address, sizeof state);
  return state;
}

// Stores the state: that of the next phase where this one is complete.
void settle(Cta& cta, uint32_t address, State state) {
  if (state.pending == 0 && state.bytes == 0) {
    state.phase ^= 1;
    state.pending = state.expected;
    MbarrierClocks& clocks = mbarriers_of(cta)[address];
    clocks.completed = std::move(clocks.arriving);
    clocks.arriving.clear();
    ++clocks.phase;
  }
  std::memcpy(cta.shared.data() + address, &state, sizeof state);
  ++cta.worker->events;
}

void store(Warp& warp, Cta& cta, uint32_t address, State state) {
  settle(cta, address, state);
  ++warp.writes;
}

void take(Warp& warp, const Cta& cta, uint32_t address, State& state, uint32_t count) {
  if (count > state.pending) {
    fault(warp, FindingKind::illegal_instruction,
          std::to_string(count) + " arrive at an mbarrier that expects " + std::to_string(state.pending) +
              " more in this phase: " + the_mbarrier(cta, address));
  }
  state.pending -= count;
}

void expect_bytes(Warp& warp, const Cta& cta, uint32_t address, State& state, int64_t bytes) {
  const int64_t sum = state.bytes + bytes;
  if (sum > most_bytes || sum < -most_bytes)
    fault(warp, FindingKind::illegal_instruction, too_many_bytes(cta, address, sum));
  state.bytes = sum;
}

void release(Warp& warp, Cta& cta, uint32_t address, bool relaxed = false) {
  if (warp.worker->checking) release_to(warp, mbarriers_of(cta)[address].arriving, relaxed);
}

struct MbarrierUse {
  AddressUse address;
  bool drop = false, expect = false, keep = false;  // keep: .noComplete
  bool parity = false, relaxed = false;
};

// Calls f(lane, CTA, address in its shared memory) for every active lane; counts no memory request.
template <class F>
void each_object(Warp& warp, const Inst& inst, F f) {
  const MbarrierUse& use = *static_cast<const MbarrierUse*>(inst.data);
  Resolved at;
  resolve(warp, inst, use.address, at);
  if (!at.shared) fault(warp, FindingKind::illegal_address, "an mbarrier object must lie in shared memory");
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    f(lane, *at.holder[lane], static_cast<uint32_t>(at.address[lane]));
  }
}

// Where functions were called, down to this one: as MbarrierClocks::init_calls.
std::vector<uint32_t> calls_of(const Frame& frame, int lane) {
  std::vector<uint32_t> calls;
  for (const Frame* inside = &frame; inside;) {
    const auto way =
        std::ranges::find_if(inside->ways, [&](const Way& each) { return each.lanes >> lane & 1; });
    if (way == inside->ways.end() || !way->caller) break;
    calls.push_back(way->caller->program->first + way->return_pc - 1);
    inside = way->caller;
  }
  return calls;
}

void run_init(Warp& warp, const Inst& inst) {
  const uint64_t before = newest_mbarrier(warp);
  each_object(warp, inst, [&](int lane, Cta& cta, uint32_t address) {
    const uint32_t count = warp.reg<uint32_t>(inst.b)[lane];
    if (count == 0 || count > most_arrivals) {
      fault(warp, FindingKind::illegal_instruction, "an mbarrier for " + std::to_string(count) + " arrivals",
            lane);
    }
    State state{};
    state.pending = state.expected = count;
    state.one = 1;
    check_new_mbarrier(warp, lane, cta, address, before);
    MbarrierClocks& mbarrier = mbarriers_of(cta)[address] = {};
    mbarrier.phase = first_phase_of_new_mbarrier(warp);
    mbarrier.init_warp = warp.in_cluster;
    mbarrier.init_lane = static_cast<uint32_t>(lane);
    mbarrier.init_pc = warp.frame->program->first + warp.pc - 1;
    mbarrier.init_calls = calls_of(*warp.frame, lane);
    if (warp.worker->checking) {
      SharedShadow& shadow = cta.cluster->shadow;
      mbarrier.init_clock = shadow.clock_of_warp(warp.in_cluster);
      mbarrier.life = shadow.life();
    }
    std::memcpy(cta.shared.data() + address, &state, sizeof state);
    ++warp.worker->events;
    ++warp.writes;
  });
}

void run_invalidate(Warp& warp, const Inst& inst) {
  each_object(warp, inst, [&](int, Cta& cta, uint32_t address) {
    load(warp, cta, address);
    mbarriers_of(cta).erase(address);
  });
}

// b: bytes.
template <bool complete>
void run_bytes(Warp& warp, const Inst& inst) {
  each_object(warp, inst, [&](int lane, Cta& cta, uint32_t address) {
    State state = load(warp, cta, address);
    const int64_t bytes = warp.reg<uint32_t>(inst.b)[lane];
    expect_bytes(warp, cta, address, state, complete ? -bytes : bytes);
    store(warp, cta, address, state);
  });
}

// d: token (0: none); b: count, or bytes where .expect_tx.
void run_arrive(Warp& warp, const Inst& inst) {
  const MbarrierUse& use = *static_cast<const MbarrierUse*>(inst.data);
  each_object(warp, inst, [&](int lane, Cta& cta, uint32_t address) {
    State state = load(warp, cta, address);
    const uint64_t token = std::bit_cast<uint64_t>(state);
    const uint32_t operand = inst.b ? warp.reg<uint32_t>(inst.b)[lane] : 1;
    release(warp, cta, address, use.relaxed);
    if (use.expect) expect_bytes(warp, cta, address, state, operand);
    const uint32_t count = use.expect ? 1 : operand;
    if (use.drop) state.expected -= count;
    take(warp, cta, address, state, count);
    if (use.keep && state.pending == 0) {
      fault(warp, FindingKind::illegal_instruction,
            "an arrival with .noComplete completes the phase of " + the_mbarrier(cta, address), lane);
    }
    store(warp, cta, address, state);
    if (inst.d) warp.reg<uint64_t>(inst.d)[lane] = token;
  });
}

// d: predicate; b: token or parity.
void run_wait(Warp& warp, const Inst& inst) {
  const MbarrierUse& use = *static_cast<const MbarrierUse*>(inst.data);
  uint32_t done = 0;
  struct {
    uint32_t address = 0;
    uint64_t phase = 0;
    bool done = false;
  } last;  // the result of the lane before: most often all lanes test the same phase
  each_object(warp, inst, [&](int lane, Cta& cta, uint32_t address) {
    const uint64_t phase = use.parity ? warp.reg<uint32_t>(inst.b)[lane] & 1
                                      : std::bit_cast<State>(warp.reg<uint64_t>(inst.b)[lane]).phase;
    if (address != last.address || phase != last.phase) {
      last = {address, phase, load(warp, cta, address).phase != phase};
      if (last.done) {
        if (warp.worker->checking) saw_phase(warp, cta, address);
        if (warp.state<MbarrierWait>().address == address) warp.state<MbarrierWait>().address = 0;
        if (warp.worker->checking) acquire_from(warp, mbarriers_of(cta)[address].completed, use.relaxed);
        for (Unit* unit : units_of(cta)) unit->seen(warp, cta, address);
      } else {
        warp.state<MbarrierWait>().address = address;
        const uint64_t present = mbarrier_phase(cta, address);
        for (Unit* unit : units_of(cta)) {
          if (mbarrier_phase(cta, address) == present) unit->land_for(cta, address);
        }
      }
    }
    done |= static_cast<uint32_t>(last.done) << lane;
  });
  warp.set_pred(inst.d, done);
  if (done != warp.exec) {  // it will test again: others first
    ++warp.polls;
    warp.yield = true;
    warp.stop = 0;
  }
}

void run_pending_count(Warp& warp, const Inst& inst) {
  const uint64_t* token = warp.reg<uint64_t>(inst.a);
  warp.write<uint32_t>(inst.d,
                       [&](int l) { return static_cast<uint32_t>(std::bit_cast<State>(token[l]).pending); });
}

void decode(Decoder& d) {
  if (d.has("pending_count")) {
    d.type();
    d.inst().d = d.dst(0, Type::u32);
    d.inst().a = d.src(1, Type::b64);
    d.inst().inner = run_pending_count;
    return;
  }
  MbarrierUse use;
  enum Operation { arrives, drops, initialises, invalidates, expects, completes, tests, tries };
  const int op = d.one_of(
      {"arrive", "arrive_drop", "init", "inval", "expect_tx", "complete_tx", "test_wait", "try_wait"});
  if (op < 0) d.unsupported("this simulator has no such mbarrier instruction");
  const bool arrive = op == arrives || op == drops, wait = op == tests || op == tries;
  if (arrive) {
    use.drop = op == drops;
    use.expect = d.has("expect_tx");
    use.keep = d.has("noComplete");
  }
  if (wait) use.parity = d.has("parity");
  use.address.kind = AccessKind::atomic;
  memory_space(d, use.address);
  use.relaxed = d.one_of({"release", "acquire", "relaxed"}) == 2;
  d.one_of({"cta", "cluster"});
  d.type();
  d.early_clobber();
  size_t next = 0;
  if (wait) {
    d.inst().d = d.dst(next++, Type::pred);
  } else if (arrive && d.operand(0).kind != Operand::Kind::address) {
    const Operand& token = d.operand(next++);
    if (token.kind != Operand::Kind::sink) d.inst().d = d.dst(token, Type::b64);
  }
  // Of another CTA: only what returns no state (PTX ISA 9.7.13.15.13, .14, .11, .12).
  const bool remote = (arrive && !d.inst().d) || op == expects || op == completes;
  if (use.address.cluster && !remote) d.unsupported("not on an mbarrier of another CTA");
  use.address.cluster = remote;
  use.address = memory_address(d, d.operand(next++), use.address, 8);
  if (wait) {
    d.inst().b = d.src(next++, use.parity ? Type::u32 : Type::b64);
    if (op == tries && next < d.operand_count()) d.src(next++, Type::u32);  // how long to suspend: a hint
  } else if (op != invalidates && next < d.operand_count()) {
    d.inst().b = d.src(next++, Type::u32);
  }
  if (next != d.operand_count() ||
      ((op == initialises || op == expects || op == completes || use.expect) && !d.inst().b)) {
    d.unsupported("unexpected operands");
  }
  d.memory() = {};  // no memory request: mbarriers are a unit of their own
  d.inst().data = d.keep(use);
  const Handler handlers[] = {run_arrive,       run_arrive,      run_init, run_invalidate,
                              run_bytes<false>, run_bytes<true>, run_wait, run_wait};
  d.inst().inner = handlers[op];
}

// What the present phase of the object at this address waits for.
void describe_missing(const Cta& cta, uint32_t address, std::vector<std::string>& lines) {
  const auto found = mbarriers_of(cta).find(address);
  if (found == mbarriers_of(cta).end()) return;
  State state;
  std::memcpy(&state, cta.shared.data() + address, sizeof state);
  const int64_t bytes = state.bytes;
  std::string text = "  phase " + std::to_string(number_of_phase(found->second.phase)) + " of " +
                     the_mbarrier(cta, address) + " is not complete: " + std::to_string(state.pending) +
                     " of " + std::to_string(state.expected) + " arrivals are missing";
  if (bytes > 0) text += ", and " + std::to_string(bytes) + " bytes that are expected";
  if (bytes < 0) text += ", and " + std::to_string(-bytes) + " bytes have arrived that were not expected";
  lines.push_back(std::move(text));
  for (const Unit* unit : units_of(cta)) unit->describe(cta, address, lines);
}

class MbarrierUnit final : public Unit {
  void start(Cta& cta) override {
    cta.make<Mbarriers>().objects.clear();
    cta.worker->make<MbarrierNumbers>();
    for (Warp& warp : cta.warps) warp.make<MbarrierWait>() = {};
  }
  void describe(const Warp& warp, std::vector<std::string>& lines) const override {
    if (!warp.live || !warp.state<MbarrierWait>().address) return;
    describe_missing(*warp.cta, warp.state<MbarrierWait>().address, lines);
    if (std::string line = missed_phase(warp, *warp.cta, warp.state<MbarrierWait>().address); !line.empty())
      lines.push_back(std::move(line));
  }
};

}  // namespace

void arrive_at_mbarrier(Warp& warp, Cta& cta, uint32_t address, uint32_t count) {
  State state = load(warp, cta, address);
  release(warp, cta, address);
  take(warp, cta, address, state, count);
  store(warp, cta, address, state);
}

std::string complete_bytes(Cta& cta, uint32_t address, uint32_t bytes) {
  if (!mbarriers_of(cta).contains(address)) return no_mbarrier(cta, address);
  State state;
  std::memcpy(&state, cta.shared.data() + address, sizeof state);
  const int64_t missing = state.bytes - int64_t{bytes};
  if (missing < -most_bytes) return too_many_bytes(cta, address, missing);
  state.bytes -= bytes;
  settle(cta, address, state);
  return {};
}

void check_mbarrier(Warp& warp, Cta& cta, uint32_t address) {
  load(warp, cta, address);
}

std::string arrive_asynchronously(Cta& cta, uint32_t address, const std::vector<uint32_t>& clock) {
  if (!mbarriers_of(cta).contains(address)) return no_mbarrier(cta, address);
  State state;
  std::memcpy(&state, cta.shared.data() + address, sizeof state);
  if (state.pending == 0)
    return "an arrival at an mbarrier that expects no more in this phase: " + the_mbarrier(cta, address);
  if (cta.worker->checking) cta.cluster->shadow.merge(clock, mbarriers_of(cta)[address].arriving);
  --state.pending;
  settle(cta, address, state);
  return {};
}

void publish_mbarriers(Warp& warp) {
  SharedShadow& shadow = warp.cta->cluster->shadow;
  shadow.publish(warp.in_cluster);
  for (auto& [address, mbarrier] : mbarriers_of(*warp.cta)) {
    if (mbarrier.init_warp == warp.in_cluster && mbarrier.init_tick == 0)
      mbarrier.init_tick = shadow.tick_of(warp.cta->rank);
  }
}

void expect_one_more(Warp& warp, Cta& cta, uint32_t address) {
  State state = load(warp, cta, address);
  if (state.pending == most_arrivals)
    fault(warp, FindingKind::illegal_instruction, "too many arrivals at " + the_mbarrier(cta, address));
  state.pending += 1;
  std::memcpy(cta.shared.data() + address, &state, sizeof state);
}

Unit& mbarrier_unit() {
  static MbarrierUnit unit;
  return unit;
}

std::span<const Opcode> mbarrier_opcodes() {
  static const Opcode table[] = {{"mbarrier", decode}};
  return table;
}

}  // namespace simulator
