// Copies that end later than they are asked for.
//
// cp.async takes effect as late as a program may rely on: when its thread waits for its group, or when
// somebody finds the mbarrier that counts it not yet complete. Until then shared memory holds what it held,
// so that a missing wait shows. With a seed, copies end at random moments before that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulator {

struct Cta;
class Warp;

struct AsyncCopy {  // by one lane
  uint32_t lane = 0, group = 0;
  uint32_t to = 0;     // address in shared memory
  uint32_t bytes = 0;  // written: the first `present` from `from`, then zeros
  uint32_t present = 0;
  uint32_t pc = 0;  // of the instruction, in the kernel's counters
  const std::byte* from = nullptr;
  std::vector<uint32_t> arrivals;  // indices in Cta::arrivals: what happens when it has ended
};

// cp.async.mbarrier.arrive: arrives at the mbarrier when `left` copies have ended.
struct PendingArrival {
  uint32_t mbarrier = 0, warp = 0, left = 0;
};

// Ends what the mbarrier waits for.
void end_copies_for(Cta& cta, uint32_t mbarrier);
// Ends some of the warp's copies.
void end_copies_at_random(Warp& warp, uint64_t random);

}  // namespace simulator
