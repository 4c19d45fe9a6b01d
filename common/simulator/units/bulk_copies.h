// Bulk copies (PTX ISA 9.7.9.25.4 and 9.7.9.25.5): the copies that the async proxy makes on behalf of one
// thread, of bytes or of boxes of a tensor.
//
// Like cp.async (async_copies.h) they take effect as late as a program may rely on: a copy to shared memory
// when a warp finds the phase of the mbarrier that counts it not yet complete; one from shared memory reads
// it when its thread waits for its group, and writes global memory when that thread waits for more than the
// reading. With a seed all of it happens at random moments before that. For the checks they are in flight
// until they have been waited for, whether they have taken effect or not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simulator/checks/async_accesses.h"
#include "common/simulator/machine/unit_state.h"
#include "common/simulator/units/places.h"
#include "common/simulator/units/tma_map.h"

namespace simulator {

struct Cta;
class Warp;

// to[i] = to[i] op from[i], on elements of some type.
using Reduction = void (*)(std::byte* to, const std::byte* from, uint32_t bytes);

// What lies side by side in global memory, and in shared memory but for swizzling.
struct BulkPiece {
  std::byte* global = nullptr;  // null: outside of the tensor
  uint8_t* written = nullptr;   // a byte per byte of it; null: not kept
  uint32_t offset = 0;          // in shared memory, from the copy's first byte
  uint32_t bytes = 0;
};

constexpr uint16_t all_bytes = 0xffff;

struct BulkCopy {
  enum class Kind : uint8_t {
    load,      // global to shared memory
    store,     // shared to global memory
    send,      // shared memory to that of another CTA
    response,  // what is in flight, to shared memory
  };
  enum class State : uint8_t {
    issued,  // nothing has happened yet
    read,    // store: shared memory has been read
    done,
  };
  Kind kind = Kind::load;
  State state = State::issued;
  bool seen = false;  // a wait for it has returned; store: until shared memory was read
  AsyncAccesses::Id access = 0, source_access = 0;  // to the checks: of `shared`, of `source`

  Warp* warp = nullptr;  // of the thread that issued it
  uint32_t lane = 0;
  uint32_t pc = 0;      // of the instruction, in the kernel's counters
  uint64_t issued = 0;  // by the warp's clock (counters/trace.h), where it is traced

  Cta* cta = nullptr;   // whose shared memory `shared` is an address in
  uint32_t shared = 0;  // load, send: where to; store: where from
  uint32_t extent = 0;  // bytes of shared memory from there
  uint32_t bytes = 0;   // that it moves
  uint32_t source = 0;  // send: the address in the thread's own CTA
  Swizzle swizzle = Swizzle::none;
  std::vector<BulkPiece> pieces;     // load, store
  uint16_t byte_mask = all_bytes;    // store: which of every 16 bytes are written
  std::vector<std::byte> in_flight;  // store: what has been read; response: what is to be written
  bool refused = false;              // response: of clusterlaunchcontrol.try_cancel that has failed
  Reduction reduction = nullptr;     // null: to = from
  TmaType type = TmaType::u8;        // load of a box
  bool fill_nan = false;

  uint32_t group = 0;       // store: of its thread's groups
  Cta* counting = nullptr;  // load, send, response: where the mbarrier is: `cta`, or
  bool pairs = false;       // .cta_group::2: perhaps its peer, whose rank differs in bit 0
  uint32_t mbarrier = 0;    // address in that CTA
  uint64_t phase = 0;       // of the mbarrier, when the copy was done
};

// Those that concern the shared memory of a CTA, in the order of issue.
struct BulkCopies final : UnitState {
  static constexpr auto place = InCta::bulk_copies;
  std::deque<BulkCopy> arriving;  // that an mbarrier here counts; until the phase after theirs is complete
  std::deque<BulkCopy> leaving;   // store: from here
  std::map<uint64_t, uint64_t>
      acquired_maps;  // tensor maps: ChangedMap::changes when it was last acquired here

  bool launches_over = false;  // has seen that no further cluster can be canceled

  bool empty() const { return arriving.empty() && leaving.empty(); }
};

// A tensor map in global memory that a kernel has changed.
struct ChangedMap {
  uint64_t changes = 0;   // how often
  bool released = false;  // a fence of its proxy followed the last time
  uint64_t cta = 0;       // that changed it then
  std::string source;     // where
};

// Those of a launch, by address. Grid::mutex guards them.
struct ChangedMaps final : UnitState {
  static constexpr auto place = InGrid::bulk_copies;
  std::map<uint64_t, ChangedMap> at;
};

struct BulkGroups final : UnitState {
  static constexpr auto place = InWarp::bulk_copies;
  std::array<uint32_t, 32> committed{};  // of each lane
};

}  // namespace simulator
