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

namespace simulator {
namespace {

using Stamp = int64_t;

// The fields of a stamp; see shared_shadow.h.
constexpr int clock_bit = 42, warp_bit = 33, lane_bit = 28, other_bit = 23, atomic_bit = 22;
constexpr Stamp lane_field = Stamp{31} << lane_bit, other_field = Stamp{31} << other_bit;
constexpr Stamp identity = Stamp{511} << warp_bit | lane_field | other_field;
constexpr Stamp atomic_flag = Stamp{1} << atomic_bit;
constexpr Stamp pc_field = atomic_flag - 1;
constexpr uint32_t last_clock = (1u << 21) - 1;
constexpr int reader_bits = 10;
constexpr int32_t several_readers = 512, reader_field = (1 << reader_bits) - 1;

uint32_t clock_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> clock_bit);
}
uint32_t warp_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> warp_bit) & 511;
}
uint32_t lane_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> lane_bit) & 31;
}
uint32_t other_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> other_bit) & 31;
}
bool several(Stamp stamp) {
  return lane_of(stamp) != other_of(stamp);
}
Stamp from_clock(uint32_t clock) {
  return Stamp{clock} << clock_bit;
}
Stamp lane_pair(uint32_t lane, uint32_t other) {
  return Stamp{lane} << lane_bit | Stamp{other} << other_bit;
}

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

