// From a launch call to launch/launch.h's run().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/context/registration.h"
#include "common/simulator/launch/launch.h"
#include "common/simulator/program/kernel.h"

namespace simulator {

struct LaunchRequest {
  dim3 grid, block;
  size_t dynamic_shared = 0;  // bytes
  std::optional<std::array<uint32_t, 3>> cluster;
  bool cooperative = false;
  std::optional<cudaAccessPolicyWindow> window;
};

// A launch with its arguments copied: can be run any number of times.
struct PreparedLaunch {
  const Kernel* kernel = nullptr;
  Launch launch;
  std::vector<std::byte> params;
};

// Loads the kernel and checks what the device would refuse. arguments: one pointer per parameter.
cudaError_t prepare(Function& function, LaunchRequest request, void** arguments, PreparedLaunch& prepared);

// Runs it, unless the context is broken. A fault in the kernel is left pending: the result is cudaSuccess
// then.
cudaError_t execute(const PreparedLaunch& prepared);

// Has any kernel that calls printf, or malloc, been run? Then the sizes of their buffers can no longer be
// chosen.
struct BuffersInUse {
  bool printf = false, heap = false;
};
BuffersInUse& buffers_in_use();

cudaError_t error_of(FindingKind kind);

// What a launch with these attributes requests. cudaErrorInvalidValue / cudaErrorNotSupported: not an
// attribute, or none that is supported.
struct LaunchEvents {
  cudaEvent_t recorded[2] = {};  // programmatic and launch-completion events
};
cudaError_t read_attributes(const cudaLaunchConfig_t& config, LaunchRequest& request, LaunchEvents& events);

}  // namespace simulator
