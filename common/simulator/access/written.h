// Was what is read ever written? A flag per byte; what a GPU would not take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/simulator/access/names.h"
#include "common/simulator/access/resolved.h"

namespace simulator {

std::string hexadecimal(uint64_t value);
[[noreturn]] void misaligned(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address);

// Is there a value of which no byte that is looked at was ever written? Where only some bytes of it were,
// it is a struct that is copied as a whole: the others are its padding.
bool reads_unwritten(const uint8_t* flags, uint32_t bytes, const AddressUse& use);
void never_written(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                   const std::string& where);

// The top bit: is offset > limit? (limit < 2^63.) Unlike a comparison of unsigned numbers, this vectorises.
inline uint64_t beyond(uint64_t offset, uint64_t limit) {
  return offset | (limit - offset);
}

}  // namespace simulator
