#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/simulator/context/functions.h"
#include "common/simulator/context/occupancy.h"
#include "common/simulator/context/state.h"
#include "common/simulator/settings/device.h"

using namespace simulator;

namespace {

// Of a launch configuration, or the kernel's own: 0 where there is none.
uint32_t cluster_size(const Function& function, const cudaLaunchConfig_t& config) {
  const auto& own = info(*function.kernel).required_cluster;
  uint32_t size = own[0] * own[1] * own[2];
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& dimensions = config.attrs[i].val.clusterDim;
    size = dimensions.x * dimensions.y * dimensions.z;
  }
  return size;
}

uint32_t threads_of(const cudaLaunchConfig_t& config) {
  return config.blockDim.x * config.blockDim.y * config.blockDim.z;
}

int max_cluster(const Function& function) {
  return function.nonportable_cluster ? device().max_cluster_nonportable : device().max_cluster;
}

}  // namespace

extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* func,
                                                                              int threads,
                                                                              size_t dynamic_shared,
                                                                              unsigned flags) {
  return call([&] {
    Function* function = nullptr;
    if (blocks == nullptr || threads <= 0 || flags > cudaOccupancyDisableCachingOverride)
      return cudaErrorInvalidValue;
    if (const cudaError_t error = loaded_function(func, function); error != cudaSuccess) return error;
    *blocks = occupancy(*function, static_cast<uint32_t>(threads), dynamic_shared);
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* func,
                                                                     int threads, size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, func, threads, dynamic_shared, 0);
}

extern "C" cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* func, int blocks,
                                                                 int threads) {
  return call([&] {
    Function* function = nullptr;
    if (bytes == nullptr || threads <= 0 || blocks <= 0 || blocks > device().max_blocks_per_sm)
      return cudaErrorInvalidValue;
    if (const cudaError_t error = loaded_function(func, function); error != cudaSuccess) return error;
    const size_t used = info(*function->kernel).shared_bytes;
    const int carveout = blocks == 1 ? -1 : function->carveout;
    const size_t share = shared_capacity(0, carveout) / static_cast<size_t>(blocks);
    const size_t each =
        std::min(share / shared_granularity * shared_granularity, device().shared_per_block_optin);
    *bytes = each - std::min(each, used);
    return cudaSuccess;
  });
}

// A real device has fewer where its multiprocessors do not divide evenly among its GPCs (an H200: 58 in place
// of 64 of size 16). At most 8 blocks of clusters share a multiprocessor.
extern "C" cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* func,
                                                      const cudaLaunchConfig_t* config) {
  return call([&] {
    Function* function = nullptr;
    if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = loaded_function(func, function); error != cudaSuccess) return error;
    const uint32_t size = cluster_size(*function, *config);
    if (size > static_cast<uint32_t>(max_cluster(*function))) return cudaErrorInvalidClusterSize;
    const int blocks = std::min(8, occupancy(*function, threads_of(*config), config->dynamicSmemBytes));
    *clusters = size == 0 ? 0 : device().multiprocessors / static_cast<int>(size) * blocks;
    return cudaSuccess;
  });
}

extern "C" cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* func,
                                                            const cudaLaunchConfig_t* config) {
  return call([&] {
    Function* function = nullptr;
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = loaded_function(func, function); error != cudaSuccess) return error;
    *size =
        occupancy(*function, threads_of(*config), config->dynamicSmemBytes) > 0 ? max_cluster(*function) : 0;
    return cudaSuccess;
  });
}
