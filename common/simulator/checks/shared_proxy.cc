// Shared memory and the async proxy: proxy fences, and what asynchronous operations read and write.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/simulator/checks/shared_shadow.h"
#include "common/simulator/checks/shared_stamp.h"

namespace simulator {

uint32_t SharedShadow::clock_of_warp(uint32_t warp) {
  return clock_of(open(warp));
}

void SharedShadow::proxy_fence(uint32_t warp, uint32_t lanes, bool all) {
  uint32_t* row = known(warp);
  join(row + warps_, row, warps_);
  if (all) row[warps_ + warp] = last_[warp];
  for (; lanes != 0 && !all; lanes &= lanes - 1) {
    LaneFences& fences = lane_fences_[warp * 32 + static_cast<uint32_t>(std::countr_zero(lanes))];
    if (fences.last != last_[warp]) fences = {last_[warp], fences.last};
  }
  open_[warp] = 0;  // later writes are not covered
}

// Does a proxy fence come between that access and what the warp does now?
bool SharedShadow::fenced(uint32_t warp, Stamp earlier) const {
  const uint32_t by = warp_of(earlier), clock = clock_of(earlier);
  if (clock <= known(warp)[warps_ + by]) return true;
  const LaneFences& fences = lane_fences_[by * 32 + lane_of(earlier)];
  return (clock <= fences.last && knows(warp, by, fences.last)) ||
         (clock <= fences.before && knows(warp, by, fences.before));
}

SharedShadow::Problem SharedShadow::unfenced_read(uint32_t warp, uint32_t lane, uint32_t offset,
                                                  uint32_t bytes) {
  Problem problem;
  const Stamp mine = Stamp{warp} << warp_bit | lane_pair(lane & 31, lane & 31);
  for (uint32_t granule = offset >> shift_; granule < (offset + bytes) >> shift_; ++granule) {
    for (uint32_t v = 0; v < warps_; ++v) {
      const Stamp read = reads_of(v)[granule];
      if (read >= from_clock(base_) && !fenced(warp, read))
        report(problem, Problem::Kind::unfenced, granule, mine, read, false);
    }
  }
  return problem;
}

void SharedShadow::async_access_slowly(uint32_t warp, uint32_t lane, uint32_t granule, bool write,
                                       Problem& problem) {
  const auto is_ordered = [&](Stamp earlier) {
    if (earlier < from_clock(base_) || clock_of(earlier) <= known(warp)[warp_of(earlier)]) return true;
    return warp_of(earlier) == warp && (lane == all_lanes || (lane_of(earlier) == lane && !several(earlier)));
  };
  const Stamp mine = Stamp{warp} << warp_bit | lane_pair(lane & 31, lane & 31);
  const Stamp last = writes_[granule];
  Problem::Kind found = Problem::Kind::none;
  if (last < from_clock(base_)) {
    found = write ? found : Problem::Kind::uninitialised;
  } else if (!is_ordered(last)) {
    found = Problem::Kind::race;
  } else if (!fenced(warp, last)) {
    found = Problem::Kind::unfenced;
  }
  if (found != Problem::Kind::none) report(problem, found, granule, mine, last, true);
  if (write || found != Problem::Kind::none) writes_[granule] = from_clock(base_ + 1);  // not reported again
  if (!write) return;
  if (static_cast<uint32_t>(readers_[granule] >> reader_bits) > floor_[warp]) {
    for (uint32_t v = 0; v < warps_; ++v) {
      const Stamp read = reads_of(v)[granule];
      if (!is_ordered(read)) report(problem, Problem::Kind::race, granule, mine, read, false);
    }
  }
  readers_[granule] = 0;
}

SharedShadow::Problem SharedShadow::async_access(uint32_t warp, uint32_t lane, const uint32_t* offset,
                                                 uint32_t count, uint32_t bytes, bool write) {
  // What any thread wrote up to this clock is ordered before this and fenced.
  const uint32_t* known_here = known(warp);
  uint32_t floor = now_;
  for (uint32_t v = 0; v < warps_; ++v) {
    const uint32_t covered = std::min(known_here[v], known_here[warps_ + v]);
    floor = std::min(floor, last_[v] > covered ? covered : now_);
  }
  constexpr uint32_t chunk_shift = 4;  // 16 bytes, of which a row has eight
  Problem problem;
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t at = offset[i]; at < offset[i] + bytes; at += 1u << chunk_shift) {
      const uint32_t row = at >> row_shift, chunk = 1u << (at >> chunk_shift & 7);
      if (!write && row_newest_[row] <= floor && row_full_[row] & chunk) continue;
      const uint32_t end = (at + (1u << chunk_shift)) >> shift_;
      for (uint32_t g = at >> shift_; g < end; ++g) async_access_slowly(warp, lane, g, write, problem);
      row_full_[row] = static_cast<uint8_t>(row_full_[row] | chunk);
    }
  }
  return problem;
}

}  // namespace simulator
