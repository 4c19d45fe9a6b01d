#include "common/simulator/units/tcgen05_memory.h"

#include <algorithm>
#include <bit>

#include "common/simulator/memory/poison.h"

namespace simulator {

uint32_t Tcgen05Lanes::first() const {
  return static_cast<uint32_t>(half[0] ? std::countr_zero(half[0]) : 64 + std::countr_zero(half[1]));
}

uint32_t Tcgen05Lanes::last() const {
  return static_cast<uint32_t>(half[1] ? 127 - std::countl_zero(half[1]) : 63 - std::countl_zero(half[0]));
}

bool Tcgen05Memory::is_free(uint32_t column, uint32_t columns) const {
  const auto begin = state_.begin() + column;
  return std::none_of(begin, begin + columns, [](State each) { return each == State::allocated; });
}

void Tcgen05Memory::allocate(uint32_t column, uint32_t columns, uint32_t pc) {
  if (words_.empty()) {
    words_.resize(size_t{tcgen05_columns} * tcgen05_lanes);
    written_.resize(tcgen05_columns);
  }
  allocations_.push_back({column, columns, pc});
  std::fill_n(state_.begin() + column, columns, State::allocated);
  std::fill_n(written_.begin() + column, columns, Tcgen05Lanes{});
  std::fill_n(this->column(column), size_t{columns} * tcgen05_lanes,
              0x01010101u * static_cast<uint32_t>(poison));
}

void Tcgen05Memory::free(uint32_t column, uint32_t columns, uint32_t pc) {
  std::erase_if(freed_, [=](const Allocation& each) { return each.column == column; });
  freed_.push_back({column, columns, pc});
  std::fill_n(state_.begin() + column, columns, State::freed);
  std::erase_if(allocations_, [=](const Allocation& each) { return each.column == column; });
}

std::optional<uint32_t> Tcgen05Memory::unallocated(uint32_t column, uint32_t columns) const {
  const auto begin = state_.begin() + column, end = begin + columns;
  const auto found = std::find_if(begin, end, [](State each) { return each != State::allocated; });
  if (found == end) return {};
  return static_cast<uint32_t>(found - state_.begin());
}

const char* Tcgen05Memory::state_of(uint32_t column) const {
  switch (state_[column]) {
    case State::never:
      return "has never been allocated";
    case State::freed:
      return "has been freed";
    case State::allocated:
      break;
  }
  return "is allocated";
}

std::optional<uint32_t> Tcgen05Memory::freed_at(uint32_t column) const {
  const auto found = std::find_if(freed_.rbegin(), freed_.rend(), [=](const Allocation& each) {
    return column - each.column < each.columns;
  });
  if (state_[column] != State::freed || found == freed_.rend()) return {};
  return found->pc;
}

void Tcgen05Memory::mark_written(const Tcgen05Region& region) {
  for (uint32_t c = region.column; c < region.column + region.columns; ++c)
    written_[c] = written_[c] | region.lanes;
}

std::string name_of(const Tcgen05Region& region) {
  const auto range = [](const char* name, uint32_t first, uint32_t last) {
    if (first == last) return std::string(name) + ' ' + std::to_string(first);
    return std::string(name) + "s " + std::to_string(first) + " to " + std::to_string(last);
  };
  std::string text = range("column", region.column, region.column + region.columns - 1);
  if (region.lanes.any()) text += " of " + range("lane", region.lanes.first(), region.lanes.last());
  return text;
}

}  // namespace simulator
