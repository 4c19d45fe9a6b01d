// The asynchronous operations of tcgen05 whose end an mbarrier tells: mma, cp and shift, and tcgen05.commit
// (PTX ISA 9.7.16.6, 9.7.16.12).
//
// What the threads of a CTA, or of a pair, ask for takes effect in that order, as late as a program may rely
// on: when somebody finds the phase of an mbarrier not yet complete at which a commit behind it is to arrive.
// With a seed, at random moments before that. Whether one may rely on it is another matter: to the checks an
// operation is under way until a warp has seen such a phase complete (checks/async_accesses.h,
// checks/tcgen05_accesses.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/checks/async_accesses.h"
#include "common/simulator/checks/finding.h"
#include "common/simulator/checks/tcgen05_accesses.h"

namespace simulator {

struct Cta;
class Warp;

class TensorOperation {
 public:
  TensorOperation() = default;
  TensorOperation(const TensorOperation&) = delete;
  TensorOperation& operator=(const TensorOperation&) = delete;
  virtual ~TensorOperation() = default;
  virtual void land() = 0;  // it takes effect: reads and writes memory
  [[noreturn]] void fail(FindingKind kind, std::string what) const;  // while it does: throws Fault

  Warp* warp = nullptr;  // the thread that asked for it, and where
  uint32_t lane = 0, pc = 0;
  AsyncAccesses::Id shared = 0;   // to the checks: what it reads of shared memory
  TensorAccesses::Id tensor = 0;  // what it does to tensor memory
  bool of_pair = false;           // .cta_group::2: it uses memory of the peer CTA, too
};

// What one thread has asked for.
struct TensorThread {
  Warp* warp = nullptr;
  uint32_t lane = 0;
  Cta* queue = nullptr;               // which has them in its queue; null: it has asked for nothing
  uint64_t asked = 0, committed = 0;  // operations; those that some commit follows
  uint64_t end = 0;                   // place in the queue behind the last one
  uint32_t last_pc = 0;               // of the last one, in the kernel's counters
  TensorAccesses::Id last = 0;        // to the checks
  struct Operation {                  // to the checks
    uint64_t number = 0;              // from 0, of the thread's
    uint32_t pc = 0;
    AsyncAccesses::Id shared = 0;
    bool seen = false;  // somebody has waited for it
  };
  std::deque<Operation> operations;   // those that may still matter
  std::map<uint32_t, uint64_t> seen;  // by warp of the cluster: how many it has waited for
};

// A commit, as it concerns one mbarrier.
struct TensorArrival {
  TensorThread* thread = nullptr;
  uint64_t before = 0;  // it arrives when the thread's operations with lower numbers are complete …
  uint64_t end = 0;     // … and those in the queue before this place
  TensorAccesses::Id last = 0;
  uint32_t pc = 0;  // of the commit, in the kernel's counters
  uint32_t mbarrier = 0;
  bool arrived = false;
  uint64_t phase = 0;           // of the mbarrier, when it arrived
  std::vector<uint32_t> clock;  // what the committing thread knew
};

// What a CTA keeps.
struct TensorPipeline {
  std::deque<std::unique_ptr<TensorOperation>>
      waiting;                               // that have not taken effect; a pair's: in the even CTA
  uint64_t landed = 0;                       // those before
  std::map<uint32_t, TensorThread> threads;  // by number in the CTA
  std::deque<TensorArrival> arrivals;        // at its mbarriers; until the phase after theirs is complete

  bool busy() const { return !waiting.empty() || !arrivals.empty(); }
};

// The lane of the warp asks for the operation.
void begin_tensor_operation(Warp& warp, uint32_t lane, std::unique_ptr<TensorOperation> operation);

// The lane of the warp commits: the mbarrier (its address in the cluster's shared memory), or one at the same
// offset in every CTA whose bit is set in the mask (0: none is given), is to be told of what it has asked for
// so far.
void begin_tensor_commit(Warp& warp, uint32_t lane, uint32_t mbarrier, uint32_t mask);

// Lets those operations take effect that the mbarrier waits for, until its phase is complete.
void end_commits_for(Cta& cta, uint32_t mbarrier);
// The warp has seen the last phase of the mbarrier complete.
void commits_seen(Warp& warp, Cta& cta, uint32_t mbarrier);
// Lets some take effect.
void end_tensor_operations_at_random(Cta& cta, uint64_t random);
// The CTA's last thread has exited.
void end_tensor_pipeline(Cta& cta);

// Threads of the CTA whose last operations no commit follows, a line each.
std::vector<std::string> uncommitted_tensor_operations(const Cta& cta);

// The CTAs that an instruction with .cta_group::1 or ::2 works on: [0] is the even one of a pair. The present
// instruction is told of where the pair is not complete. Returns how many there are.
uint32_t tensor_ctas(Warp& warp, uint32_t lane, uint32_t cta_group, Cta* ctas[2]);

}  // namespace simulator
