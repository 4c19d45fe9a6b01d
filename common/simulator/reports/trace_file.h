// What one warp of each launch does, one thing after the other (SIMULATOR_TRACE): its memory accesses, with
// each lane's address; with SIMULATOR_TRACE_EVENTS also its barriers, and the issue and landing of its
// copies.
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
//                       mbarrier  it initialises one, arrives there, tests whether a phase is complete …
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
//   variable, array   its name: of a variable; as name_memory() gave it
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
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/simulator/counters/trace.h"

namespace simulator {

// Of one launch; null: it is not traced. functions: every function of the kernel, the kernel too. Its
// destructor adds what it knows to the file.
std::unique_ptr<Trace> begin_trace(const Program& kernel, const std::vector<const Program*>& functions,
                                   uint64_t launch);

}  // namespace simulator
