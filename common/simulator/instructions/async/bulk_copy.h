// Bulk copies, whichever instruction issues them (units/bulk_copies.h).
#pragma once

#include <cstdint>

#include "common/simulator/units/bulk_copies.h"

namespace simulator {

// Adds a copy: from now on it is under way. mask: a bit for every CTA of the cluster that it writes to, at
// the same addresses; 0: to the one that it names.
void begin_bulk_copy(BulkCopy copy, uint32_t mask);
// The active lanes wait for their groups, but for the newest ones. reading: only until shared memory was
// read.
void wait_for_groups(Warp& warp, uint32_t newest, bool reading);
}  // namespace simulator
