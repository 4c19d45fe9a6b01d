// A matrix as it was copied back from the device.
#pragma once

#include <cuda_bf16.h>

#include <vector>

namespace ladder {

using HostMatrix = std::vector<__nv_bfloat16>;  // row-major

}  // namespace ladder
