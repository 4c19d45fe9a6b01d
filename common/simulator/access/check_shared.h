// What may be wrong with an access to shared memory that is in bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simulator/access/address_use.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

// By the lanes of the warp that count, `bytes` each at offset[lane] in the cluster's shared memory
// (shadow_offset(); offsets of other lanes: somewhere in it). Reports races, reads of what was never written,
// and copies without a wait. values: as in SharedShadow::access. same: a store of what was there before,
// which does not race with the write that put it there.
void check_shared(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use,
                  const std::byte* values, bool same = false);

}  // namespace simulator
