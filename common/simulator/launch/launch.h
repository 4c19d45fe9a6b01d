// Launches.
#pragma once

#include <cstddef>
#include <optional>

#include "common/simulator/checks/finding.h"
#include "common/simulator/program/kernel.h"

namespace simulator {

// Runs the kernel to its end. params: info().params_bytes bytes. Limits are checked by the caller. Returns
// what ended the launch early, already reported on stderr; else nothing.
std::optional<Finding> run(const Kernel& kernel, const Launch& launch, const std::byte* params);

}  // namespace simulator
