// Functions of the driver that programs get from the runtime.
#include <cstring>

#include "common/simulator/driver/call.h"
#include "common/simulator/driver/symbols.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // cudaGetDriverEntryPoint: programs still call it

using namespace simulator;

namespace {

// A program linked with the static library finds these: it exports no names.
struct EntryPoint {
  const char* name;
  void* function;
};
const EntryPoint entry_points[] = {
    {"cuTensorMapEncodeTiled", reinterpret_cast<void*>(cuTensorMapEncodeTiled)},
    {"cuTensorMapReplaceAddress", reinterpret_cast<void*>(cuTensorMapReplaceAddress)},
    {"cuTensorMapEncodeIm2col", reinterpret_cast<void*>(cuTensorMapEncodeIm2col)},
    {"cuTensorMapEncodeIm2colWide", reinterpret_cast<void*>(cuTensorMapEncodeIm2colWide)},
    {"cuGetErrorString", reinterpret_cast<void*>(cuGetErrorString)},
};

cudaError_t find(const char* name, void** function, unsigned version, bool per_thread,
                 cudaDriverEntryPointQueryResult* result) {
  if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
  *function = nullptr;
  if (version > CUDART_VERSION) {
    if (result != nullptr) *result = cudaDriverEntryPointVersionNotSufficent;
    return cudaErrorInvalidValue;
  }
  Found found = find_driver_function(name, static_cast<int>(version), per_thread, *function);
  for (const EntryPoint& entry : entry_points) {
    if (found != Found::no || std::strcmp(entry.name, name) != 0) continue;
    found = Found::yes;
    *function = entry.function;
  }
  if (result != nullptr) {
    *result = found == Found::yes       ? cudaDriverEntryPointSuccess
              : found == Found::too_new ? cudaDriverEntryPointVersionNotSufficent
                                        : cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                        unsigned long long flags,
                                                        cudaDriverEntryPointQueryResult* result) {
  return query(
      [&] { return find(name, function, version, flags == cudaEnablePerThreadDefaultStream, result); });
}

SIMULATOR_EXPORT cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                     unsigned long long flags,
                                                     cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}

SIMULATOR_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);
SIMULATOR_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
