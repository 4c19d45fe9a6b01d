// Instructions that the lanes of a warp execute together (PTX ISA 9.7.13 and 9.7.9.6): shuffles, votes,
// matches, reductions. A group in which some of the named lanes are missing waits for them.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/machine/scheduler.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

// Calls f(lanes) for every set of lanes that name each other in their masks and are all here. Lanes outside
// their own mask, or that name a lane which has exited, are findings; the rest wait.
template <class F>
void each_team(Warp& warp, const Inst& inst, uint32_t mask_register, F f) {
  if (!warp.enter_guard(inst)) return;
  const uint32_t* masks = warp.reg<uint32_t>(mask_register);
  uint32_t left = warp.exec, waiting = 0;
  while (left) {
    const int lane = std::countr_zero(left);
    const uint32_t mask = masks[lane];
    uint32_t team = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      if (masks[std::countr_zero(rest)] == mask) team |= rest & -rest;
    }
    left &= ~team;
    if (mask & warp.live & ~team) {
      waiting |= team;
      continue;
    }
    if (warp.worker->checking) {
      if (team & ~mask) {
        finding(warp, FindingKind::invalid_shuffle, "this thread is not in the mask of lanes that it names",
                std::countr_zero(team & ~mask));
      }
      if (mask & warp.started & ~warp.live) {
        finding(warp, FindingKind::invalid_shuffle,
                "the mask names lane " + std::to_string(std::countr_zero(mask & warp.started & ~warp.live)) +
                    ", which has exited",
                lane);
      }
    }
    f(team);
  }
  wait_for_others(warp, waiting);
}

// Writes d for the lanes of a team only.
template <class T, class F>
void write_team(Warp& warp, uint32_t offset, uint32_t team, F f) {
  T* d = warp.reg<T>(offset);
  for (int l = 0; l < warp_size; ++l) {
    if (team >> l & 1) d[l] = f(l);
  }
}
void set_team(Warp& warp, uint32_t offset, uint32_t team, uint32_t bits) {
  bits = (bits & team) | (warp.pred(offset) & ~team);
  std::memcpy(warp.registers + offset, &bits, 4);
}

enum class Shuffle { up, down, bfly, idx };

// list: destination, predicate destination (0: none), source, b, c, mask.
template <Shuffle mode>
void run_shuffle(Warp& warp, const Inst& inst) {
  each_team(warp, inst, inst.list[5], [&](uint32_t team) {
    const uint32_t* a = warp.reg<uint32_t>(inst.list[2]);
    const uint32_t* b = warp.reg<uint32_t>(inst.list[3]);
    const uint32_t* c = warp.reg<uint32_t>(inst.list[4]);
    uint32_t value[32], in_range = 0, invalid = 0;
    for (int lane = 0; lane < warp_size; ++lane) {
      const int distance = static_cast<int>(b[lane] & 31);
      const int segment = static_cast<int>(c[lane] >> 8 & 31), clamp = static_cast<int>(c[lane] & 31);
      const int most = (lane & segment) | (clamp & ~segment);
      int from = 0;
      bool ok = false;
      switch (mode) {
        case Shuffle::up:
          from = lane - distance, ok = from >= most;
          break;
        case Shuffle::down:
          from = lane + distance, ok = from <= most;
          break;
        case Shuffle::bfly:
          from = lane ^ distance, ok = from <= most;
          break;
        case Shuffle::idx:
          from = (lane & segment) | (distance & ~segment), ok = from <= most;
          break;
      }
      if (!ok) from = lane;
      value[lane] = a[from & 31];
      in_range |= static_cast<uint32_t>(ok) << lane;
      invalid |= static_cast<uint32_t>(ok && !(team >> (from & 31) & 1)) << lane;
    }
    invalid &= team;
    if (invalid && warp.worker->checking) {
      finding(warp, FindingKind::invalid_shuffle, "the shuffle reads a lane that does not take part in it",
              std::countr_zero(invalid));
    }
    write_team<uint32_t>(warp, inst.list[0], team, [&](int l) { return value[l]; });
    if (inst.list[1]) set_team(warp, inst.list[1], team, in_range);
  });
}

