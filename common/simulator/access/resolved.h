// Where the lanes of a memory instruction access memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simulator/access/address_use.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

struct Resolved {
  std::byte* at[32];     // of lanes outside exec: some address that may be read
  uint64_t address[32];  // of the active lanes, as the space counts
  bool shared = false;   // all lanes are in shared memory: address is the offset in the CTA's
  bool local = false;    // all lanes are in local memory: no other thread sees it
  Cta* holder[32];       // … which is this CTA
  uint8_t* written[32];  // global: a byte per byte, to be set by stores; null: not kept
  bool track = false;    // some `written` is not null
};

// The counts so far of the instruction that the warp executes.
inline Counts& counts_of(Warp& warp) {
  return warp.worker->counts[warp.frame->program->first + warp.pc - 1];
}

}  // namespace simulator
