// How programs find functions of the driver by name, and the message for those that run on CUDA's own
// runtime.
#pragma once

namespace simulator {

// A function of the driver that this library exports, with or without the suffix of its version; null: none.
void* driver_function(const char* name);

// A program requests the tables that only CUDA's own runtime gets from the driver. address: in its code.
void report_static_runtime(const void* address);

}  // namespace simulator
