// tcgen05.ld, .st and .wait (PTX ISA 9.7.16.8): a warp moves words between its registers and the 32 lanes of
// tensor memory that it may access.
//
// They take effect when the warp waits for them, or, with a seed, at a random moment before that. Until then
// the registers of a tcgen05.ld hold what they held. An instruction that uses one of them gets what was
// loaded all the same ("an intra-thread ordering through true register dependency will be respected",
// 9.7.16.6.4.5), and there are kernels that make do with that. `strict` counts on tcgen05.wait only: such a
// use is a finding, except in a move, since compilers place moves freely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simulator/machine/unit_state.h"
#include "common/simulator/units/places.h"
#include "common/simulator/units/tcgen05_accesses.h"

namespace simulator {

struct Frame;
struct Inst;

// One tcgen05.ld or .st that has not taken effect.
struct Tcgen05Transfer {
  const Inst* inst = nullptr;
  uint32_t lane = 0, column = 0;   // of the first word
  std::byte* registers = nullptr;  // ld; null: they cannot be read any more
  const Frame* frame = nullptr;    // ld
  Tcgen05Accesses::Id id = 0;      // to the checks
  uint64_t number = 0;             // ld: among those of the warp, from 1 on
  std::vector<uint32_t> values;    // st: by register, then by lane of the warp
};

// Those of a warp.
struct Tcgen05Transfers final : UnitState {
  static constexpr auto place = InWarp::tcgen05_transfers;
  std::vector<Tcgen05Transfer> pending;
  uint64_t loads = 0, waited = 0;  // tcgen05.ld, in all
};

// How a register of an activation is used that some tcgen05.ld of the function names.
struct Tcgen05Register {
  uint64_t load = 0;  // number of the last one that writes it; 0: none
  uint32_t pc = 0;    // of that, in the kernel's counters
  Tcgen05Accesses::Id id = 0;
};
struct Tcgen05Registers final : UnitState {
  static constexpr auto place = InFrame::tcgen05_transfers;
  std::vector<Tcgen05Register> at;  // by offset / 64, where they are watched
};

}  // namespace simulator
