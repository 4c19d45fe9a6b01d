// tcgen05.cp and .shift (PTX ISA 9.7.16.9): one thread has rows of 16 or 32 bytes copied from shared memory
// to lanes of tensor memory, or moved there by a lane.
//
// The ISA's text leaves to figures where rows go; this is what a public template library makes of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simulator {

class Decoder;

// 16 elements of 4 or 6 bits, one after the other (16 bytes are read), each into a byte of its own: e2m1 into
// bits 2 to 5, types of 6 bits into the lowest ones, as in the operands of mma.
void decompress(uint32_t bits, const std::byte* from, std::byte* to);

void decode_tensor_copy(Decoder& decoder);
void decode_tensor_shift(Decoder& decoder);

}  // namespace simulator
