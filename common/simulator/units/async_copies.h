// Copies that complete later than they are issued.
//
// cp.async takes effect as late as a program may rely on: when its thread waits for its group, or when a warp
// finds the mbarrier that counts it not yet complete. Until then shared memory holds what it held, so that a
// missing wait shows. With a seed, copies land at random moments before that. The checks go by the waits
// alone: until a copy has been waited for it is pending (checks/pending_copies.h), landed or not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/simulator/machine/unit_state.h"
#include "common/simulator/units/places.h"

namespace simulator {

// One cp.async of a warp.
struct AsyncCopy {
  uint32_t lanes = 0;    // whose copies have not been waited for
  uint32_t flying = 0;   // of these: shared memory does not hold the data yet
  uint32_t ordered = 0;  // of these: the race check takes what their thread does next to come after the copy
  uint32_t pc = 0;       // of the instruction, in the kernel's counters
  uint32_t bytes = 0;    // that each lane writes: the first `present` from `from`, then zeros
  uint64_t issued = 0;   // by the warp's clock (counters/trace.h), where it is traced
  std::array<uint32_t, 32> to{};  // addresses in shared memory
  std::array<uint32_t, 32> group{};
  std::array<uint8_t, 32> present{};
  std::array<uint16_t, 32> unwritten{};  // a bit per byte: `from` was never written there
  std::array<const std::byte*, 32> from{};
};

// cp.async.mbarrier.arrive: each of these lanes arrives when all its copies numbered below `before` have
// landed.
struct AsyncArrival {
  uint32_t mbarrier = 0, lanes = 0;
  uint64_t before = 0;
  uint64_t phase = 0;  // of the mbarrier, once they have arrived
};

// For reports: what the waits for groups so far have covered.
struct AsyncWaits {
  uint32_t lanes = 0;                  // that have waited
  uint32_t pc = 0;                     // of the last wait, in the kernel's counters
  uint64_t before = 0;                 // that came before the copy of this number
  std::array<uint32_t, 32> covered{};  // of each lane: the groups below this number
};

// Those of a warp. Copies are numbered as they are issued.
struct AsyncCopies final : UnitState {
  static constexpr auto place = InWarp::async_copies;
  std::deque<AsyncCopy> pending;         // by number; some in the middle may have no lanes left
  uint64_t first = 0;                    // number of the first of them
  std::array<uint32_t, 32> committed{};  // groups, of each lane
  AsyncWaits waits;
  std::vector<AsyncArrival> arriving;
  std::vector<AsyncArrival> arrived;  // at mbarriers, but no thread has seen that phase complete

  void clear() {
    pending.clear();
    first = 0;
    committed.fill(0);
    waits = {};
    arriving.clear();
    arrived.clear();
  }
  uint64_t next() const { return first + pending.size(); }
};

}  // namespace simulator
