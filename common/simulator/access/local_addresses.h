// Addresses in local memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simulator/access/resolved.h"

namespace simulator {

void resolve_local(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to);
// Where a lane's byte lies in Warp::local.
inline size_t local_index(uint64_t address, int lane) {
  return address / 16 * 512 + static_cast<size_t>(lane) * 16 + address % 16;
}
// Of one lane.
std::byte* local_byte(Warp& warp, int lane, const AddressUse& use, uint32_t bytes, uint64_t address);

}  // namespace simulator
