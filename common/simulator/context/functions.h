// Attributes of kernels, and those set with cudaFuncSetAttribute. Called with runtime_mutex() held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simulator/context/registration.h"

namespace simulator {

// Bytes of dynamic shared memory that a launch may request. The function must be loaded.
size_t max_dynamic_shared(const Function& function);
// Blocks that fit on a multiprocessor. The function must be loaded.
int occupancy(const Function& function, uint32_t threads, size_t dynamic_shared);

// The function behind a host symbol or handle, loaded.
cudaError_t loaded_function(const void* func, Function*& function);

}  // namespace simulator
