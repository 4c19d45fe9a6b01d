// The asynchronous operations of tcgen05 whose completion an mbarrier signals: mma, cp and shift, and
// tcgen05.commit (PTX ISA 9.7.16.6, 9.7.16.12).
//
// What the threads of a CTA, or of a CTA pair, issue takes effect in that order, as late as a program may
// rely on: when a warp finds that the mbarrier at which a later commit is to arrive has not completed its
// phase. With a seed, at random moments before that. The checks go by the waits alone: for them an operation
// is in flight until a warp has seen such a phase complete (checks/async_accesses.h,
// units/tcgen05_accesses.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/checks/async_accesses.h"
#include "common/simulator/checks/finding.h"
#include "common/simulator/machine/unit_state.h"
#include "common/simulator/units/places.h"
#include "common/simulator/units/tcgen05_accesses.h"

namespace simulator {

struct Cta;
class Warp;

class Tcgen05Operation {
 public:
  Tcgen05Operation() = default;
  Tcgen05Operation(const Tcgen05Operation&) = delete;
  Tcgen05Operation& operator=(const Tcgen05Operation&) = delete;
  virtual ~Tcgen05Operation() = default;
  virtual void land() = 0;  // it takes effect: reads and writes memory

  Warp* warp = nullptr;  // the thread that issued it, and where
  uint32_t lane = 0, pc = 0;
  AsyncAccesses::Id shared = 0;    // to the checks: what it reads of shared memory
  Tcgen05Accesses::Id tensor = 0;  // what it does to tensor memory
  bool of_pair = false;            // .cta_group::2: it uses memory of the peer CTA, too
};

// What one thread has issued.
struct Tcgen05Thread {
  Warp* warp = nullptr;
  uint32_t lane = 0;
  Cta* queue = nullptr;                // which has them in its queue; null: nothing has been issued
  uint64_t issued = 0, committed = 0;  // operations; those that some commit follows
  uint64_t end = 0;                    // place in the queue behind the last one
  uint32_t last_pc = 0;                // of the last one, in the kernel's counters
  Tcgen05Accesses::Id last = 0;        // to the checks
  struct Operation {                   // to the checks
    uint64_t number = 0;               // from 0, of the thread's
    uint32_t pc = 0;
    AsyncAccesses::Id shared = 0;
    bool seen = false;  // a wait for it has returned
  };
  std::deque<Operation> operations;   // those that may still matter
  std::map<uint32_t, uint64_t> seen;  // by warp of the cluster: how many it has waited for
};

// A commit, as it concerns one mbarrier.
struct Tcgen05Arrival {
  Tcgen05Thread* thread = nullptr;
  uint64_t before = 0;  // it arrives when the thread's operations with lower numbers are complete …
  uint64_t end = 0;     // … and those in the queue before this place
  Tcgen05Accesses::Id last = 0;
  uint32_t pc = 0;  // of the commit, in the kernel's counters
  uint32_t mbarrier = 0;
  bool arrived = false;
  uint64_t phase = 0;           // of the mbarrier, when it arrived
  std::vector<uint32_t> clock;  // what the committing thread knew
};

// What a CTA keeps.
struct Tcgen05Pipeline final : UnitState {
  static constexpr auto place = InCta::tcgen05_pipeline;
  std::deque<std::unique_ptr<Tcgen05Operation>>
      waiting;                                // that have not taken effect; a pair's: in the even CTA
  uint64_t landed = 0;                        // those before
  std::map<uint32_t, Tcgen05Thread> threads;  // by number in the CTA
  std::deque<Tcgen05Arrival> arrivals;        // at its mbarriers; until the phase after theirs is complete

  bool busy() const { return !waiting.empty() || !arrivals.empty(); }
};

}  // namespace simulator
