#include "common/simulator/checks/shared_shadow.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "common/simulator/checks/shared_stamp.h"

namespace simulator {
namespace {

// What the lane adds to a run's first stamp, by granule of the run, for 1, 2, 4, 8 and 16 granules per lane.
template <size_t per_lane>
constexpr std::array<Stamp, 32 * per_lane> make_steps() {
  std::array<Stamp, 32 * per_lane> steps{};
  for (size_t i = 0; i < steps.size(); ++i) {
    const Stamp lane = static_cast<Stamp>(i / per_lane);
    steps[i] = lane << lane_bit | lane << other_bit;
  }
  return steps;
}
constexpr auto steps1 = make_steps<1>();
constexpr auto steps2 = make_steps<2>();
constexpr auto steps4 = make_steps<4>();
constexpr auto steps8 = make_steps<8>();
constexpr auto steps16 = make_steps<16>();
constexpr const Stamp* steps_by_log2[] = {steps1.data(), steps2.data(), steps4.data(), steps8.data(),
                                          steps16.data()};

bool neighbours(const uint32_t* address, uint32_t count, uint32_t bytes) {
  uint32_t different = 0;
  const uint32_t first = address[0];
  for (uint32_t i = 0; i < count; ++i) different |= address[i] ^ (first + i * bytes);
  return different == 0;
}

}  // namespace

void SharedShadow::reset(uint32_t bytes, uint32_t warps, uint32_t granule, uint32_t ctas) {
  shift_ = static_cast<uint32_t>(std::countr_zero(granule));
  granules_ = (bytes * ctas + granule - 1) >> shift_;
  ctas_ = ctas;
  warps_ = warps * ctas;
  width_ = (2 * warps_ + ctas + 7) / 8 * 8;
  // Rows are kept a few cache lines off a power of two, so that they do not all compete for the same sets of
  // a cache.
  stride_ = granules_ + 40;
  if (writes_.size() < granules_) writes_.resize(granules_);
  if (readers_.size() < granules_) readers_.resize(granules_);
  const bool wraps = now_ > last_clock / 2;
  if (reads_size_ < stride_ * warps_ || wraps) {
    reads_size_ = std::max(reads_size_, stride_ * warps_);
    reads_.reset();
    reads_.reset(static_cast<Stamp*>(std::calloc(reads_size_, sizeof(Stamp))));
    if (!reads_) throw std::bad_alloc();
  }
  if (wraps) {
    std::fill(writes_.begin(), writes_.end(), 0);
    std::fill(readers_.begin(), readers_.end(), 0);
    std::fill(row_newest_.begin(), row_newest_.end(), 0);
    now_ = 0;
  }
  base_ = ++now_;
  const size_t rows = (granules_ >> (row_shift - shift_)) + 1;
  if (row_newest_.size() < rows) row_newest_.resize(rows);
  row_full_.assign(rows, 0);
  begin_life();
  for (uint32_t w = 0; w < warps_; ++w) {
    for (uint32_t rank = 0; rank < ctas_; ++rank) known(w)[column_of_cta(rank)] -= rank != w / warps;
  }
}

bool SharedShadow::ordered(uint32_t warp, Stamp earlier, Stamp mine) const {
  if (earlier < from_clock(base_) || clock_of(earlier) <= known(warp)[warp_of(earlier)]) return true;
  return ((earlier ^ mine) & identity) == 0 && !several(mine);  // the same lane
}

void SharedShadow::report(Problem& problem, Problem::Kind kind, uint32_t granule, Stamp mine, Stamp earlier,
                          bool wrote) const {
  if (problem.kind != Problem::Kind::none) return;
  problem.kind = kind;
  problem.offset = granule << shift_;
  problem.lane = lane_of(mine);
  if (kind == Problem::Kind::uninitialised) return;
  uint32_t other = lane_of(earlier);
  if (kind == Problem::Kind::race && warp_of(earlier) == warp_of(mine) &&
      other == problem.lane) {  // two lanes
    if (several(earlier)) {
      other = other_of(earlier);
    } else {
      problem.lane = other_of(mine);
    }
  }
  problem.other = {warp_of(earlier), other, static_cast<uint32_t>(earlier & pc_field), wrote,
                   (earlier & atomic_flag) != 0};
}

void SharedShadow::note_writes(uint32_t first, uint32_t count, Stamp mine) {
  const uint32_t shift = row_shift - shift_, clock = clock_of(mine);
  for (uint32_t row = first >> shift; row <= (first + count - 1) >> shift; ++row) row_newest_[row] = clock;
}

void SharedShadow::read_slowly(uint32_t warp, uint32_t granule, Stamp mine, Problem& problem) {
  const Stamp write = writes_[granule], begin = from_clock(base_);
  if (write < begin) {
    report(problem, Problem::Kind::uninitialised, granule, mine, 0, false);
  } else {
    if (ordered(warp, write, mine) || (write & mine & atomic_flag) != 0) return;
    // Lanes of one instruction that wrote the same value: any of them reads what it wrote itself.
    if (warp_of(write) == warp && several(write) && (write & atomic_flag) == 0) return;
    report(problem, Problem::Kind::race, granule, mine, write, true);
  }
  writes_[granule] = begin;  // as though written before the CTA began: not reported again
}

void SharedShadow::write_slowly(uint32_t warp, uint32_t granule, Stamp mine, bool reads_too,
                                Problem& problem) {
  const Stamp write = writes_[granule];
  bool raced = false;
  const auto race = [&](Stamp earlier, bool wrote) {
    if (ordered(warp, earlier, mine) || (earlier & mine & atomic_flag) != 0) return;
    report(problem, Problem::Kind::race, granule, mine, earlier, wrote);
    raced = true;
  };
  if (write >= from_clock(base_)) {
    race(write, true);
  } else if (reads_too) {
    report(problem, Problem::Kind::uninitialised, granule, mine, 0, false);
  }
  const int32_t readers = readers_[granule];
  if (static_cast<uint32_t>(readers >> reader_bits) > floor_[warp]) {
    const uint32_t who = static_cast<uint32_t>(readers & reader_field);
    if (who < several_readers) {
      race(reads_of(who)[granule], false);
    } else {
      for (uint32_t v = 0; v < warps_; ++v) race(reads_of(v)[granule], false);
    }
  }
  if (raced) readers_[granule] = 0;  // not reported again
  writes_[granule] = mine;
}

void SharedShadow::read(uint32_t warp, const Run& run, Problem& problem) {
  const Stamp never = from_clock(base_), later = from_clock(floor_[warp] + 1);
  // Where nothing orders this read after one by another lane, both are kept, the other as the stamp's other
  // lane.
  const Stamp mixed =
      several(run.first) ? std::numeric_limits<Stamp>::max() : from_clock(known(warp)[warp] + 1);
  const uint32_t count = run.lanes * per_lane_;
  const Stamp* steps = steps_by_log2[std::countr_zero(per_lane_)];
  const Stamp* __restrict writes = writes_.data() + run.granule;
  Stamp* __restrict reads = reads_of(warp) + run.granule;
  const Stamp first = run.first;
  Stamp bad = 0;
  const auto record = [&](uint32_t i) {
    const Stamp mine = first + steps[i], write = writes[i], before = reads[i];
    bad |= write < never ? 1 : 0;
    bad |= write >= later ? (write ^ mine) & identity : 0;
    const Stamp other =
        ((before ^ mine) & lane_field) != 0 ? (before & lane_field) >> 5 : before & other_field;
    reads[i] = before >= mixed ? (mine & ~other_field) | other : mine;
  };
  int32_t* readers = readers_.data() + run.granule;
  const int32_t clock = static_cast<int32_t>(clock_of(first) << reader_bits), me = static_cast<int32_t>(warp);
  const int32_t later_readers = static_cast<int32_t>((floor_[warp] + 1) << reader_bits);
  const auto record_reader = [&](uint32_t i) {
    const int32_t before = readers[i];
    const int32_t joint = std::max(before & ~reader_field, clock) | several_readers;
    readers[i] = before < later_readers ? clock | me : (before & reader_field) == me ? clock | me : joint;
  };
  if (count == 1) {  // vector loops cost more to enter than this
    record(0);
    record_reader(0);
  } else {
    for (uint32_t i = 0; i < count; ++i) record(i);
    for (uint32_t i = 0; i < count; ++i) record_reader(i);
  }
  if (bad != 0) [[unlikely]] {
    for (uint32_t i = 0; i < count; ++i) read_slowly(warp, run.granule + i, first + steps[i], problem);
  }
}

void SharedShadow::write(uint32_t warp, const Run& run, bool reads_too, Problem& problem) {
  const Stamp never = reads_too ? from_clock(base_) : 0, later = from_clock(floor_[warp] + 1);
  const uint32_t count = run.lanes * per_lane_;
  note_writes(run.granule, count, run.first);
  const Stamp* steps = steps_by_log2[std::countr_zero(per_lane_)];
  Stamp* writes = writes_.data() + run.granule;
  const Stamp first = run.first;
  const auto one_by_one = [&] {
    for (uint32_t i = 0; i < count; ++i)
      write_slowly(warp, run.granule + i, first + steps[i], reads_too, problem);
  };
  if (count == 1 || several(first)) return one_by_one();
  Stamp bad = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Stamp write = writes[i];
    bad |= write < never ? 1 : 0;
    bad |= write >= later ? (write ^ (first + steps[i])) & identity : 0;
  }
  const int32_t* readers = readers_.data() + run.granule;
  const int32_t later_readers = static_cast<int32_t>((floor_[warp] + 1) << reader_bits);
  int32_t newest = 0;
  for (uint32_t i = 0; i < count; ++i) newest = std::max(newest, readers[i]);
  if (newest >= later_readers) {  // by other warps, or by the very lanes that now write
    const Stamp* reads = reads_of(warp) + run.granule;
    const int32_t me = static_cast<int32_t>(warp);
    for (uint32_t i = 0; i < count; ++i) {
      const Stamp difference =
          (readers[i] & reader_field) != me ? 1 : (reads[i] ^ (first + steps[i])) & identity;
      bad |= readers[i] >= later_readers ? difference : 0;
    }
  }
  if (bad != 0) [[unlikely]]
    return one_by_one();
  for (uint32_t i = 0; i < count; ++i) writes[i] = first + steps[i];
}

