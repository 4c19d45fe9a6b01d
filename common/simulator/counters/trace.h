// What one warp of a launch does, for SIMULATOR_TRACE; reports/trace_file.h writes it.
#pragma once

#include <cstdint>

#include "common/simulator/counters/counts.h"
#include "common/simulator/program/program.h"

namespace simulator {

struct CommittedGroups {  // of copies, that a lane has
  uint32_t async = 0, bulk = 0;
};

// One CPU thread runs the warp, so nothing here is locked.
class Trace {
 public:
  Trace(uint64_t cta, uint32_t warp) : cta_(cta), warp_(warp) {}
  virtual ~Trace() = default;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  bool follows(uint64_t cta, uint32_t warp) const { return cta == cta_ && warp == warp_; }

  // The warp's clock. The warp is about to execute an instruction: pc; lanes: not 0; committed: groups of
  // copies that the first of them has. again(): it could not, and will try once more.
  void step(const Program& program, uint32_t pc, uint32_t lanes, CommittedGroups committed) {
    ++now_;
    see(program, pc, lanes, committed);
  }
  void again() {
    --now_;
    unsee();
  }
  uint64_t now() const { return now_; }

  // pc: of the instruction. lanes: not 0. address: of the active lanes, as device code knows it (global), or
  // from the start of the CTA's shared memory.
  virtual void global(const Program& program, uint32_t pc, const uint64_t address[32], uint32_t lanes,
                      uint32_t bytes, uint32_t sectors) = 0;
  virtual void shared(const Program& program, uint32_t pc, const uint32_t offset[32], uint32_t lanes,
                      uint32_t bytes, Wavefronts wavefronts) = 0;
  // Copies by the instruction at pc that was executed at `issued`.
  virtual void landed(const Program& program, uint32_t pc, uint32_t lanes, uint64_t issued,
                      uint32_t group) = 0;

 protected:
  const uint64_t cta_;
  const uint32_t warp_;

 private:
  virtual void see(const Program& program, uint32_t pc, uint32_t lanes, CommittedGroups committed) = 0;
  virtual void unsee() = 0;

  uint64_t now_ = 0;
};

}  // namespace simulator
