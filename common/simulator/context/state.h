// What all calls share: errors, and the frame that every call runs in.
//
// A kernel that faults leaves a pending error: the launch itself has succeeded. The next call that waits for
// the device turns it into the context's error, which every later call returns until cudaDeviceReset(), as on
// a GPU.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/context/current.h"

namespace simulator {

// One line on stderr, "simulator: …".
void say(const std::string& line);

// ---- Errors
void set_last_error(cudaError_t error);     // of this thread; cudaSuccess changes nothing
void set_pending_error(cudaError_t error);  // from a kernel: the first one counts
bool context_is_broken();                   // an error is pending or known: nothing is executed any more
cudaError_t context_error();                // the one that is known
cudaError_t synchronise();   // waits (nothing to do): makes the pending one known and returns it
void clear_context_error();  // cudaDeviceReset()

// The error for the exception being handled; prints its message.
cudaError_t error_of_exception() noexcept;
// Reads the settings. Not cudaSuccess: they are wrong (reported once).
cudaError_t initialise();
bool is_initialised();  // has it been called?

// Serialises everything that touches the runtime's own tables.
std::recursive_mutex& runtime_mutex();

// ---- Frames of calls

// A call that needs no working context, such as a query of the device.
template <class F>
cudaError_t query(F&& body) noexcept {
  cudaError_t error = cudaErrorUnknown;
  try {
    error = initialise();
    if (error == cudaSuccess) {
      std::lock_guard lock(runtime_mutex());
      error = std::forward<F>(body)();
    }
  } catch (...) {
    error = error_of_exception();
  }
  set_last_error(error);
  return error;
}

// Any other call.
template <class F>
cudaError_t call(F&& body) noexcept {
  return query([&] {
    use_a_context();
    if (const cudaError_t error = context_error(); error != cudaSuccess) return error;
    return std::forward<F>(body)();
  });
}

// A call that waits for the device: before its work, so that a fault of an earlier kernel comes from here.
template <class F>
cudaError_t synchronous_call(F&& body) noexcept {
  return query([&] {
    use_a_context();
    if (const cudaError_t error = synchronise(); error != cudaSuccess) return error;
    return std::forward<F>(body)();
  });
}

}  // namespace simulator
