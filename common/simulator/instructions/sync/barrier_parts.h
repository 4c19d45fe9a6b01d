// Who meets at a barrier of a CTA, and from which instructions: for reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/simulator/machine/machine.h"

namespace simulator {

// Who is at the barrier in the phase that is under way.
std::vector<BarrierPart> barrier_parts(const Cta& cta, uint32_t number);

// The phase is complete: keeps who met, where those that waited came from different instructions.
void note_barrier_parts(Cta& cta, uint32_t number);

// Lines on the barriers where that was so, behind the first warp of a CTA.
void describe_mixed_barriers(const Warp& warp, std::vector<std::string>& lines);

// The CTA has ended: its races get a line on barriers for all threads where that was so, for then some warps
// perhaps execute one that others do not.
void explain_races(Cta& cta);

}  // namespace simulator
