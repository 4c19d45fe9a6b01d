// tcgen05.cp and .shift (PTX ISA 9.7.16.9): one thread has rows of 16 or 32 bytes copied from shared memory
// to lanes of tensor memory, or moved there by a lane.
//
// The ISA's text leaves to figures where rows go; this is what a public template library makes of it.
#pragma once

namespace simulator {

class Decoder;

void decode_tcgen05_copy(Decoder& decoder);
void decode_tcgen05_shift(Decoder& decoder);

}  // namespace simulator
