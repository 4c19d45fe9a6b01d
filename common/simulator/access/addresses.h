// From the addresses of a memory instruction to bytes of this process: bounds, alignment, windows of the
// generic space. One space each: global_addresses.h, shared_addresses.h, local_addresses.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/simulator/access/address_use.h"
#include "common/simulator/access/global_addresses.h"
#include "common/simulator/access/shared_addresses.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

// A strong load, or an atomic operation that changed nothing: the second in a row from one instruction, with
// no write of this warp's in between, is taken for a wait in a loop, and the others get their turn.
void polled(Warp& warp);

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
// For built-in functions, and for tensor maps: generic addresses of one lane.
void read_memory(Warp& warp, int lane, uint64_t generic_address, void* to, uint64_t bytes);
std::string read_string(Warp& warp, int lane, uint64_t generic_address);

}  // namespace simulator
