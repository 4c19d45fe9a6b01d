// What overlaps with what: how many copies are in flight while MMAs run, what a wait leaves in flight, how
// much arithmetic lies between a load and the first use of its value. Kept only while a launch is counted.
//
// Nothing here depends on how late a copy lands, and hardly anything on the schedule (what a wait for an
// mbarrier leaves may differ by one where the lanes of a warp diverge):
//   - Groups (cp.async, bulk stores, wgmma) are counted in the order of the thread's own instructions: those
//     that are committed, and that it has not waited for.
//   - What one warp starts and another waits for, by mbarriers, goes by what orders them (the clocks of
//     checks/shared_shadow.h; without checks it is not counted). A k-tile is in flight while an MMA runs if
//     it is not known to have landed when the MMA begins, and if nothing makes its copy wait until the MMA
//     has ended. A k-tile: what one phase of an mbarrier counts.
//   - The end is left out: a wait, or an MMA, that no further copy follows has nothing to overlap with. It is
//     in Occasions::times, and not in Occasions::counted.
#pragma once

#include <cstdint>

#include "common/simulator/machine/machine.h"

namespace simulator {

Unit& overlap_unit();

// Waits that a warp makes for its own groups, of one of these kinds: how many were in flight before, and
// after.
enum class Groups : uint8_t { copies, stores, products, transfers };
void overlap_wait(Warp& warp, Groups kind, uint32_t before, uint32_t after);
// The warp issues more of the kind.
void overlap_issue(Warp& warp, Groups kind);

// A copy to shared memory, which this phase of an mbarrier of that CTA counts.
void overlap_copy(Warp& warp, const Cta& counting, uint32_t mbarrier, uint64_t phase);

// Groups of MMAs, of one queue of the warp's CTA: that of a warpgroup, or of a thread. Their operations are
// numbered; `number` is the first one's. The warp has waited for those of a queue of the CTA of that rank
// that begin below `before`.
void overlap_begin(Warp& warp, uint32_t queue, uint64_t number);
void overlap_end(Warp& warp, uint32_t rank, uint32_t queue, uint64_t before, bool by_mbarrier);

// Groups of cp.async that the first of the lanes in exec has not waited for, the one that is open included.
uint32_t groups_of_copies(const Warp& warp);

}  // namespace simulator
