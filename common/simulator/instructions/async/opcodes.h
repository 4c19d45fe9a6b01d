// The tables of opcodes of this folder: what ends later than it is issued.
#pragma once

#include <span>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

std::span<const Opcode> async_copy_opcodes();  // async_copy.cc: cp
std::span<const Opcode> tma_map_opcodes();     // tma_map_instruction.cc: tensormap

void decode_async_store(Decoder& decoder);  // async_store.cc: st.async red.async
void decode_bulk_store(Decoder& decoder);   // bulk_store.cc: st.bulk
void decode_bulk_copy(Decoder& decoder);    // bulk_instruction.cc: cp with .bulk

// What the scheduler knows of them (machine/unit.h).
Unit& async_copy_unit();   // async_copy.cc
Unit& bulk_copy_unit();    // bulk_copy.cc
Unit& async_store_unit();  // async_store.cc

}  // namespace simulator
