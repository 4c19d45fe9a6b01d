// What the async proxy does to a CTA's shared memory: the reads and writes of copies and of matrix products
// (PTX ISA 8.6, 9.7.15.4). Each is an operation that a thread, or a warpgroup, has issued; it has ended for
// those warps that have waited for it, and for those that synchronise with them later.
//
// They access whole chunks of 16 bytes, so accesses are tracked by chunk.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/simulator/checks/shared_shadow.h"

namespace simulator {

class AsyncAccesses {
 public:
  using Id = uint64_t;  // of an operation; 0: none. Valid after the operation has ended, too.
  struct Operation {
    uint32_t warp = 0, lane = 0;  // lane SharedShadow::all_lanes: the warp, or its warpgroup
    uint32_t pc = 0;              // in the kernel's counters
    bool write = false;
    // A warp that has waited for it, and its clock then, in this life of the shadow.
    std::vector<std::pair<uint32_t, uint32_t>> seen;
    uint32_t life = 0;
  };
  struct Problem {
    // uninitialised, race, unfenced: with an access by a thread. operation: with an earlier operation of the
    // async proxy that the warp does not know to have ended.
    enum class Kind : uint8_t { none, uninitialised, race, unfenced, operation } kind = Kind::none;
    uint32_t offset = 0;
    uint32_t lane = 0;             // of the access that is checked
    SharedShadow::Access other{};  // race, unfenced
    Operation earlier{};           // operation
  };

  void reset(uint32_t bytes, uint32_t warps);  // a new CTA
  bool any() const { return any_; }            // has there been an operation?

  // This lane of the warp (all_lanes: the whole warp) issues an operation. Its accesses follow, in as many
  // calls as are needed: `count` times `bytes` bytes, as in SharedShadow::async_access(). An operation that
  // reads and writes the same bytes counts as one that writes.
  Id begin(uint32_t warp, uint32_t lane, uint32_t pc, bool write);
  Problem access(SharedShadow& shadow, Id id, uint32_t warp, const uint32_t* offset, uint32_t count,
                 uint32_t bytes);
  // The warp has waited for it. Of warps that issue an operation together each may wait for all.
  void seen(SharedShadow& shadow, Id id, uint32_t warp);

  bool knows(Id id) const { return find(id) != nullptr; }  // can it still matter?

  // Threads access `bytes` bytes each, at most 16 and aligned to as many.
  Problem meet(const SharedShadow& shadow, uint32_t warp, const uint32_t offset[32], uint32_t lanes,
               bool write) const;

 private:
  struct Entry {
    Operation operation;
    uint32_t generation = 1;
    uint32_t chunks = 0;  // that still name it
    bool ended = false;   // a wait for it has returned
  };
  static constexpr uint32_t chunk_bytes = 16;
  static constexpr uint32_t group_warps = 4;  // a warpgroup

  const Entry* find(Id id) const;
  bool over(const SharedShadow& shadow, uint32_t warp, uint32_t index) const;
  void put(uint32_t& place, uint32_t index);
  void free_if_unused(uint32_t index);
  uint32_t group_of(uint32_t warp) const { return warp % warps_ / group_warps; }
  uint32_t* readers_of(uint32_t group) { return reads_.data() + size_t{group} * chunks_; }

  bool any_ = false;
  uint32_t chunks_ = 0, warps_ = 1, groups_ = 1;
  std::vector<Entry> entries_;    // from 1 on
  std::vector<uint32_t> free_;    // of entries_
  std::vector<uint32_t> writes_;  // per chunk: the last operation that writes it
  std::vector<uint32_t> reads_;   // per warpgroup and chunk: the last one since then that reads it
};

}  // namespace simulator
