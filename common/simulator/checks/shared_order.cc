// What comes before what: the warps' clocks, and who knows of whose.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/simulator/checks/shared_shadow.h"
#include "common/simulator/checks/shared_stamp.h"

namespace simulator {

// Everything so far counts as ordered, and all CTAs know of each other. What the async proxy writes has the
// first clock, the first tick of every CTA the one after it.
void SharedShadow::begin_life() {
  ++life_;
  ++now_;
  known_.assign(size_t{width_} * warps_, now_);
  last_.assign(width_, now_);
  floor_.assign(warps_, now_);
  ++now_;
  for (uint32_t rank = 0; rank < ctas_; ++rank) {
    last_[column_of_cta(rank)] = now_;
    for (uint32_t w = 0; w < warps_; ++w) known(w)[column_of_cta(rank)] = now_;
  }
  open_.assign(warps_, 0);
  reached_.assign(size_t{warps_} * ctas_, 0);
  released_.clear();
  free_.clear();
  lane_fences_.assign(size_t{warps_} * 32, {});
}

// The clock has run out within one cluster: all that was done so far now counts as ordered; what was written
// stays written.
void SharedShadow::forget() {
  const Stamp first = from_clock(base_);
  for (Stamp& write : writes_) write = write >= first ? from_clock(2) : 0;
  std::fill(readers_.begin(), readers_.end(), 0);
  std::fill_n(reads_.get(), reads_size_, 0);
  std::fill(row_newest_.begin(), row_newest_.end(), 0);
  now_ = base_ = 1;
  begin_life();
}

// The warp's part of a stamp, with a new clock at its first access since it synchronised.
SharedShadow::Stamp SharedShadow::open(uint32_t warp) {
  if (!open_[warp]) {
    if (now_ == last_clock) forget();
    last_[warp] = ++now_;
    open_[warp] = 1;
  }
  return from_clock(last_[warp]) | Stamp{warp} << warp_bit;
}

void SharedShadow::update_floor(uint32_t warp) {
  const uint32_t* known_here = known(warp);
  uint32_t floor = now_;
  for (uint32_t v = 0; v < warps_; ++v)
    floor = std::min(floor, last_[v] > known_here[v] ? known_here[v] : now_);
  floor_[warp] = floor;
}

void SharedShadow::sync_warp(uint32_t warp) {
  known(warp)[warp] = last_[warp];
  open_[warp] = 0;
  update_floor(warp);
}

void SharedShadow::barrier(const uint32_t* warps, uint32_t count) {
  if (count == 0) return;
  joined_.assign(width_, 0);
  for (uint32_t i = 0; i < count; ++i) join(joined_.data(), known(warps[i]), width_);
  for (uint32_t i = 0; i < count; ++i) {
    joined_[warps[i]] = last_[warps[i]];
    open_[warps[i]] = 0;
  }
  std::copy(joined_.begin(), joined_.end(), known(warps[0]));
  update_floor(warps[0]);
  for (uint32_t i = 1; i < count; ++i) {
    std::copy(joined_.begin(), joined_.end(), known(warps[i]));
    floor_[warps[i]] = floor_[warps[0]];
  }
}

// The last entry says which cluster the clock belongs to.
std::vector<uint32_t>& SharedShadow::opened(std::vector<uint32_t>& clock) {
  if (!is_current(clock)) {
    clock.assign(width_ + 1, 0);
    clock[width_] = life_;
  }
  return clock;
}
bool SharedShadow::is_current(const std::vector<uint32_t>& clock) const {
  return clock.size() == width_ + 1 && clock[width_] == life_;
}

void SharedShadow::release(uint32_t warp, std::vector<uint32_t>& clock) {
  join(opened(clock).data(), known(warp), width_);
  clock[warp] = std::max(clock[warp], last_[warp]);
  open_[warp] = 0;
}

void SharedShadow::acquire(uint32_t warp, const std::vector<uint32_t>& clock) {
  if (!is_current(clock)) return;
  join(known(warp), clock.data(), width_);
  update_floor(warp);
}

void SharedShadow::release_ctas(uint32_t warp, std::vector<uint32_t>& clock) {
  join(opened(clock).data() + column_of_cta(0), known(warp) + column_of_cta(0), ctas_);
}

void SharedShadow::release_own(uint32_t warp, std::vector<uint32_t>& clock) {
  uint32_t& own = opened(clock)[warp];
  own = std::max(own, last_[warp]);
  open_[warp] = 0;
}

void SharedShadow::merge(const std::vector<uint32_t>& from, std::vector<uint32_t>& into) {
  if (is_current(from)) join(opened(into).data(), from.data(), width_);
}

void SharedShadow::publish(uint32_t warp) {
  if (now_ == last_clock) forget();
  const uint32_t cta = column_of_cta(warp / (warps_ / ctas_));
  known(warp)[cta] = last_[cta] = ++now_;
}

void SharedShadow::reached(uint32_t warp, uint32_t lane, uint32_t pc, uint32_t rank, bool write) {
  const Stamp mine = open(warp) | lane_pair(lane, lane) | (write ? atomic_flag : 0) | (Stamp{pc} & pc_field);
  reached_[size_t{warp} * ctas_ + rank] = mine;
}

std::optional<SharedShadow::Access> SharedShadow::unordered_reach(uint32_t rank) const {
  const uint32_t each = warps_ / ctas_;
  for (uint32_t v = 0; v < warps_; ++v) {
    const Stamp last = reached_[size_t{v} * ctas_ + rank];
    if (!last) continue;
    uint32_t seen = 0;
    for (uint32_t w = rank * each; w < (rank + 1) * each; ++w) seen = std::max(seen, known(w)[v]);
    if (clock_of(last) <= seen) continue;
    return Access{v, lane_of(last), static_cast<uint32_t>(last & pc_field), (last & atomic_flag) != 0, false};
  }
  return {};
}

void SharedShadow::order_atomics(uint32_t warp, const uint32_t* address, uint32_t lanes, uint32_t bytes,
                                 bool acquires, bool releases) {
  if (locations_.size() < granules_) locations_.resize(granules_);
  const auto for_each_granule = [&](auto&& f) {
    uint32_t before = ~0u;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const uint32_t at = address[std::countr_zero(rest)];
      if (at != before) {
        for (uint32_t g = at >> shift_; g <= (at + bytes - 1) >> shift_; ++g) f(g);
      }
      before = at;
    }
  };
  if (acquires && !released_.empty()) {
    uint32_t* mine = known(warp);
    bool learnt = false;
    for_each_granule([&](uint32_t g) {
      if (locations_[g] >> 32 != life_) return;
      // Knowledge is passed on as a whole: who knows of that write knows all that its warp knew.
      const Release& release = released_[static_cast<uint32_t>(locations_[g])];
      if (mine[release.warp] >= release.known[release.warp]) return;
      join(mine, release.known.data(), width_);
      learnt = true;
    });
    if (learnt) update_floor(warp);
  }
  if (releases) {
    const uint32_t mine = new_release(warp);
    for_each_granule([&](uint32_t g) {
      ++released_[mine].granules;
      if (locations_[g] >> 32 == life_) {
        const uint32_t before = static_cast<uint32_t>(locations_[g]);
        if (--released_[before].granules == 0) free_.push_back(before);
      }
      locations_[g] = uint64_t{life_} << 32 | mine;
    });
    open_[warp] = 0;
  }
}

uint32_t SharedShadow::new_release(uint32_t warp) {
  uint32_t index = static_cast<uint32_t>(released_.size());
  if (free_.empty()) {
    released_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  released_[index].known.assign(known(warp), known(warp) + width_);
  released_[index].warp = warp;
  released_[index].granules = 0;
  released_[index].known[warp] = last_[warp];
  return index;
}

}  // namespace simulator
