// The conversions of kernels' inner loops, with a handler each.
#pragma once

#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/scalar/convert_general.h"

namespace simulator::conversion {

Handler fast_conversion(const Plan& plan);  // null: there is none
Handler fast_pair(Kind to);                 // two f32 to f16x2 or bf16x2, to nearest
Handler fast_copy(int from, int to);        // no change but of the register's width, in bits

}  // namespace simulator::conversion
