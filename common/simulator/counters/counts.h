// Counters, with the field's names and definitions (Nsight Compute's, where it has one).
#pragma once

#include <cstdint>

namespace simulator {

// Of one PTX instruction, summed over warps. `executed` × 32 − `lanes` were idle.
struct Counts {
  uint64_t executed = 0;    // warp-instructions, with at least one active lane after its guard
  uint64_t lanes = 0;       // thread-instructions
  uint64_t requests = 0;    // memory instructions with at least one active lane
  uint64_t sectors = 0;     // global memory: distinct 32-byte sectors over the active lanes of each request
  uint64_t bytes = 0;       // requested by the active lanes
  uint64_t wavefronts = 0;  // shared memory: passes of L1's data stage
  uint64_t ideal_wavefronts = 0;  // passes for the same access without bank conflicts
  uint64_t macs = 0;              // multiply-adds, where the PTX alone does not say how many

  Counts& operator+=(const Counts& other) {
    executed += other.executed;
    lanes += other.lanes;
    requests += other.requests;
    sectors += other.sectors;
    bytes += other.bytes;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    macs += other.macs;
    return *this;
  }
};

// How often something happened, and what else went on then.
struct Occasions {
  uint64_t times = 0;
  uint64_t none = 0;       // with nothing going on before
  uint64_t counted = 0;    // those of which this is known …
  uint64_t sum = 0;        // … what went on, over all of them
  uint64_t least = ~0ull;  // … and in the one that had the least

  void add(uint64_t going_on, uint64_t many = 1) {
    counted += many;
    sum += going_on * many;
    if (going_on < least) least = going_on;
  }
  Occasions& operator+=(const Occasions& other) {
    times += other.times;
    none += other.none;
    counted += other.counted;
    sum += other.sum;
    if (other.least < least) least = other.least;
    return *this;
  }
};

// Of one PTX instruction, what it overlaps with. units/overlap.h says when which of these is counted:
//   a wait for groups of copies   memory: groups that are in flight after it
//   a wait for an mbarrier        memory: k-tiles (phases of mbarriers) in flight after it; math: groups of
//                                 matrix products, where it waits for them
//   a wait for matrix products    math: groups in flight after it
//   a matrix product              memory: k-tiles on their way while it runs; math: groups in flight when a
//                                 group begins
//   a load                        math: arithmetic instructions between it and the first use of what it loads
//   a barrier                     math: those between it and the first read of shared memory behind it
struct Overlap {
  Occasions memory, math;

  Overlap& operator+=(const Overlap& other) {
    memory += other.memory;
    math += other.math;
    return *this;
  }
};

// Distinct 32-byte sectors that the lanes in `lanes` touch; bytes: 1 to 32 per lane, from each address.
uint32_t count_sectors(const uint64_t address[32], uint32_t lanes, uint32_t bytes);

// Shared memory: 32 banks of 4 bytes. bytes: 1, 2, 4, 8 or 16 per lane, aligned to as many. A wavefront
// delivers a word of every bank, so a group of lanes takes as many as the busiest bank has distinct words to
// deliver. A group is the warp, or half of it (8 bytes per lane), or a quarter (16); in a load whose lanes
// all access what lane ^ 1 accesses, or all what lane ^ 2 accesses, twice that. Inactive lanes are left out.
// Measured on an H200: tests/golden/wavefronts.txt. ideal: the wavefronts that as many bytes fill, 128 in
// each, or `actual` where sharing makes that less.
struct Wavefronts {
  uint32_t actual, ideal;
};
Wavefronts count_wavefronts(const uint32_t address[32], uint32_t lanes, uint32_t bytes, bool store);

// Asynchronous copies of 4, 8 or 16 bytes per lane from global to shared memory, aligned to as many. lanes:
// those that read something. Sectors are measured like the above.
//   bypass (.cg)  4 wavefronts, the rows of 128 bytes that a warp's 512 bytes fill, also where none reads and
//                 zeros are written: no hardware counter is known that depends on where they go. Sectors are
//                 the distinct pairs of a line of 128 bytes that is read and a sector that is written.
//   else (.ca)    Sectors as for a load. Wavefronts, measured, move the words out of L1: the groups of
//                 lanes are a store's, and in a wavefront every bank gives one word to one lane and takes one
//                 word. Lanes have their turn in order: each takes the first wavefront in which its banks are
//                 free, but none before that of the first lane that reads the same line, nor is a line begun
//                 before the line of the lane below. ideal: those that as many bytes fill.
struct CopyCounts {
  uint32_t sectors;
  Wavefronts wavefronts;
};
CopyCounts count_copy(const uint64_t from[32], const uint32_t to[32], uint32_t lanes, uint32_t bytes,
                      bool bypass);

}  // namespace simulator
