// One pass over the data: each bf16 number becomes half of it, where it stands.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ladder::memory {

// `vectors`: as many units of 16 bytes as `count` says, in memory of any kind that the device reaches.
cudaError_t launch_pass(void* vectors, std::size_t count, cudaStream_t stream);

}  // namespace ladder::memory