void join(uint32_t* into, const uint32_t* from, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

void SharedShadow::reset(uint32_t bytes, uint32_t warps, uint32_t granule, uint32_t ctas) {
  shift_ = static_cast<uint32_t>(std::countr_zero(granule));
  granules_ = (bytes * ctas + granule - 1) >> shift_;
  ctas_ = ctas;
  warps_ = warps * ctas;
  width_ = (2 * warps_ + ctas + 7) / 8 * 8;
  // Rows are kept a few cache lines off a power of two, lest they all compete for the same sets of a cache.
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

// Everything so far counts as ordered, and all CTAs know of each other. What the async proxy writes has the
// clock that comes first, the first tick of every CTA that which follows.
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

// The last entry tells which cluster the clock belongs to.
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

bool SharedShadow::ordered(uint32_t warp, Stamp earlier, Stamp mine) const {
  if (clock_of(earlier) <= known(warp)[warp_of(earlier)]) return true;
  return ((earlier ^ mine) & identity) == 0 && !several(mine);  // the same lane
}

void SharedShadow::tell(Problem& problem, Problem::Kind kind, uint32_t granule, Stamp mine, Stamp earlier,
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

void SharedShadow::read_slowly(uint32_t warp, uint32_t granule, Stamp mine, Problem& problem) {
  const Stamp write = writes_[granule], begin = from_clock(base_);
  if (write < begin) {
    tell(problem, Problem::Kind::uninitialised, granule, mine, 0, false);
  } else {
    if (ordered(warp, write, mine) || (write & mine & atomic_flag) != 0) return;
    // Lanes of one instruction that wrote the same value: any of them reads what it wrote itself.
    if (warp_of(write) == warp && several(write) && (write & atomic_flag) == 0) return;
    tell(problem, Problem::Kind::race, granule, mine, write, true);
  }
  writes_[granule] = begin;  // as though written before the CTA began: not told again
}

void SharedShadow::write_slowly(uint32_t warp, uint32_t granule, Stamp mine, bool reads_too,
                                Problem& problem) {
  const Stamp write = writes_[granule];
  bool raced = false;
  const auto race = [&](Stamp earlier, bool wrote) {
    if (ordered(warp, earlier, mine) || (earlier & mine & atomic_flag) != 0) return;
    tell(problem, Problem::Kind::race, granule, mine, earlier, wrote);
    raced = true;
  };
  if (write >= from_clock(base_)) {
    race(write, true);
  } else if (reads_too) {
    tell(problem, Problem::Kind::uninitialised, granule, mine, 0, false);
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
  if (raced) readers_[granule] = 0;  // not told again
  writes_[granule] = mine;
}

void SharedShadow::read(uint32_t warp, const Run& run, Problem& problem) {
  const Stamp never = from_clock(base_), later = from_clock(floor_[warp] + 1);
  // Reads by other lanes with nothing to order the two are kept: as the stamp's other lane.
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

void SharedShadow::write_lanes(uint32_t warp, const uint32_t* address, uint32_t active, uint32_t bytes,
                               Stamp mine, bool reads_too, const std::byte* values, Problem& problem) {
  if (active == ~0u && neighbours(address, 32, bytes)) {
    write(warp, {address[0] >> shift_, 32, mine | lane_pair(0, 0)}, reads_too, problem);
    return;
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
  uint32_t alone = active;  // lanes that share their place with no other
  if (!rising) {
    uint8_t table[64];
    std::memset(table, 0xFF, sizeof table);
    const uint32_t all = active;
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
        tell(problem, Problem::Kind::race, address[lane] >> shift_, mine | lane_pair(lane, lane),
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
}

bool SharedShadow::ever_written(uint32_t offset, uint32_t bytes) const {
  for (uint32_t g = offset >> shift_; g <= (offset + bytes - 1) >> shift_; ++g) {
    if (clock_of(writes_[g]) > base_) return true;
  }
  return false;
}

SharedShadow::Problem SharedShadow::access(uint32_t warp, uint32_t pc, const uint32_t address[32],
                                           uint32_t lanes, uint32_t bytes, bool write, bool atomic,
                                           const std::byte* values) {
  Problem problem;
  if (lanes == 0) return problem;
  const Stamp mine = open(warp) | (atomic ? atomic_flag : 0) | (Stamp{pc} & pc_field);
  per_lane_ = std::max(1u, bytes >> shift_);
  const bool reads_too = write && atomic && values == nullptr;
  if (write) {
    write_lanes(warp, address, lanes, bytes, mine, reads_too, values, problem);
  } else {
    read_lanes(warp, address, lanes, bytes, mine, problem);
  }
  if (atomic) order_atomics(warp, address, lanes, bytes, !write || reads_too, write);
  return problem;
}

// ---- The async proxy.

void SharedShadow::note_writes(uint32_t first, uint32_t count, Stamp mine) {
  const uint32_t shift = row_shift - shift_, clock = clock_of(mine);
  for (uint32_t row = first >> shift; row <= (first + count - 1) >> shift; ++row) row_newest_[row] = clock;
}

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
      if (read >= from_clock(base_) && clock_of(read) != 0 && !fenced(warp, read))
        tell(problem, Problem::Kind::unfenced, granule, mine, read, false);
    }
  }
  return problem;
}

void SharedShadow::async_access_slowly(uint32_t warp, uint32_t lane, uint32_t granule, bool write,
                                       Problem& problem) {
  const auto is_ordered = [&](Stamp earlier) {
    if (clock_of(earlier) <= known(warp)[warp_of(earlier)]) return true;
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
  if (found != Problem::Kind::none) tell(problem, found, granule, mine, last, true);
  if (write || found != Problem::Kind::none) writes_[granule] = from_clock(base_ + 1);  // not told again
  if (!write) return;
  if (static_cast<uint32_t>(readers_[granule] >> reader_bits) > floor_[warp]) {
    for (uint32_t v = 0; v < warps_; ++v) {
      const Stamp read = reads_of(v)[granule];
      if (!is_ordered(read)) tell(problem, Problem::Kind::race, granule, mine, read, false);
    }
  }
  readers_[granule] = 0;
}

SharedShadow::Problem SharedShadow::async_access(uint32_t warp, uint32_t lane, const uint32_t* offset,
                                                 uint32_t count, uint32_t bytes, bool write) {
  // What was written up to this clock, by anybody, is ordered before this and fenced.
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
