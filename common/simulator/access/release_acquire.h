// Release and acquire in a cluster: what barrier.cluster and mbarriers order (PTX ISA 9.7.13.3, 9.7.13.15).
#pragma once

#include <cstdint>
#include <vector>

namespace simulator {

class Warp;

// The warp arrives at a barrier that hands this clock on. A relaxed arrival publishes only what a fence
// before it covers.
void release_to(Warp& warp, std::vector<uint32_t>& clock, bool relaxed);
// A wait of the warp at such a barrier has succeeded. What a relaxed wait has seen counts from the next fence
// on.
void acquire_from(Warp& warp, const std::vector<uint32_t>& clock, bool relaxed);

}  // namespace simulator
