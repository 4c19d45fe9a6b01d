// What memory instructions have in common: state space, memory order, cache hints, the address operand.
#pragma once

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/decoder.h"

namespace simulator {

void memory_space(Decoder& decoder, AddressUse& use);  // .global, .shared::cta …; none: generic
void memory_order(Decoder& decoder, AddressUse& use);  // .volatile, .relaxed.gpu …
void cache_operators(Decoder& decoder);  // .ca .cg .L1::no_allocate .L2::128B …: hints, without effect

// Sets inst().a, imm, bytes and data (an AddressUse, which it returns), and memory(). bytes: per lane.
AddressUse memory_address(Decoder& decoder, const ptx::Operand& address, AddressUse use, uint32_t bytes);

}  // namespace simulator
