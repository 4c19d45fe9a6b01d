// Decode functions on f32 and f64 that more than one file uses.
#pragma once

#include "common/simulator/decode/decoder.h"
#include "common/simulator/numeric/rounding.h"

namespace simulator {

void floating_min_max(Decoder& decoder);                  // min_max.cc: min and max
void ieee_rcp_sqrt(Decoder& decoder, Rounding rounding);  // floating.cc: with a rounding modifier

}  // namespace simulator
