// How programs find functions of the driver by name, and the message for those that run on CUDA's own
// runtime.
#pragma once

#include <span>

namespace simulator {

// The names that CUDA has had since a version (12000 is 12.0), with spaces between them; ascending.
// cuMemAlloc_v2 is what cuMemAlloc means from then on.
struct Names {
  int since;
  const char* names;
};
std::span<const Names> driver_names();

enum class Found { yes, too_new, no };

// The function that this name means in this version of CUDA, as this library exports it. per_thread: the
// variant for programs whose default stream is each thread's own. too_new: later versions have it.
Found find_driver_function(const char* name, int version, bool per_thread, void*& function);

// A program requests the tables that only CUDA's own runtime gets from the driver. address: in its code.
void report_static_runtime(const void* address);

}  // namespace simulator
