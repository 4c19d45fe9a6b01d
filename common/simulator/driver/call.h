// The driver's declarations, each version of a function by its own name, and the frame that its calls run in.
#pragma once

// cuda.h calls the newest version by the function's plain name, unless:
#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier): NVIDIA's name
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include <mutex>
#include <string>
#include <utility>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/context/current.h"
#include "common/simulator/context/state.h"

namespace simulator {

// The runtime's error codes have the driver's numbers, but for those that only the runtime has.
CUresult result_of(cudaError_t error);

// A driver's call is a runtime's call, but it leaves this thread's last error and its context as they were.
class Unseen {
 public:
  Unseen() : error_(cudaPeekAtLastError()), context_(current_context()) {}
  ~Unseen() {
    cudaGetLastError();
    set_last_error(error_);
    if (context_ == nullptr) set_current(nullptr);
  }
  Unseen(const Unseen&) = delete;

 private:
  cudaError_t error_;
  Context* context_;
};

// body: calls the runtime, and returns its code. Here one that needs cuInit() to have been called.
template <class F>
CUresult driver_query(F&& body) noexcept {
  if (!is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  const Unseen unseen;
  return result_of(std::forward<F>(body)());
}

// And a current context.
template <class F>
CUresult driver_call(F&& body) noexcept {
  if (!is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Unseen unseen;
  return result_of(std::forward<F>(body)());
}

// As above, with a result of the driver's own. Takes the lock of the runtime's tables.
template <class F>
CUresult driver_result(F&& body) noexcept {
  if (!is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  try {
    const std::lock_guard lock(runtime_mutex());
    return std::forward<F>(body)();
  } catch (...) {
    return result_of(error_of_exception());
  }
}

// One line on stderr; CUDA_ERROR_NOT_SUPPORTED.
CUresult not_supported(const std::string& what);

// The driver has addresses as integers.
inline void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}
inline void** pointers(CUdeviceptr* addresses) {
  return reinterpret_cast<void**>(addresses);
}

}  // namespace simulator
