// The instructions of tcgen05 on tensor memory: all but mma and commit.
#pragma once

namespace simulator {

class Decoder;

void decode_tcgen05_memory(Decoder& decoder);

}  // namespace simulator
