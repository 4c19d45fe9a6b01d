// Shared memory of the other CTAs of a cluster: when it may be addressed (PTX ISA 2.2.2, 9.7.9.23, 9.7.9.24).
#pragma once

namespace simulator {

struct Cta;
class Warp;

// A lane of the warp addresses shared memory of another CTA of its cluster. That CTA must be known to have
// started, through a barrier.cluster, and must not exit before something orders this access before its exit.
void reach(Warp& warp, int lane, const Cta& holder, bool write);
// Only the first half of that, where something else waits for the access to end.
void check_presence(Warp& warp, int lane, const Cta& holder);

}  // namespace simulator
