// How a memory instruction was written.
#pragma once

#include <cstdint>

#include "common/simulator/machine/warp.h"
#include "common/simulator/program/carried.h"
#include "common/simulator/ptx/module.h"

namespace simulator {

enum class AccessKind : uint8_t { load, store, atomic };

// How a memory instruction was written (Inst::data).
struct AddressUse {
  ptx::Space space = ptx::Space::global;  // constant counts as global
  bool generic = false;
  bool base_is_64 = true;  // width of the base register Inst::a; Inst::imm is added
  bool in_frame = false;   // local: relative to the activation's local memory
  bool cluster = false;    // if it is shared memory: of any CTA of the cluster
  bool strong = false;     // volatile, relaxed, acquire, …: does not race with its like
  AccessKind kind = AccessKind::load;
  bool overwrites = false;      // atomic: what it finds does not matter
  bool finds_anything = false;  // atomic: what it finds need not have been written
  bool ahead = false;           // a speculative load, which counts for the lanes whose predicate register
  bool choice_when = false;     // `choice` has this value
  uint32_t choice = 0;
  uint8_t element = 0;                // bytes of one value of a vector; 0: as many as all
  uint32_t used = ~0u;                // loads: a bit per byte, 0: it is not used
  Carried::Load carried;              // loads: what is only carried elsewhere
  const CarriedByte* from = nullptr;  // stores: of each byte, what is carried here; null: nothing is
  bool counted = true;                // false: a copy's, which is counted with both its sides
  bool rows_of_matrices = false;      // ldmatrix: eight lanes, a matrix, are always served together
};

// The lanes whose access counts: not those for which a load is only speculative.
inline uint32_t lanes_that_count(const Warp& warp, const AddressUse& use) {
  if (!use.ahead) return warp.exec;
  const uint32_t bits = warp.pred(use.choice);
  return warp.exec & (use.choice_when ? bits : ~bits);
}

}  // namespace simulator
