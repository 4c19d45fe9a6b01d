// What may be wrong with an access to shared memory that is in bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simulator/execution/addresses.h"

namespace simulator {

// By the lanes of the warp that count, `bytes` each at offset[lane] in the cluster's shared memory
// (shadow_offset(); offsets of other lanes: somewhere in it). Tells races, reads of what was never written,
// and copies that nobody has waited for. values: as in SharedShadow::access. same: a store of what was there
// before, which does not race with the write that put it there.
void check_shared(Warp& warp, const uint32_t offset[32], uint32_t bytes, const AddressUse& use,
                  const std::byte* values, bool same = false);

// "load of 4 bytes at 0x480".
std::string attempt(AccessKind kind, uint32_t bytes, uint64_t address);
std::string attempt(AccessKind kind, uint32_t bytes);  // "load of 4 bytes"
// " at 0x480 of shared memory", of another CTA's perhaps, as seen from the warp's CTA; with what is done
// there.
std::string place_in_shared(const Warp& warp, uint32_t shadow_offset);
std::string attempt_in_shared(const Warp& warp, AccessKind kind, uint32_t bytes, uint32_t shadow_offset);
// "thread (1,0,0)", " of CTA (1,0,0)" behind it where that is not the warp's own.
std::string name_of_thread(const Warp& warp, uint32_t warp_in_cluster, uint32_t lane);
std::string name_of_warp(const Warp& warp, uint32_t warp_in_cluster);  // "warp 4"
std::string name_of_cta(const Cta& cta);                               // "CTA (1,0,0)"

}  // namespace simulator
