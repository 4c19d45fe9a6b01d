// Addresses in shared memory.
#pragma once

#include <cstdint>

#include "common/simulator/access/resolved.h"

namespace simulator {

[[noreturn]] void illegal_shared(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address);
void resolve_shared(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to);
// Where the lanes' accesses lie in the cluster's shared memory, as the checks count.
void shadow_offsets(const Resolved& at, uint32_t offset[32]);
// Faults where these bytes are not in the CTA's shared memory.
void shared_range(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address);

}  // namespace simulator
