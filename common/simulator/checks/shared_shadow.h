// What is known about each byte of a cluster's shared memory: was it ever written, by whom, and who has read
// it since. The CTAs' memories follow each other by rank, and so do their warps. (A CTA without a cluster is
// a cluster of one.)
//
// Order is kept per warp, with vector clocks (as FastTrack does per thread; Flanagan and Freund, PLDI 2009):
// every warp has a clock, and knows for every other warp of its cluster up to which clock that warp's
// accesses come before its own. A barrier joins the knowledge of all that take part and moves their clocks
// on. Lanes of one warp are ordered by __syncwarp() and by barriers only, which also move the warp's clock
// on: two lanes that touch the same bytes at the same clock of their warp, one of them writing, race; lanes
// of one instruction only where both write (different values). (An atomic that a lane acquires from another
// one orders the whole warp, as does a read-modify-write by several lanes at one address.)
//
// Clocks are readings of one time that only grows, over all clusters that use the object: a warp takes a new
// reading at its first access after each point of synchronisation. So what is older than the cluster counts
// as never written, and one comparison with `floor` (all up to then is ordered before me) settles nearly
// every access.
//
// What threads write reaches the async proxy (copies, matrix products) only across a proxy fence. So a warp
// also knows, for every warp, up to which clock that one's accesses came before such a fence which itself
// comes before what it does now; this knowledge is passed on like the other. async_accesses.h has the other
// side.
//
// A CTA as such has a clock, too, which ticks when it starts and when a fence publishes its mbarrier objects:
// a warp that knows of the first tick may address its shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace simulator {

class SharedShadow {
 public:
  struct Access {  // by one lane
    uint32_t warp, lane;
    uint32_t pc;  // instruction index (its low 22 bits), for the report
    bool write,
        atomic;  // atomic: also volatile, relaxed and stronger accesses: they do not race with each other
  };
  struct Problem {
    // unfenced: a write that no proxy fence separates from an access through the async proxy
    enum class Kind : uint8_t { none, uninitialised, race, unfenced } kind = Kind::none;
    uint32_t offset = 0;  // of the first byte concerned
    uint32_t lane = 0;    // of this access
    Access other{};       // race, unfenced: the earlier access
  };

  // A new cluster of at most 16 CTAs with this many bytes and at most 32 warps each. granule: the narrowest
  // access of the kernel, 1, 2 or 4 bytes.
  void reset(uint32_t bytes, uint32_t warps, uint32_t granule, uint32_t ctas = 1);

  // A warp's access: address[lane] is an offset inside shared memory, in bounds and aligned, for lanes in
  // `lanes`. Returns the first problem found (the access is recorded all the same, and the same pair is not
  // reported again). values: for writes, lane l's bytes at values + l * bytes (to recognise same-value writes
  // in one instruction, which are no race). Null for an atomic write: a read-modify-write, which also reads.
  // Null for another write: unknown values, all different. Atomic accesses order warps, by location: a write
  // releases, a read acquires, a read-modify-write does both.
  Problem access(uint32_t warp, uint32_t pc, const uint32_t address[32], uint32_t lanes, uint32_t bytes,
                 bool write, bool atomic, const std::byte* values);

  uint32_t granule() const { return 1u << shift_; }  // in bytes

  // Has this cluster written any of these bytes? (What access() found to be never written does not count.)
  bool ever_written(uint32_t offset, uint32_t bytes) const;

  // Of these bytes, those of which `which` has a bit count as never written from now on.
  void unwrite(uint32_t offset, uint32_t bytes, uint32_t which);

