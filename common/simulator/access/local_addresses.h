// Addresses in local memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simulator/access/resolved.h"

namespace simulator {

void resolve_local(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to);
// Of one lane.
std::byte* local_byte(Warp& warp, int lane, const AddressUse& use, uint32_t bytes, uint64_t address);

}  // namespace simulator
