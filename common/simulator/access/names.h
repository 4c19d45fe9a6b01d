// Accesses, threads, warps and CTAs in the words of a finding.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/simulator/access/address_use.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

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

// "end 384 bytes before this address": the nearest bytes of the same CTA, `step` at a time, for which
// complete(offset) holds. Empty: there are none.
std::string nearest_bytes(const Warp& warp, uint32_t shadow_offset, uint32_t step,
                          const std::function<bool(uint32_t)>& complete);

// "warps 0-1 at k.cu:19, warps 2-3 at k.cu:17", by where they came from.
std::string parts_by_place(const Cta& cta, const std::vector<BarrierPart>& parts);
// Where the two warps last met at a barrier from different lines, which perhaps was not meant; else empty.
std::string mixed_barrier(const Warp& warp, uint32_t warp_in_cluster);

}  // namespace simulator
