// Options of the driver's compiler. PTX is executed as it is: there is nothing to choose, and nothing to log.
#pragma once

#include "common/simulator/driver/call.h"

namespace simulator {

// The logs become empty, the compile time 0: a program prints what it finds there.
void clear_logs(const CUjit_option* options, void** values, unsigned count);

}  // namespace simulator
