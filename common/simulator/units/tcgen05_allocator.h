// tcgen05.alloc, .dealloc, .relinquish_alloc_permit (PTX ISA 9.7.16.7).
#pragma once

#include <cstdint>
#include <optional>

#include "common/simulator/machine/unit_state.h"
#include "common/simulator/units/places.h"

namespace simulator {

class Warp;

// .cta_group::2: what a warp has requested, and waits for until its peer requests the same.
struct Tcgen05Request {
  const Warp* warp = nullptr;
  bool allocates = false;
  uint32_t column = 0, columns = 0;  // dealloc: from which on
  bool granted = false;              // … from `column` on
};

// What a CTA keeps of it besides the memory (tcgen05_memory.h).
struct Tcgen05Allocator final : UnitState {
  static constexpr auto place = InCta::tcgen05_allocator;
  uint32_t columns = 0;                  // of the last allocation; 0: there was none
  uint32_t pc = 0;                       // of that tcgen05.alloc, in the kernel's counters
  std::optional<uint32_t> relinquished;  // where it gave up its right to allocate: the same
  std::optional<Tcgen05Request> request;
};

// What a warp keeps.
struct Tcgen05Allocations final : UnitState {
  static constexpr auto place = InWarp::tcgen05_allocator;
  uint32_t without_others = 0;  // lanes that need not wait for others: resolve_divergent_allocations()
};

}  // namespace simulator