  // Orderings.
  void sync_warp(uint32_t warp);  // __syncwarp
  // All of these have arrived: joins them. Warps that exited before may be named too: hardware counts them as
  // arrived.
  void barrier(const uint32_t* warps, uint32_t count);
  // Adds the warp's knowledge to `clock` (mbarriers, bar.arrive). A clock is empty at first and means nothing
  // in a later cluster.
  void release(uint32_t warp, std::vector<uint32_t>& clock);
  void acquire(uint32_t warp, const std::vector<uint32_t>& clock);
  // The same for the clocks of CTAs alone: an arrival that orders no accesses (.relaxed).
  void release_ctas(uint32_t warp, std::vector<uint32_t>& clock);
  void release_own(uint32_t warp, std::vector<uint32_t>& clock);  // the warp's own accesses only
  void merge(const std::vector<uint32_t>& from, std::vector<uint32_t>& into);

  // The lives of CTAs.
  void publish(uint32_t warp);  // a tick of its CTA's clock, which the warp knows of
  // Does the warp know of this tick of the clock of the CTA of that rank? 0: of its start.
  bool knows_cta(uint32_t warp, uint32_t rank, uint32_t tick = 0) const {
    return known(warp)[column_of_cta(rank)] >= (tick ? tick : base_ + 2);
  }
  uint32_t tick_of(uint32_t rank) const { return last_[column_of_cta(rank)]; }
  // The warp has addressed memory of the CTA of that rank, not its own.
  void reached(uint32_t warp, uint32_t lane, uint32_t pc, uint32_t rank, bool write);
  // The last thread of a CTA exits: an access to its memory which nothing orders before that.
  std::optional<Access> unordered_reach(uint32_t rank) const;

  // Does all that `earlier` did up to this reading of its clock come before what `later` does now?
  bool knows(uint32_t later, uint32_t earlier, uint32_t clock) const {
    return later == earlier || known(later)[earlier] >= clock;
  }
  uint32_t known_clock(uint32_t later, uint32_t earlier) const { return known(later)[earlier]; }
  uint32_t clock_of_warp(uint32_t warp);
  uint32_t life() const {
    return life_;
  }  // changes where such readings lose their meaning: all before is ordered

  // A read by a thread that no proxy fence separates from an access to these bytes through the async proxy.
  Problem unfenced_read(uint32_t warp, uint32_t lane, uint32_t offset, uint32_t bytes);
  // fence.proxy.async by these lanes; all: no other lane of the warp is alive.
  void proxy_fence(uint32_t warp, uint32_t lanes, bool all);
  // This lane of the warp (all_lanes: the warp) issues an operation of the async proxy: `count` accesses of
  // `bytes` bytes, a multiple of 16, at these offsets, which are multiples of 16. The first problem with what
  // threads did to these bytes before. What is written counts as written from now on.
  static constexpr uint32_t all_lanes = 32;
  Problem async_access(uint32_t warp, uint32_t lane, const uint32_t* offset, uint32_t count, uint32_t bytes,
                       bool write);

 private:
  // One access as a number, so that a later clock is a larger number: from the top bit down, 0, clock (21
  // bits), warp (9), lane (5), another lane of the same access or the same lane (5), atomic (1), pc (22).
  using Stamp = int64_t;

  // `lanes` neighbouring lanes that access neighbouring bytes, beginning at a granule.
  struct Run {
    uint32_t granule, lanes;
    Stamp first;  // of the first lane
  };

