// tcgen05.alloc, .dealloc, .relinquish_alloc_permit (units/tcgen05_allocator.h).
#pragma once

namespace simulator {

class Decoder;

void decode_tcgen05_allocation(Decoder& decoder);

}  // namespace simulator
