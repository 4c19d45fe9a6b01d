// Addresses in global memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simulator/access/resolved.h"

namespace simulator {

[[noreturn]] void illegal_global(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address);
void resolve_global(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to);
// Of one lane.
std::byte* global_byte(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                       uint8_t*& written);

// For bulk copies: where these bytes of global memory are, and whether they were written (as
// Resolved::written). Faults where they are not in one allocation; loads and atomics are checked for elements
// never written.
std::byte* global_range(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                        uint32_t element, uint8_t*& written);

}  // namespace simulator
