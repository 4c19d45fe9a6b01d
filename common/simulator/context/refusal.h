// For functions that are not supported. Includes nothing of CUDA's: its declarations would clash with
// unsupported.cc.
#pragma once

namespace simulator {

// Names the function on stderr, the first time. Returns cudaErrorNotSupported, which is the last error from
// then on.
int refuse_call(const char* name) noexcept;
// A function of the driver's, which has no last error: CUDA_ERROR_NOT_SUPPORTED, the same number.
int refuse_driver_call(const char* name) noexcept;

}  // namespace simulator
