#include "common/simulator/context/state.h"

#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <set>
#include <stdexcept>

#include "common/simulator/context/refusal.h"
#include "common/simulator/image/fatbin.h"
#include "common/simulator/ptx/module.h"
#include "common/simulator/settings/device.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

std::atomic<cudaError_t> pending{cudaSuccess}, known{cudaSuccess};
thread_local cudaError_t last = cudaSuccess;
std::atomic<bool> initialised{false};

}  // namespace

void say(const std::string& line) {
  std::fprintf(stderr, "simulator: %s\n", line.c_str());
}

void set_last_error(cudaError_t error) {
  if (error != cudaSuccess) last = error;
}

void set_pending_error(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  pending.compare_exchange_strong(none, error);
}

bool context_is_broken() {
  return pending != cudaSuccess || known != cudaSuccess;
}

cudaError_t context_error() {
  return known;
}

cudaError_t synchronise() {
  const cudaError_t error = pending;
  if (error != cudaSuccess) known = error;
  return known;
}

void clear_context_error() {
  pending = cudaSuccess;
  known = cudaSuccess;
}

cudaError_t error_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const FatbinError& error) {
    say(error.what());
    return cudaErrorInvalidKernelImage;
  } catch (const ptx::SyntaxError& error) {
    say(std::string("the embedded PTX cannot be read: ") + error.what());
    return cudaErrorInvalidPtx;
  } catch (const std::exception& error) {
    say(error.what());
    return cudaErrorUnknown;
  } catch (...) {
    return cudaErrorUnknown;
  }
}

cudaError_t initialise() {
  static const cudaError_t result = [] {
    try {
      settings();
      device();
      initialised = true;
      return cudaSuccess;
    } catch (const std::invalid_argument& error) {
      say(error.what());
      return cudaErrorInitializationError;
    }
  }();
  return result;
}

bool is_initialised() {
  return initialised;
}

int refuse_driver_call(const char* name) noexcept {
  try {
    static auto* reported = new std::set<std::string>;
    std::lock_guard lock(runtime_mutex());
    if (reported->insert(name).second) say(std::string(name) + "() is not supported");
  } catch (...) {
    // The error that is returned says it, too.
  }
  return cudaErrorNotSupported;
}

int refuse_call(const char* name) noexcept {
  refuse_driver_call(name);
  set_last_error(cudaErrorNotSupported);
  return cudaErrorNotSupported;
}

std::recursive_mutex& runtime_mutex() {
  static auto* mutex = new std::recursive_mutex;  // never destroyed: programs call from their own destructors
  return *mutex;
}

}  // namespace simulator

using namespace simulator;

extern "C" cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}

extern "C" cudaError_t cudaPeekAtLastError() {
  return last;
}
