// Was what is read ever written? There is a flag per byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/simulator/access/names.h"
#include "common/simulator/access/resolved.h"

namespace simulator {

std::string hexadecimal(uint64_t value);
[[noreturn]] void misaligned(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                             const char* memory);  // "global memory"

bool all_written(const uint8_t* flags, uint32_t bytes);

// What a lane loads that was never written, noted for the stores to come.
void note_unwritten(Warp& warp, int lane, uint32_t bytes);
void forget_unwritten(Warp& warp);  // of the load that is about to run

// Is there a value none of whose used bytes was ever written? Where only some bytes of it were, it is a
// struct that is copied as a whole: the others are its padding. So is a whole value, if it is only carried
// elsewhere and some bytes of what is loaded with it were written: it stays never written there. written(i):
// was the byte at the address + i?
template <class Written>
bool reads_unwritten(Warp& warp, int lane, uint32_t bytes, const AddressUse& use, Written written) {
  const uint32_t element = use.element ? use.element : bytes;
  uint32_t carried = 0;
  for (uint32_t begin = 0; begin < bytes; begin += element) {
    uint32_t looked_at = 0, missing = 0;
    for (uint32_t at = begin; at < begin + element; ++at) {
      if (!(use.used >> at & 1)) continue;
      looked_at |= 1u << at;
      if (!written(static_cast<int32_t>(at))) missing |= 1u << at;
    }
    if (!missing) continue;
    bool in_struct = false;
    if ((missing & ~use.carried.bytes) == 0) {
      for (int32_t at = use.carried.begin; at < use.carried.end && !in_struct; ++at) in_struct = written(at);
    }
    if (in_struct) {
      carried |= missing;
    } else if (missing == looked_at) {
      return true;
    }
  }
  if (carried) note_unwritten(warp, lane, carried);
  return false;
}

void never_written(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                   const std::string& where);

// The top bit: is offset > limit? (limit < 2^63.) Unlike a comparison of unsigned numbers, this vectorises.
inline uint64_t beyond(uint64_t offset, uint64_t limit) {
  return offset | (limit - offset);
}

}  // namespace simulator
