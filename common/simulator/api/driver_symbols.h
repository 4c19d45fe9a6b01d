// How programs find functions of the driver by name, and what is said of those that run on CUDA's own
// runtime.
#pragma once

namespace simulator {

// A function of the driver that this library exports, with or without the suffix of its version; null: none.
void* driver_function(const char* name);

// A program asks for the tables that the driver shares with CUDA's own runtime only. address: in its code.
void tell_static_runtime(const void* address);

}  // namespace simulator
