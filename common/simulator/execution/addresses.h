// From the addresses of a memory instruction to bytes of this process: bounds, alignment, windows of the
// generic space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simulator/execution/machine.h"

namespace simulator {

enum class AccessKind : uint8_t { load, store, atomic };

// How a memory instruction was written (Inst::data).
struct AddressUse {
  ptx::Space space = ptx::Space::global;  // constant counts as global
  bool generic = false;
  bool base_is_64 = true;  // width of the base register Inst::a; Inst::imm is added
  bool in_frame = false;   // local: relative to the activation's local memory
  bool cluster = false;    // shared memory, if it is that: of any CTA of the cluster
  bool strong = false;     // volatile, relaxed, acquire, …: does not race with its like
  AccessKind kind = AccessKind::load;
  bool overwrites = false;  // atomic: what it finds does not matter
  bool ahead = false;       // a load made before it is known who wants it: the lanes whose predicate register
  bool choice_when = false;  // `choice` has this value
  uint32_t choice = 0;
  uint8_t element = 0;            // bytes of one value of a vector; 0: as many as all
  uint32_t used = ~0u;            // loads: a bit per byte, 0: nobody looks at it
  bool counted = true;            // false: a copy's, which is counted with both its sides
  bool rows_of_matrices = false;  // ldmatrix: eight lanes, a matrix, are always served together
};

// The lanes whose access counts: not those for which a load was only made ahead of time.
inline uint32_t lanes_that_count(const Warp& warp, const AddressUse& use) {
  if (!use.ahead) return warp.exec;
  const uint32_t bits = warp.pred(use.choice);
  return warp.exec & (use.choice_when ? bits : ~bits);
}

struct Resolved {
  std::byte* at[32];     // of lanes outside exec: some address that may be read
  uint64_t address[32];  // of the active lanes, as the space counts
  bool shared = false;   // all lanes are in shared memory: address is the offset in the CTA's
  Cta* holder[32];       // … which is this CTA
  uint8_t* written[32];  // global: a byte per byte, to be set by stores; null: not kept
  bool track = false;    // some `written` is not null
};

// What the instruction that the warp executes has cost so far.
Counts& counts_of(Warp& warp);

// Works out where inst.bytes bytes per lane are, counts, and checks: faults where a GPU faults. Loads and
// atomics are checked for memory never written.
void resolve(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to);
// Its two halves: to.address as the operand says; the rest, from what is in to.address.
void named_addresses(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to);
void resolve_addresses(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to);
// After the store values are known: bytes written, races. values: lane l's at values + l · inst.bytes.
// changed: not all of them were there before. same: they were, which makes no race with another write.
void stored(Warp& warp, const Inst& inst, const AddressUse& use, const Resolved& at, const std::byte* values,
            bool changed = true, bool same = false);
// A strong load, or an atomic operation that changed nothing: the second in a row from one instruction, with
// no write of this warp's in between, is taken for a wait in a loop, and the others get their turn.
void polled(Warp& warp);

// For bulk copies: where these bytes of global memory are, and whether they were written (as
// Resolved::written). Faults where they are not in one allocation; loads and atomics are checked for elements
// never written.
std::byte* global_range(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                        uint32_t element, uint8_t*& written);
// Faults where these bytes are not in the CTA's shared memory.
void shared_range(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address);

// For built-in functions, and for tensor maps: generic addresses of one lane.
void read_memory(Warp& warp, int lane, uint64_t generic_address, void* to, uint64_t bytes);
std::string read_string(Warp& warp, int lane, uint64_t generic_address);

}  // namespace simulator
