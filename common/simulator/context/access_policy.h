// Windows of memory whose lines L2 keeps, or not. They change no result, so nothing is kept of them but what
// a program may ask for again. (CUDA C++ Programming Guide, "L2 Policy for Persisting Accesses".)
#pragma once

#include "common/simulator/context/cuda_api.h"

namespace simulator {

// cudaErrorInvalidValue: larger than the device's windows, a ratio that is none, or lines that miss and are
// to persist all the same.
cudaError_t check_window(const cudaAccessPolicyWindow& window);

}  // namespace simulator
