// What one warp of each launch does, one thing after the other (SIMULATOR_TRACE): its memory accesses, which
// lane wants which byte; with SIMULATOR_TRACE_EVENTS also what the life of its copies is made of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/counters/counts.h"
#include "common/simulator/counters/description.h"
#include "common/simulator/program/program.h"

namespace simulator {

struct CommittedGroups {  // of copies, that a lane has
  uint32_t async = 0, bulk = 0;
};

// Of one launch. The warp that is followed is run by one CPU thread, so nothing here is locked.
//
// The file has a JSON object per line, in the order of execution:
//   launch            its number in this process, from 1
//   kernel            demangled
//   cta, warp         which warp it is
//   at                the warp's clock: how many instructions it has executed, this one included
//   access            counts the warp's accesses, from 1 …
//   event             … or, in place of it, what happens:
//                       commit    the lanes' copies since the last one are a group now
//                       wait      for groups of copies
//                       landed    copies have arrived in shared memory
//                       barrier   the warp arrives at a barrier of its CTA
//                       mbarrier  it initialises one, arrives there, asks whether a phase is complete …
//                       mma       it gives matrices to the tensor core
//   ptx               the instruction's opcode with its modifiers; landed: of the copy
//   file, lines       in the kernel's own file: the line that the instruction counts for, then those that it
//                     was inlined into, from the innermost to the outermost
//   lanes             that are active: 32 bits, hexadecimal
// Of an access:
//   space             "global" or "shared"; a cp.async is one of each, at the same time
//   bytes             per lane
//   allocation        global: number of the allocation that the first active lane's address is in (a count of
//                     all allocations of the process)
//   variable          its name, where it has one
//   addresses         per lane. global: bytes from the start of the lane's allocation (which is aligned to
//                     256); shared: bytes from the start of the CTA's shared memory. null: not active
//   allocations       per lane, where they are not all the same
//   sectors           global
//   wavefronts, ideal_wavefronts   shared
// Of an event, as the first of the lanes has it:
//   group             commit: number of the group, from 0; landed: of the group that the copies belong to
//   below             wait: groups with lower numbers are complete
//   issued            landed: `at` of the copy
// Bulk copies have groups of their own; those to shared memory, which an mbarrier counts, belong to none, and
// their number means nothing.
class Trace {
 public:
  // Null: no trace is asked for. functions: every function of the kernel, the kernel too.
  static std::unique_ptr<Trace> begin(const Program& kernel, const std::vector<const Program*>& functions,
                                      uint64_t launch);
  ~Trace();  // adds what is known to the file
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  bool follows(uint64_t cta, uint32_t warp) const { return cta == cta_ && warp == warp_; }

  // The warp's clock. The warp is about to execute an instruction: pc; lanes: not 0; committed: groups of
  // copies that the first of them has. again(): it could not, and will try once more.
  void step(const Program& program, uint32_t pc, uint32_t lanes, CommittedGroups committed) {
    ++now_;
    if (!kinds_.empty()) see(program, pc, lanes, committed);
  }
  void again();
  uint64_t now() const { return now_; }

  // pc: of the instruction. lanes: not 0. address: of the active lanes, as device code knows it (global), or
  // from the start of the CTA's shared memory.
  void global(const Program& program, uint32_t pc, const uint64_t address[32], uint32_t lanes, uint32_t bytes,
              uint32_t sectors);
  void shared(const Program& program, uint32_t pc, const uint32_t offset[32], uint32_t lanes, uint32_t bytes,
              Wavefronts wavefronts);
  // Copies by the instruction at pc that was executed at `issued`.
  void landed(const Program& program, uint32_t pc, uint32_t lanes, uint64_t issued, uint32_t group);

 private:
  enum class Event : uint8_t { none, commit, wait, barrier, mbarrier, mma, landed };

  Trace(KernelDescription description, const std::vector<const Program*>& functions, uint64_t launch);
  static Event event_of(const ptx::Instruction& instruction);
  bool full();
  std::string begin_line(const std::string& what, const Program& program, uint32_t pc, uint32_t lanes) const;
  bool access(const Program& program, uint32_t pc, const char* space, uint32_t lanes, uint32_t bytes);
  void see(const Program& program, uint32_t pc, uint32_t lanes, CommittedGroups committed);
  std::string event(Event event, const Program& program, uint32_t pc, uint32_t lanes) const;
  void write_seen();

  const KernelDescription description_;
  std::vector<Event> kinds_;  // by Program::first + pc; empty: events are not asked for
  const uint64_t launch_, cta_, limit_;
  const uint32_t warp_;
  uint64_t now_ = 0, accesses_ = 0, lines_ = 0;
  std::string seen_;  // the event of the present instruction
  std::string text_;
};

}  // namespace simulator
