// Tensor memory (PTX ISA 9.7.16.1): 128 lanes of 512 columns of 32 bits for each CTA, allocated by columns.
//
// On hardware it belongs to the multiprocessor, and tcgen05.alloc waits until the other CTAs there leave
// enough of it. Here every CTA has a multiprocessor of its own: it waits for no other CTA.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/simulator/machine/machine.h"
#include "common/simulator/units/places.h"

namespace simulator {

constexpr uint32_t tcgen05_lanes = 128, tcgen05_columns = 512;

// A set of lanes.
struct Tcgen05Lanes {
  uint64_t half[2] = {};  // lanes 0 to 63, 64 to 127

  static constexpr Tcgen05Lanes of(uint32_t first, uint32_t count) {  // that exist: the rest are left out
    Tcgen05Lanes lanes;
    for (uint32_t l = first; l < first + count && l < tcgen05_lanes; ++l)
      lanes.half[l / 64] |= 1ull << l % 64;
    return lanes;
  }
  static constexpr Tcgen05Lanes all() { return {{~0ull, ~0ull}}; }
  constexpr bool any() const { return (half[0] | half[1]) != 0; }
  uint32_t first() const;  // of a set that is not empty
  uint32_t last() const;
  friend constexpr Tcgen05Lanes operator&(Tcgen05Lanes a, Tcgen05Lanes b) {
    return {{a.half[0] & b.half[0], a.half[1] & b.half[1]}};
  }
  friend constexpr Tcgen05Lanes operator|(Tcgen05Lanes a, Tcgen05Lanes b) {
    return {{a.half[0] | b.half[0], a.half[1] | b.half[1]}};
  }
  friend constexpr Tcgen05Lanes operator~(Tcgen05Lanes a) { return {{~a.half[0], ~a.half[1]}}; }
  friend constexpr bool operator==(Tcgen05Lanes, Tcgen05Lanes) = default;
};

// What an operation accesses of the tensor memory of one CTA.
struct Tcgen05Region {
  Tcgen05Lanes lanes;
  uint32_t column = 0, columns = 0;
};

// An address (9.7.16.1.1).
constexpr uint32_t tcgen05_lane(uint32_t address) {
  return address >> 16;
}
constexpr uint32_t tcgen05_column(uint32_t address) {
  return address & 0xffff;
}

class Tcgen05Memory {
 public:
  struct Allocation {
    uint32_t column = 0, columns = 0;
    uint32_t pc = 0;  // of the tcgen05.alloc, in the kernel's counters
  };

  void reset() { *this = {}; }  // a new CTA

  // The lanes of a column, from 0 to 127. Only where something has ever been allocated.
  uint32_t* column(uint32_t index) { return words_.data() + size_t{index} * tcgen05_lanes; }
  const uint32_t* column(uint32_t index) const { return words_.data() + size_t{index} * tcgen05_lanes; }

  bool is_free(uint32_t column, uint32_t columns) const;
  void allocate(uint32_t column, uint32_t columns, uint32_t pc);
  void free(uint32_t column, uint32_t columns, uint32_t pc);
  const std::vector<Allocation>& allocations() const { return allocations_; }

  // The first column from there on that is not allocated; none: nullopt. In words: "has been freed", "has
  // never been allocated".
  std::optional<uint32_t> unallocated(uint32_t column, uint32_t columns) const;
  const char* state_of(uint32_t column) const;
  // The tcgen05.dealloc that has freed the column last, in the kernel's counters; none: nullopt.
  std::optional<uint32_t> freed_at(uint32_t column) const;

  // Which words hold what has been written since they were allocated.
  Tcgen05Lanes written(uint32_t column) const { return written_[column]; }
  void mark_written(const Tcgen05Region& region);

 private:
  enum class State : uint8_t { never, allocated, freed };
  std::vector<uint32_t> words_;  // by column, then by lane; empty: nothing has been allocated yet
  std::vector<Tcgen05Lanes> written_;
  std::array<State, tcgen05_columns> state_{};
  std::vector<Allocation> allocations_, freed_;  // freed_: with the pc of the tcgen05.dealloc
};

struct Tcgen05OfCta final : UnitState {
  static constexpr auto place = InCta::tcgen05_memory;
  Tcgen05Memory memory;
};
inline Tcgen05Memory& tcgen05_memory(Cta& cta) {
  return cta.state<Tcgen05OfCta>().memory;
}
inline const Tcgen05Memory& tcgen05_memory(const Cta& cta) {
  return cta.state<Tcgen05OfCta>().memory;
}

// "columns 32 to 63 of lanes 0 to 127".
std::string name_of(const Tcgen05Region& region);

}  // namespace simulator