void decode_shuffle(Decoder& d) {
  if (!d.has("sync")) d.unsupported("shfl without .sync");
  const int mode = d.one_of({"up", "down", "bfly", "idx"});
  if (mode < 0 || ptx::bits(d.type()) != 32) d.unsupported("unknown shuffle");
  d.own_guard();
  d.early_clobber();
  const Operand& to = d.operand(0);
  const bool pair = to.kind == Operand::Kind::pair;
  const bool predicate = pair && to.elements.at(1).kind != Operand::Kind::sink;
  std::vector<uint32_t> list;
  list.push_back(d.dst(pair ? to.elements.at(0) : to, Type::b32));
  list.push_back(predicate ? d.dst(to.elements[1], Type::pred) : 0);
  for (size_t i = 1; i <= 4; ++i) list.push_back(d.src(i, Type::b32));
  d.inst().list = d.list(std::move(list));
  const Handler handlers[] = {run_shuffle<Shuffle::up>, run_shuffle<Shuffle::down>,
                              run_shuffle<Shuffle::bfly>, run_shuffle<Shuffle::idx>};
  d.inst().inner = handlers[mode];
}

enum class Vote { all, any, uni, ballot };

// imm: the predicate is negated.
template <Vote mode>
void run_vote(Warp& warp, const Inst& inst) {
  each_team(warp, inst, inst.b, [&](uint32_t team) {
    const uint32_t yes = (inst.imm ? ~warp.pred(inst.a) : warp.pred(inst.a)) & team;
    if (mode == Vote::ballot) return write_team<uint32_t>(warp, inst.d, team, [&](int) { return yes; });
    const bool result = mode == Vote::all   ? yes == team
                        : mode == Vote::any ? yes != 0
                                            : yes == 0 || yes == team;
    set_team(warp, inst.d, team, result ? ~0u : 0);
  });
}

void decode_vote(Decoder& d) {
  if (!d.has("sync")) d.unsupported("vote without .sync");
  const int mode = d.one_of({"all", "any", "uni", "ballot"});
  if (mode < 0) d.unsupported("unknown vote");
  d.has("pred");
  d.type();
  d.own_guard();
  d.early_clobber();
  d.inst().d = d.dst(0, mode == 3 ? Type::b32 : Type::pred);
  bool negated = false;
  d.inst().a = d.predicate(d.operand(1), negated);
  d.inst().imm = negated;
  d.inst().b = d.src(2, Type::b32);
  const Handler handlers[] = {run_vote<Vote::all>, run_vote<Vote::any>, run_vote<Vote::uni>,
                              run_vote<Vote::ballot>};
  d.inst().inner = handlers[mode];
}

// c: predicate destination of match.all (0: none).
template <class T, bool all>
void run_match(Warp& warp, const Inst& inst) {
  each_team(warp, inst, inst.b, [&](uint32_t team) {
    const T* a = warp.reg<T>(inst.a);
    uint32_t equal[32] = {};
    for (int l = 0; l < warp_size; ++l) {
      for (int k = 0; k < warp_size; ++k) equal[l] |= static_cast<uint32_t>(a[l] == a[k]) << k;
      equal[l] &= team;
    }
    const bool same = equal[std::countr_zero(team)] == team;
    write_team<uint32_t>(warp, inst.d, team, [&](int l) { return all ? (same ? team : 0) : equal[l]; });
    if (all && inst.c) set_team(warp, inst.c, team, same ? ~0u : 0);
  });
}

void decode_match(Decoder& d) {
  const int mode = d.one_of({"any", "all"});
  const int bits = ptx::bits(d.type());
  if (!d.has("sync") || mode < 0 || (bits != 32 && bits != 64)) d.unsupported("unknown match");
  d.own_guard();
  d.early_clobber();
  const Operand& to = d.operand(0);
  const bool pair = to.kind == Operand::Kind::pair;
  d.inst().d = d.dst(pair ? to.elements.at(0) : to, Type::b32);
  if (pair && to.elements.at(1).kind != Operand::Kind::sink) d.inst().c = d.dst(to.elements[1], Type::pred);
  d.inst().a = d.src(1, bits == 32 ? Type::b32 : Type::b64);
  d.inst().b = d.src(2, Type::b32);
  d.inst().inner = bits == 32 ? (mode ? run_match<uint32_t, true> : run_match<uint32_t, false>)
                              : (mode ? run_match<uint64_t, true> : run_match<uint64_t, false>);
}

struct Add {
  static uint32_t apply(uint32_t a, uint32_t b) { return a + b; }
};
struct And {
  static uint32_t apply(uint32_t a, uint32_t b) { return a & b; }
};
struct Or {
  static uint32_t apply(uint32_t a, uint32_t b) { return a | b; }
};
struct Xor {
  static uint32_t apply(uint32_t a, uint32_t b) { return a ^ b; }
};
struct MinUnsigned {
  static uint32_t apply(uint32_t a, uint32_t b) { return std::min(a, b); }
};
struct MaxUnsigned {
  static uint32_t apply(uint32_t a, uint32_t b) { return std::max(a, b); }
};
struct MinSigned {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
  }
};
struct MaxSigned {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
  }
};

