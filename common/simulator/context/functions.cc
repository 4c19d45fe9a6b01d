#include "common/simulator/context/functions.h"

#include <algorithm>

#include "common/simulator/context/occupancy.h"
#include "common/simulator/context/state.h"
#include "common/simulator/settings/device.h"

namespace simulator {

size_t max_dynamic_shared(const Function& function) {
  if (function.max_dynamic_shared_set) return function.max_dynamic_shared;
  const size_t used = info(*function.kernel).shared_bytes;
  return device().shared_per_block - std::min(used, device().shared_per_block);
}

int occupancy(const Function& function, uint32_t threads, size_t dynamic_shared) {
  if (dynamic_shared > max_dynamic_shared(function)) return 0;
  return blocks_per_multiprocessor(info(*function.kernel), threads, dynamic_shared, function.carveout);
}

cudaError_t loaded_function(const void* func, Function*& function) {
  if (func == nullptr) return cudaErrorInvalidDeviceFunction;
  function = find_function(func);
  if (function == nullptr) return cudaErrorInvalidResourceHandle;
  return load(*function);
}

namespace {

// Threads per block that the registers of a multiprocessor and the launch bounds allow.
int max_threads(const KernelInfo& kernel) {
  const uint32_t by_registers = warps_by_registers(kernel) * 32;
  return static_cast<int>(
      std::min({kernel.max_threads, by_registers, static_cast<uint32_t>(device().max_threads_per_block)}));
}

cudaError_t set_attribute(Function& function, cudaFuncAttribute attribute, int value) {
  const size_t used = info(*function.kernel).shared_bytes;
  const auto set_cluster = [&](size_t axis) {
    if (value < 0 || info(*function.kernel).required_cluster[0] != 0) return cudaErrorInvalidValue;
    function.required_cluster[axis] = static_cast<uint32_t>(value);
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || static_cast<size_t>(value) + used > device().shared_per_block_optin)
        return cudaErrorInvalidValue;
      function.max_dynamic_shared = static_cast<size_t>(value);
      function.max_dynamic_shared_set = true;
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      function.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
      return set_cluster(0);
    case cudaFuncAttributeRequiredClusterHeight:
      return set_cluster(1);
    case cudaFuncAttributeRequiredClusterDepth:
      return set_cluster(2);
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      function.nonportable_cluster = value != 0;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      if (value < cudaClusterSchedulingPolicyDefault || value > cudaClusterSchedulingPolicyLoadBalancing) {
        return cudaErrorInvalidValue;
      }
      function.cluster_scheduling = value;
      return cudaSuccess;
    default:  // what can only be read, and what newer toolkits add
      return cudaErrorInvalidValue;
  }
}

}  // namespace
}  // namespace simulator

using namespace simulator;

extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* func) {
  return call([&] {
    Function* function = nullptr;
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = loaded_function(func, function); error != cudaSuccess) return error;
    const KernelInfo& kernel = info(*function->kernel);
    *attributes = {};
    attributes->sharedSizeBytes = kernel.shared_bytes;
    attributes->constSizeBytes = kernel.constant_bytes;
    attributes->localSizeBytes = kernel.local_bytes;
    attributes->maxThreadsPerBlock = max_threads(kernel);
    attributes->numRegs = static_cast<int>(kernel.registers);
    attributes->ptxVersion = attributes->binaryVersion = kernel.architecture;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(max_dynamic_shared(*function));
    attributes->preferredShmemCarveout = function->carveout;
    const auto& required =
        kernel.required_cluster[0] != 0 ? kernel.required_cluster : function->required_cluster;
    attributes->clusterDimMustBeSet = required[0] != 0;
    attributes->requiredClusterWidth = static_cast<int>(required[0]);
    attributes->requiredClusterHeight = static_cast<int>(required[1]);
    attributes->requiredClusterDepth = static_cast<int>(required[2]);
    attributes->clusterSchedulingPolicyPreference = function->cluster_scheduling;
    attributes->nonPortableClusterSizeAllowed = function->nonportable_cluster;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attribute, int value) {
  return call([&] {
    Function* function = nullptr;
    if (const cudaError_t error = loaded_function(func, function); error != cudaSuccess) return error;
    return set_attribute(*function, attribute, value);
  });
}

extern "C" cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                                       int value, int number) {
  if (number != 0) {
    set_last_error(cudaErrorInvalidDevice);
    return cudaErrorInvalidDevice;
  }
  return cudaFuncSetAttribute(kernel, attribute, value);
}

extern "C" cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache) {
  return call([&] {
    Function* function = nullptr;
    return loaded_function(func, function);
  });
}

extern "C" cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig) {
  return call([&] {
    Function* function = nullptr;
    return loaded_function(func, function);
  });
}

extern "C" cudaError_t cudaFuncGetName(const char** name, const void* func) {
  return call([&] {
    if (name == nullptr) return cudaErrorInvalidValue;
    const Function* function = func != nullptr ? find_function(func) : nullptr;
    if (function == nullptr)
      return func == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle;
    *name = function->name.c_str();
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaFuncGetParamInfo(const void* func, size_t index, size_t* offset, size_t* size) {
  return call([&] {
    Function* function = nullptr;
    if (const cudaError_t error = loaded_function(func, function); error != cudaSuccess) return error;
    const KernelInfo& kernel = info(*function->kernel);
    if (offset == nullptr || index >= kernel.param_offset.size()) return cudaErrorInvalidValue;
    *offset = kernel.param_offset[index];
    if (size != nullptr) *size = kernel.param_bytes[index];
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaGetFuncBySymbol(cudaFunction_t* handle, const void* func) {
  return call([&] {
    Function* function = func != nullptr ? find_function(func) : nullptr;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = reinterpret_cast<cudaFunction_t>(function);
    return load(*function);
  });
}

extern "C" cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* func) {
  return call([&] {
    Function* function = func != nullptr ? find_function(func) : nullptr;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (handle == nullptr) return cudaErrorInvalidValue;
    *handle = reinterpret_cast<cudaKernel_t>(function);
    return cudaSuccess;
  });
}
