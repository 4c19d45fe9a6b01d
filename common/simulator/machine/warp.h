// What a handler sees of the machine: the lanes of one warp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/simulator/machine/unit_state.h"
#include "common/simulator/program/program.h"

namespace simulator {

constexpr int warp_size = 32;

struct alignas(16) Quad {  // a lane of a 128-bit register
  uint64_t low, high;
};

struct Cta;
struct Frame;
struct Worker;

// What a load has last loaded of memory never written (program/carried.h).
struct UnwrittenLoad {
  uint32_t pc = 0;
  std::array<uint32_t, warp_size> bytes{};  // of each lane: a bit per byte
};

// How lanes have come into an activation.
struct Way {
  uint32_t lanes = 0;
  Frame* caller = nullptr;     // null: the kernel's own activation has none
  uint32_t return_pc = 0;      // in the caller
  const Inst* call = nullptr;  // in the caller
  uint32_t local_base = 0;     // bytes, in each thread's local memory
};

// One activation of a function by some lanes of a warp. Mostly all have come the same way; lanes of several
// activations that have met at an instruction for all of them (frames.h) keep theirs.
struct Frame : UnitStates {
  const Program* program = nullptr;
  std::byte* registers = nullptr;
  std::vector<Way> ways;
  uint64_t launch = 0;  // whose program this is
  uint32_t rank = 0;    // of the CTA: addresses of shared variables are among the constants
  uint32_t depth = 0;
  uint32_t lanes = 0;      // that are inside, or inside what it calls
  uint32_t local_top = 0;  // the highest local_base of its ways
  uint32_t dynamic = 0;    // bytes of local memory from alloca, behind the program's own
  std::vector<std::byte> storage;
  std::vector<UnwrittenLoad> unwritten;

  uint32_t local_end() const { return local_top + program->local_bytes + dynamic; }
  uint32_t local_base(int lane) const {
    for (const Way& way : ways) {
      if (way.lanes >> lane & 1) return way.local_base;
    }
    return local_top;
  }
};

// Lanes that are at the same instruction of the same activation.
struct Group {
  enum class State : uint8_t {
    ready,
    convergence,  // waits for further lanes of its warp to reach the instruction at pc, then tries it again
    barrier,      // has arrived at a CTA barrier; goes on at pc
    blocked,      // waits for something else; tries the instruction at pc again at the scheduler's next turn
  };
  uint32_t pc = 0;
  uint32_t lanes = 0;
  Frame* frame = nullptr;
  State state = State::ready;
  uint8_t barrier = 0;            // number of the barrier waited at
  const Inst* waiting = nullptr;  // the barrier instruction
};

class Warp : public UnitStates {
 public:
  // The group that runs.
  std::byte* registers = nullptr;
  uint32_t exec = 0;  // lanes that execute this instruction
  bool full = false;  // no live lane is outside exec: a handler may write all 32 columns
  uint32_t pc = 0;    // of the next instruction
  uint32_t stop = 0;  // the loop returns to the scheduler when pc ≥ stop
  const Inst* code = nullptr;

  Cta* cta = nullptr;
  Worker* worker = nullptr;
  uint32_t live = 0;                   // lanes that have not exited
  uint32_t started = 0;                // lanes that there are: fewer than 32 in the last warp of some CTAs
  uint32_t index = 0;                  // in its CTA
  uint32_t in_cluster = 0;             // rank of the CTA · warps of a CTA + index
  Frame* frame = nullptr;              // of the group that runs
  std::vector<Group> others;           // the other groups
  std::vector<std::byte> local;        // byte o of lane l at o / 16 · 512 + l · 16 + o % 16
  std::vector<uint8_t> local_written;  // not 0: written; one per byte of `local`, where that is checked

  uint32_t cluster_arrived = 0;  // lanes that have arrived at the cluster's barrier, in its present phase
  uint32_t cluster_to_wait = 0;  // lanes that have arrived, in any phase, and are to wait for it
  // Clocks: what the warp's fences, of whatever scope, have made ready for a relaxed arrival to publish; what
  // its relaxed waits have seen, which counts from its next fence on.
  std::vector<uint32_t> fenced, unfenced;

  // T: uint16_t, int16_t, uint32_t, int32_t, float, uint64_t, int64_t, double; 32 of them.
  template <class T>
  T* reg(uint32_t offset) {
    return reinterpret_cast<T*>(__builtin_assume_aligned(registers + offset, 64));
  }
  uint32_t pred(uint32_t offset) const {
    uint32_t bits;
    std::memcpy(&bits, registers + offset, 4);
    return bits;
  }
  void set_pred(uint32_t offset, uint32_t bits) {  // only the lanes in exec change
    bits = (bits & exec) | (pred(offset) & ~exec);
    std::memcpy(registers + offset, &bits, 4);
  }

  // d[lane] = f(lane) for the lanes in exec. f may be called for lanes outside exec: it must not fault there.
  template <class T, class F>
  void write(uint32_t offset, F f) {
    T* d = reg<T>(offset);
    if (full) {
      for (int lane = 0; lane < warp_size; ++lane) d[lane] = f(lane);
    } else {
      const uint32_t lanes = exec;
      for (int lane = 0; lane < warp_size; ++lane) {
        const T result = f(lane);
        d[lane] = lanes >> lane & 1 ? result : d[lane];
      }
    }
  }
  // Bit per lane of f(lane), for set_pred().
  template <class F>
  static uint32_t ballot(F f) {
    uint32_t bits = 0;
    for (int lane = 0; lane < warp_size; ++lane)
      bits |= static_cast<uint32_t>(static_cast<bool>(f(lane))) << lane;
    return bits;
  }

  // Groups. (scheduler.cc)
  void select();  // merges groups that have met and picks the one to run; exec = 0: none can
  void split(uint32_t lanes, uint32_t target);  // lanes (some of exec) go on at target
  void wait(Group::State state, uint32_t at);   // the running group stops; it will go on at `at`
  void leave(uint32_t lanes);                   // lanes (all of or some of exec) exit
  void enter(Frame* callee);                    // the running group goes on at its first instruction
  void jump(uint32_t target) {                  // all of exec
    if (target < pc && !others.empty()) stop = 0;
    pc = target;
  }
  // For instructions that apply their guard themselves: narrows exec to the lanes whose predicate holds (the
  // others go on without them). False: no lane is left.
  bool enter_guard(const Inst& inst);
  void take_turns();
  bool ready() const;
  template <bool counting, bool timed>
  void run(uint64_t quantum);      // until no group is ready or this many instructions have been executed
  uint64_t in_turn = 0;            // timed: of them before the present one
  uint64_t writes = 0;             // instructions of this warp that changed memory
  uint64_t polled_writes = ~0ull;  // the same, at its last strong load
  uint32_t polled_pc = 0;          // of that load
  uint64_t polls = 0;              // readings of what others may write, once more, and sleeps
  uint64_t watches = 0;            // readings of a clock, once more and soon after
  uint64_t clock = 0;              // of the last of these
  uint32_t clock_pc = 0;
  // When last looked at; when something had last happened.
  uint64_t polls_seen = 0, watches_seen = 0, polls_before = 0;
  bool yield = false;    // its turn is over
  bool rotated = false;  // the running group was picked for fairness, not because its pc is the lowest
};

// Handler of an instruction that has no effect here.
inline void run_nothing(Warp&, const Inst&) {}

}  // namespace simulator
