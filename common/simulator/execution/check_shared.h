// What may be wrong with an access to shared memory that is in bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simulator/execution/addresses.h"

namespace simulator {

// By the lanes of the warp that count, `bytes` each at offset[lane] from the start of the CTA's own shared
// memory (offsets of other lanes: somewhere in it). Tells races, reads of what was never written, and copies
// that nobody has waited for. values: as in SharedShadow::access.
void check_shared(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use,
                  const std::byte* values);

// "load of 4 bytes at 0x480".
std::string attempt(AccessKind kind, uint32_t bytes, uint64_t address);

}  // namespace simulator
