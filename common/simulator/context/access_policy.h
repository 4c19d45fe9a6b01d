// Windows of memory whose lines L2 keeps, or not. They change no result, so only what a program may read back
// is kept of them. (CUDA C++ Programming Guide, "L2 Policy for Persisting Accesses".)
#pragma once

#include "common/simulator/context/cuda_api.h"

namespace simulator {

// cudaErrorInvalidValue: larger than the device's windows, a ratio outside 0 to 1, or lines that miss and are
// to persist.
cudaError_t check_window(const cudaAccessPolicyWindow& window);

}  // namespace simulator