void SharedShadow::read_lanes(uint32_t warp, const uint32_t* address, uint32_t active, uint32_t bytes,
                              Stamp mine, Problem& problem) {
  uint32_t apart = 0;  // further lanes read what lane l reads, the last one l + apart
  if (active == ~0u) {
    uint32_t count = 32;
    while (count > 1 && std::memcmp(address, address + count / 2, count / 2 * sizeof *address) == 0)
      count /= 2;
    apart = 32 - count;
    if (neighbours(address, count, bytes)) {
      read(warp, {address[0] >> shift_, count, mine | lane_pair(0, apart)}, problem);
      return;
    }
    active >>= apart;
  }
  while (active != 0) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(active)), start = address[lane];
    active &= active - 1;
    uint32_t other = lane, count = 1;
    for (uint32_t next = lane + 1; next < 32 && active >> next & 1; ++next) {
      if (address[next] == start && count == 1) {
        other = next;
      } else if (address[next] == start + count * bytes && other == lane) {
        ++count;
      } else {
        break;
      }
      active &= active - 1;
    }
    read(warp, {start >> shift_, count, mine | lane_pair(lane, other + apart)}, problem);
  }
}

bool SharedShadow::write_lanes(uint32_t warp, const uint32_t* address, uint32_t active, uint32_t bytes,
                               Stamp mine, bool reads_too, const std::byte* values, Problem& problem) {
  if (active == ~0u && neighbours(address, 32, bytes)) {
    write(warp, {address[0] >> shift_, 32, mine | lane_pair(0, 0)}, reads_too, problem);
    return false;
  }
  uint8_t last[32];  // the last lane that writes to where this one does
  bool rising = true;
  uint32_t end = 0;
  for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    rising = rising && address[lane] >= end;
    end = address[lane] + 1;
    last[lane] = static_cast<uint8_t>(lane);
  }
  const uint32_t all = active;
  uint32_t alone = active;  // lanes that share their address with no other
  if (!rising) {
    uint8_t table[64];
    std::memset(table, 0xFF, sizeof table);
    for (uint32_t rest = all; rest != 0; rest &= rest - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
      uint32_t slot = address[lane] * 0x9E3779B1u >> 26;
      while (table[slot] != 0xFF && address[table[slot]] != address[lane]) slot = (slot + 1) & 63;
      if (table[slot] == 0xFF) {
        table[slot] = static_cast<uint8_t>(lane);
        continue;
      }
      const uint32_t before = table[slot];
      const bool same = values != nullptr && std::memcmp(values + size_t{before} * bytes,
                                                         values + size_t{lane} * bytes, bytes) == 0;
      if (!same && (mine & atomic_flag) == 0) {
        report(problem, Problem::Kind::race, address[lane] >> shift_, mine | lane_pair(lane, lane),
               mine | lane_pair(before, before), true);
      }
      last[before] = static_cast<uint8_t>(lane);
      active &= ~(1u << lane);
      alone &= ~(1u << lane | 1u << before);
    }
  }
  while (active != 0) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(active)), start = address[lane];
    active &= active - 1;
    uint32_t count = 1;
    if (alone >> lane & 1) {
      while (lane + count < 32 && active & alone & 1u << (lane + count) &&
             address[lane + count] == start + count * bytes) {
        active &= active - 1;
        ++count;
      }
    }
    write(warp, {start >> shift_, count, mine | lane_pair(lane, last[lane])}, reads_too, problem);
  }
  return alone != all;
}

