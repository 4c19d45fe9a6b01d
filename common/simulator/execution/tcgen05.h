// What the instructions of tcgen05 have in common.
#pragma once

#include <cstdint>

namespace simulator {

class Decoder;
class Warp;

// .cta_group::1 or ::2, which is the same in all of a kernel.
uint32_t tensor_cta_group(Decoder& decoder);

// Tells where more than one thread of the warp executes the present instruction: mma, commit, cp, shift.
void check_single_thread(Warp& warp, const char* name);

}  // namespace simulator
