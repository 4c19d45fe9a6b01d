// Findings about what the async proxy does to shared memory: bulk copies, wgmma. See
// checks/async_accesses.h. Where nothing is checked, an operation has no number and costs nothing.
#pragma once

#include <cstdint>
#include <string>

#include "common/simulator/machine/machine.h"

namespace simulator {

struct BulkCopy;

// The warp's current instruction issues an operation, for this lane (all_lanes: for the warp).
AsyncAccesses::Id async_begin(Warp& warp, uint32_t lane, bool write);
// It is going to access `bytes` bytes, a multiple of 16, at each of these addresses in shared memory of the
// cluster (the rank of the CTA in their upper bits), which are in bounds and multiples of 16. Reported: what
// threads, or other operations, do to these bytes with nothing that orders the two; writes by threads with no
// fence.proxy.async after them; reads of what was never written.
void async_access(Warp& warp, AsyncAccesses::Id id, const uint32_t* address, uint32_t count, uint32_t bytes);
// It is going to write there, and threads may have read what was there before. Reported: that no
// fence.proxy.async came between. ISA 9.7.13.17 has it in its example; of copies it says nothing of the kind.
void async_reads_fenced(Warp& warp, uint32_t lane, uint32_t address, uint32_t bytes);
// The warp has waited for it.
void async_seen(Warp& warp, AsyncAccesses::Id id);

// What is wrong with the bytes that a bulk copy counts at its mbarrier: a phase is complete, and nothing had
// expected them in it. Empty: nothing is.
std::string unexpected_bytes(const BulkCopy& copy);

// what: "load of 4 bytes at 0x480 of shared memory".
void tell_async(Warp& warp, const AsyncAccesses::Problem& problem, const std::string& what);

}  // namespace simulator
