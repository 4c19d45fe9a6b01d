// The memory accesses of one warp of each launch, one by one (SIMULATOR_TRACE): which lane wants which byte.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/counters/counts.h"
#include "common/simulator/counters/description.h"
#include "common/simulator/execution/program.h"

namespace simulator {

// Of one launch. The warp that is followed is run by one CPU thread, so nothing here is locked.
//
// The file has a JSON object per line, in the order of execution:
//   launch            its number in this process, from 1
//   kernel            demangled
//   cta, warp         which warp it is
//   access            counts the warp's accesses, from 1
//   ptx               the instruction's opcode with its modifiers
//   file, lines       in the kernel's own file: the line that the access counts for, then those that it was
//                     inlined into, from the innermost to the outermost
//   space             "global" or "shared"
//   bytes             per lane
//   lanes             that are active: 32 bits, hexadecimal
//   allocation        global: number of the allocation that the first active lane's address is in (a count of
//                     all allocations of the process)
//   variable          its name, where it has one
//   addresses         per lane. global: bytes from the start of the lane's allocation (which is aligned to
//                     256); shared: bytes from the start of the CTA's shared memory. null: not active
//   allocations       per lane, where they are not all the same
//   sectors           global
//   wavefronts, ideal_wavefronts   shared
class Trace {
 public:
  // Null: no trace is asked for. functions: every function of the kernel, the kernel too.
  static std::unique_ptr<Trace> begin(const Program& kernel, const std::vector<const Program*>& functions,
                                      uint64_t launch);
  ~Trace();  // adds what is known to the file
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  bool follows(uint64_t cta, uint32_t warp) const { return cta == cta_ && warp == warp_; }

  // pc: of the instruction. lanes: not 0. address: of the active lanes, as device code knows it (global), or
  // from the start of the CTA's shared memory.
  void global(const Program& program, uint32_t pc, const uint64_t address[32], uint32_t lanes, uint32_t bytes,
              uint32_t sectors);
  void shared(const Program& program, uint32_t pc, const uint32_t offset[32], uint32_t lanes, uint32_t bytes,
              Wavefronts wavefronts);

 private:
  Trace(KernelDescription description, uint64_t launch);
  bool start(const Program& program, uint32_t pc, const char* space, uint32_t lanes, uint32_t bytes);

  const KernelDescription description_;
  const uint64_t launch_, cta_, limit_;
  const uint32_t warp_;
  uint64_t accesses_ = 0;
  std::string text_;
};

}  // namespace simulator
