// mbarriers by the names that the program has for them.
#pragma once

#include <cstdint>
#include <string>

#include "common/simulator/machine/machine.h"

namespace simulator {

// "shared.empty[2] (0x38430)"; where the name is not certain "at 0x38430 (mbarrier 3 of 4 initialised at
// gemm.cu:88)". For what is no mbarrier, too: "at 0x38430". After "the mbarrier ".
std::string name_of_mbarrier(const Cta& cta, uint32_t address);

}  // namespace simulator