template <class Op>
void run_reduce(Warp& warp, const Inst& inst) {
  each_team(warp, inst, inst.b, [&](uint32_t team) {
    const uint32_t* a = warp.reg<uint32_t>(inst.a);
    uint32_t result = a[std::countr_zero(team)];
    for (uint32_t rest = team & (team - 1); rest; rest &= rest - 1)
      result = Op::apply(result, a[std::countr_zero(rest)]);
    write_team<uint32_t>(warp, inst.d, team, [&](int) { return result; });
  });
}

// redux.sync on f32 (sm_100a): min and max, with .abs and .NaN.
struct FloatReduction {
  bool max, absolute, nan;
};
void run_reduce_float(Warp& warp, const Inst& inst) {
  const FloatReduction& kind = *static_cast<const FloatReduction*>(inst.data);
  each_team(warp, inst, inst.b, [&](uint32_t team) {
    const float* a = warp.reg<float>(inst.a);
    bool any = false, nan = false;
    float result = 0;
    for (uint32_t rest = team; rest; rest &= rest - 1) {
      float value = a[std::countr_zero(rest)];
      if (kind.absolute) value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0x7fffffffu);
      if (value != value) {
        nan = true;
        continue;
      }
      const bool less = value < result ||
                        (value == result && std::bit_cast<int32_t>(value) < std::bit_cast<int32_t>(result));
      if (!any || (value != result || std::bit_cast<uint32_t>(value) != std::bit_cast<uint32_t>(result))) {
        if (!any || less != kind.max) result = value;
      }
      any = true;
    }
    if (!any || (kind.nan && nan)) result = std::bit_cast<float>(0x7fffffffu);
    write_team<float>(warp, inst.d, team, [&](int) { return result; });
  });
}

void decode_reduce(Decoder& d) {
  if (!d.has("sync")) d.unsupported("redux without .sync");
  const int op = d.one_of({"add", "min", "max", "and", "or", "xor"});
  const bool absolute = d.has("abs"), nan = d.has("NaN");
  const Type type = d.type();
  d.own_guard();
  d.early_clobber();
  d.inst().d = d.dst(0, type);
  d.inst().a = d.src(1, type);
  d.inst().b = d.src(2, Type::b32);
  if (type == Type::f32) {
    if (op != 1 && op != 2) d.unsupported("unknown reduction of f32");
    d.inst().data = d.keep(FloatReduction{op == 2, absolute, nan});
    d.inst().inner = run_reduce_float;
    return;
  }
  if (absolute || nan || ptx::bits(type) != 32) d.unsupported("unknown reduction");
  const bool is_signed = type == Type::s32;
  const Handler handlers[] = {run_reduce<Add>,
                              is_signed ? run_reduce<MinSigned> : run_reduce<MinUnsigned>,
                              is_signed ? run_reduce<MaxSigned> : run_reduce<MaxUnsigned>,
                              run_reduce<And>,
                              run_reduce<Or>,
                              run_reduce<Xor>};
  if (op >= 0) d.inst().inner = handlers[op];
}

void run_active_mask(Warp& warp, const Inst& inst) {
  const uint32_t lanes = warp.exec;
  warp.write<uint32_t>(inst.d, [lanes](int) { return lanes; });
}

// The lowest lane of the mask becomes the leader.
void run_elect(Warp& warp, const Inst& inst) {
  each_team(warp, inst, inst.b, [&](uint32_t team) {
    const uint32_t leader = static_cast<uint32_t>(std::countr_zero(team));
    write_team<uint32_t>(warp, inst.d, team, [&](int) { return leader; });
    if (inst.c) set_team(warp, inst.c, team, 1u << leader);
  });
}

void decode_elect(Decoder& d) {
  d.has("sync");
  d.own_guard();
  d.early_clobber();
  const Operand& to = d.operand(0);
  if (to.kind != Operand::Kind::pair) d.unsupported("elect.sync has two destinations");
  d.inst().d = d.dst(to.elements.at(0), Type::b32);
  d.inst().c = d.dst(to.elements.at(1), Type::pred);
  d.inst().b = d.src(1, Type::b32);
  d.inst().inner = run_elect;
}

}  // namespace

std::span<const Opcode> warp_opcodes() {
  static const Opcode table[] = {{"shfl", decode_shuffle},
                                 {"vote", decode_vote},
                                 {"match", decode_match},
                                 {"redux", decode_reduce},
                                 {"elect", decode_elect},
                                 {"activemask", [](Decoder& d) {
                                    d.type(), d.inst().d = d.dst(0, Type::b32),
                                              d.inst().inner = run_active_mask;
                                  }}};
  return table;
}

}  // namespace simulator
