// wgmma.mma_async: a warpgroup, four warps, multiplies matrices of which B, and A too or not, lie in shared
// memory (PTX ISA 9.7.15).
//
// A product takes effect as late as a program may rely on: when the first warp of the warpgroup waits for its
// group, or, with a seed, at a random moment after all four have issued it. Until then the accumulators hold
// what they held and shared memory is not read. The checks go by the waits alone: a register that an
// operation uses must not be touched before its own warp has waited, landed or not; for shared memory see
// checks/async_accesses.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/simulator/checks/async_accesses.h"
#include "common/simulator/machine/unit_state.h"
#include "common/simulator/program/program.h"
#include "common/simulator/units/places.h"

namespace simulator {

constexpr uint32_t warpgroup_warps = 4;

struct Frame;

// One wgmma.mma_async.
struct WgmmaOperation {
  const Inst* inst = nullptr;
  uint32_t pc = 0;          // in the kernel's counters
  uint64_t matrix[2] = {};  // descriptors of A (where it is in shared memory) and B
  bool accumulate = false;  // scale-d
  uint32_t issued = 0;      // a bit per warp of the warpgroup
  // Of each warp: where its registers are. Null: they cannot be read any more.
  std::array<std::byte*, warpgroup_warps> registers{};
  std::array<const Frame*, warpgroup_warps> frame{};
  std::array<std::array<uint32_t, 32>, warpgroup_warps> metadata{};  // by warp and lane: of a sparse A
  std::vector<uint32_t> chunks[2];  // of 16 bytes: addresses in the cluster's shared memory, of A and of B
  AsyncAccesses::Id id = 0;
};

// They are numbered as they are issued, from 0, and take effect in that order.
struct Warpgroup {
  std::deque<WgmmaOperation> operations;  // that some warp has yet to wait for
  uint64_t first = 0;                     // number of the first of them
  uint64_t landed = 0;                    // how many have taken effect
};

// Those of a CTA.
struct Warpgroups final : UnitState {
  static constexpr auto place = InCta::warpgroups;
  std::vector<Warpgroup> all;
};

// A warp's own side.
struct WgmmaQueue final : UnitState {
  static constexpr auto place = InWarp::wgmma;
  uint64_t issued = 0, waited = 0;  // operations
  std::deque<uint64_t> groups;      // committed and not waited for: `issued` at the end of each
  uint32_t fences = 0;              // wgmma.fence
};

// How a register of an activation is used that some wgmma of the function names.
struct WgmmaRegister {
  uint64_t operation = 0;      // number of the last one that uses it, + 1; 0: none
  const Inst* inst = nullptr;  // that one
  bool factor = false;         // as A
  uint32_t touched = 0;        // by another instruction, after this many wgmma.fence: their number + 1
};
struct WgmmaRegisters final : UnitState {
  static constexpr auto place = InFrame::wgmma;
  std::vector<WgmmaRegister> at;  // by offset / 64, where they are watched
};

}  // namespace simulator
