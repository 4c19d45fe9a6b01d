// Clusters: whose shared memory may be addressed, and when (PTX ISA 2.2.2, 9.7.9.23, 9.7.9.24).
#pragma once

#include <cstdint>
#include <vector>

namespace simulator {

struct Cta;
class Warp;

// A lane of the warp addresses shared memory of another CTA of its cluster. That one must have started, as a
// barrier.cluster tells, and must not exit before: until then something must order the access before.
void reach(Warp& warp, int lane, const Cta& holder, bool write);
// Only the first half of it: the access is waited for by other means.
void check_presence(Warp& warp, int lane, const Cta& holder);

// An arrival of the warp, and a wait that has succeeded, at a barrier that passes this clock on. What is
// relaxed takes a fence before, or behind it.
void release_to(Warp& warp, std::vector<uint32_t>& clock, bool relaxed);
void acquire_from(Warp& warp, const std::vector<uint32_t>& clock, bool relaxed);

}  // namespace simulator