bool SharedShadow::ever_written(uint32_t offset, uint32_t bytes) const {
  for (uint32_t g = offset >> shift_; g <= (offset + bytes - 1) >> shift_; ++g) {
    if (clock_of(writes_[g]) > base_) return true;
  }
  return false;
}

void SharedShadow::unwrite(uint32_t offset, uint32_t bytes, uint32_t which) {
  const uint32_t granule = 1u << shift_, all = (1u << granule) - 1;
  for (uint32_t at = 0; at < bytes; at += granule) {
    if ((which >> at & all) == all) writes_[(offset + at) >> shift_] = 0;
  }
}

SharedShadow::Problem SharedShadow::access(uint32_t warp, uint32_t pc, const uint32_t address[32],
                                           uint32_t lanes, uint32_t bytes, bool write, bool atomic,
                                           const std::byte* values) {
  Problem problem;
  if (lanes == 0) return problem;
  const bool reads_too = write && atomic && values == nullptr;
  if (reads_too) open_[warp] = 0;  // a clock of its own
  const Stamp mine = open(warp) | (atomic ? atomic_flag : 0) | (Stamp{pc} & pc_field);
  per_lane_ = std::max(1u, bytes >> shift_);
  bool meet = false;
  if (write) {
    meet = write_lanes(warp, address, lanes, bytes, mine, reads_too, values, problem);
  } else {
    read_lanes(warp, address, lanes, bytes, mine, problem);
  }
  if (atomic) order_atomics(warp, address, lanes, bytes, !write || reads_too, write);
  if (meet &&
      reads_too) {  // the last of these lanes acquires what the others did before, but not their atomics
    known(warp)[warp] = std::max(known(warp)[warp], clock_of(mine) - 1);
    update_floor(warp);
  }
  return problem;
}

}  // namespace simulator
