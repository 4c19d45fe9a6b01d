// st.async and red.async (PTX ISA 9.7.9.12, 9.7.13.7): stores to shared memory of a CTA of the cluster that
// complete later than they are issued, and are counted by an mbarrier there.
//
// Like the copies of async_copies.h they land as late as a program may rely on, when a warp finds the phase
// of the mbarrier not yet complete, or with a seed at random moments before; and until such a phase has been
// seen they are pending (checks/pending_copies.h), landed or not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/simulator/machine/unit_state.h"
#include "common/simulator/units/places.h"

namespace simulator {

class Warp;

struct AsyncStore {  // of one lane
  Warp* warp = nullptr;
  uint32_t lane = 0;
  uint32_t pc = 0;      // in the kernel's counters
  uint64_t number = 0;  // unique in the cluster
  bool landed = false;
  uint64_t phase = 0;             // of the mbarrier, when it landed
  uint32_t to = 0, mbarrier = 0;  // addresses in the CTA's shared memory
  uint32_t bytes = 0;
  std::array<std::byte, 16> value{};
  void (*reduce)(std::byte* at, const std::byte* value) = nullptr;  // null: a store
  std::vector<uint32_t> clock;                                      // released by it
};

// Those to the shared memory of a CTA that have not been seen, in the order of issue.
struct AsyncStores final : UnitState {
  static constexpr auto place = InCta::async_stores;
  std::deque<AsyncStore> pending;
  uint64_t next = 0;  // how many there were
};

// Set in the numbers of stores, among those of pending copies.
constexpr uint64_t async_store_number = uint64_t{1} << 48;

}  // namespace simulator
