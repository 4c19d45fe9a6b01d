// How a program of the course ends: one plain line on stderr and an exit code a script can rely on.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

namespace ladder {

enum class Exit { passed = 0, wrong_result = 1, bad_usage = 2, cannot_run = 77 };

// Thrown anywhere, caught in main: `what()` is the line.
struct Failure : std::runtime_error {
  Failure(Exit exit_, const std::string& line) : std::runtime_error(line), exit(exit_) {}
  Exit exit;
};

// The exit code an error of the CUDA runtime stands for: no device, no code for this device and no memory
// left mean that the program cannot run here; anything else is a fault of the kernel.
inline Exit exit_for(cudaError_t error) {
  switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorStubLibrary:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorMemoryAllocation:
      return Exit::cannot_run;
    default:
      return Exit::wrong_result;
  }
}

// Throws unless the call succeeded; `doing` says what was under way, as in "copying the result back".
inline void check(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return;
  throw Failure(exit_for(error), doing + ": " + cudaGetErrorString(error));
}

// Runs the body of a main function: its exit code, or, for what it throws, one line on stderr that begins
// with the program's name, and the exit code that goes with it.
template <class Body>
int run_program(const char* name, const Body& body) {
  auto end = [&](Exit exit, const char* line) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", name, line);
    return int(exit);
  };
  try {
    return int(body());
  } catch (const Failure& failure) {
    return end(failure.exit, failure.what());
  } catch (const std::bad_alloc&) {
    return end(Exit::cannot_run, "host memory exhausted");
  } catch (const std::exception& unexpected) {
    return end(Exit::wrong_result, unexpected.what());
  }
}

}  // namespace ladder
