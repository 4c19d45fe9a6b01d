// Where the program runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/rung.h"

namespace ladder {

struct System {
  std::string device, driver, cuda, cublas, revision;
  std::string checks;                          // only the simulator has them, see device.h
  std::optional<std::uint64_t> schedule_seed;  // only on the simulator
  int major = 0, minor = 0;                    // compute capability
  std::uint64_t l2_bytes = 0;
};

// The current device. Throws Failure(Exit::cannot_run) where there is no usable GPU, and what platform()
// throws.
System this_system();

// Throws Failure(Exit::cannot_run) with the reason unless the system's GPU can run code for `needs`.
void require(const System& system, const ComputeCapability& needs);

std::string cuda_version_text(int version);  // 13000 → "13.0"

// Bytes of device memory still free. Throws like this_system().
std::uint64_t free_device_bytes();

// Bytes of host memory that can still be had without swapping; the most there can be where the system does
// not say.
std::uint64_t free_host_bytes();

// "GPU memory exhausted: …", naming both figures, when `needed` bytes are more than `available`; else empty.
std::string memory_shortage(const char* whose, double needed, std::uint64_t available);

}  // namespace ladder