  Stamp open(uint32_t warp);
  void update_floor(uint32_t warp);
  void forget();
  bool ordered(uint32_t warp, Stamp earlier, Stamp mine) const;
  void report(Problem& problem, Problem::Kind kind, uint32_t granule, Stamp mine, Stamp earlier,
              bool wrote) const;
  void read(uint32_t warp, const Run& run, Problem& problem);
  void write(uint32_t warp, const Run& run, bool reads_too, Problem& problem);
  void read_slowly(uint32_t warp, uint32_t granule, Stamp mine, Problem& problem);
  void write_slowly(uint32_t warp, uint32_t granule, Stamp mine, bool reads_too, Problem& problem);
  void read_lanes(uint32_t warp, const uint32_t* address, uint32_t active, uint32_t bytes, Stamp mine,
                  Problem& problem);
  // Have two lanes the same address?
  bool write_lanes(uint32_t warp, const uint32_t* address, uint32_t active, uint32_t bytes, Stamp mine,
                   bool reads_too, const std::byte* values, Problem& problem);
  void order_atomics(uint32_t warp, const uint32_t* address, uint32_t lanes, uint32_t bytes, bool acquires,
                     bool releases);
  void begin_life();
  bool is_current(const std::vector<uint32_t>& clock) const;
  std::vector<uint32_t>& opened(std::vector<uint32_t>& clock);
  bool fenced(uint32_t warp, Stamp earlier) const;
  void note_writes(uint32_t first, uint32_t count, Stamp mine);
  void async_access_slowly(uint32_t warp, uint32_t lane, uint32_t granule, bool write, Problem& problem);
  Stamp* reads_of(uint32_t warp) { return reads_.get() + size_t{warp} * stride_; }
  uint32_t* known(uint32_t warp) { return known_.data() + size_t{warp} * width_; }
  const uint32_t* known(uint32_t warp) const { return known_.data() + size_t{warp} * width_; }
  uint32_t column_of_cta(uint32_t rank) const { return 2 * warps_ + rank; }

  uint32_t shift_ = 2;                    // log2 of the granule's bytes
  uint32_t granules_ = 0, per_lane_ = 1;  // of this cluster; of the present access
  size_t stride_ = 0;                     // between the rows of reads_
  uint32_t ctas_ = 1, warps_ = 0;         // of this cluster
  uint32_t width_ = 0;                    // of a row of known_
  uint32_t now_ = 0;                      // the time
  uint32_t base_ = 0;                     // the time when this cluster began
  uint32_t life_ = 0;                     // a number for this cluster: of clocks outside

  struct Free {
    void operator()(Stamp* rows) const { std::free(rows); }
  };
  std::vector<Stamp> writes_;  // per granule: the last write
  // Per warp and granule: that warp's last read. Where there are several CTAs most of its pages are never
  // touched. An earlier cluster may have left reads by a warp that this one does not have.
  std::unique_ptr<Stamp[], Free> reads_;
  size_t reads_size_ = 0;
  std::vector<int32_t> readers_;  // per granule: clock of the last read · 1024 + the only warp that read, as
                                  // far as reads are not ordered before it; 512: several did
  // [w][v]: v's accesses up to this clock come before what w does now. [w][warps_ + v]: … with a proxy fence
  // between. Then the ticks of CTAs.
  std::vector<uint32_t> known_;
  std::vector<uint32_t> last_;    // the clock of the warp's last access; of the CTA's last tick
  std::vector<uint32_t> floor_;   // [w]: all threads' accesses up to this clock come before what w does now
  std::vector<uint8_t> open_;     // [w]: has accessed since it last synchronised
  std::vector<uint32_t> joined_;  // a row for barrier()
  std::vector<Stamp> reached_;    // [w][rank]: the last access to memory of another CTA

  // A proxy fence by some lanes of a warp only: the clocks up to which the last two cover the lane.
  struct LaneFences {
    uint32_t last, before;
  };
  std::vector<LaneFences> lane_fences_;  // per warp and lane
  static constexpr uint32_t row_shift = 7;
  std::vector<uint32_t> row_newest_;  // per row of 128 bytes: clock of the newest write by a thread
  std::vector<uint8_t> row_full_;     // a bit per 16 bytes of it: all are known to be written

  // What a warp knew at an atomic write. One entry for all granules that one instruction wrote.
  struct Release {
    std::vector<uint32_t> known;
    uint32_t warp;
    uint32_t granules;  // that still hold this write; 0: the entry is free
  };
  uint32_t new_release(uint32_t warp);

  std::vector<uint64_t> locations_;  // per granule: life · 2^32 + index in released_ of the last atomic write
  std::vector<Release> released_;
  std::vector<uint32_t> free_;  // entries of released_
};

}  // namespace simulator
