#include "common/simulator/runtime/occupancy.h"

#include <algorithm>
#include <iterator>

#include "common/simulator/runtime/functions.h"
#include "common/simulator/runtime/state.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

constexpr uint32_t warp = 32;
constexpr uint32_t partitions = 4;              // of a multiprocessor: each has a quarter of the registers
constexpr uint32_t register_granularity = 256;  // per warp
constexpr size_t shared_granularity = 128;

template <class T>
T round_up(T value, T step) {
  return (value + step - 1) / step * step;
}
uint32_t warps_of(uint32_t threads) {
  return (threads + warp - 1) / warp;
}
uint32_t registers_of_warp(const KernelInfo& kernel) {
  return round_up(std::max(kernel.registers, 1u) * warp, register_granularity);
}

// Bytes of shared memory that a multiprocessor is set up with: what the kernel prefers, but enough for one
// block. (CUDA C++ Programming Guide, "Shared Memory" of the architecture.)
size_t shared_capacity(size_t needed, int carveout) {
  const size_t largest = device().shared_per_sm;
  if (carveout < 0) return largest;
  const size_t wanted = std::max(needed, largest * static_cast<size_t>(carveout) / 100);
  for (const size_t kib : {8, 16, 32, 64, 100, 132, 164, 196}) {
    if (kib * 1024 >= wanted) return std::min(kib * 1024, largest);
  }
  return largest;
}

}  // namespace

uint32_t registers_of_block(const KernelInfo& kernel, uint32_t threads) {
  return round_up(warps_of(threads), partitions) * registers_of_warp(kernel);
}

uint32_t warps_by_registers(const KernelInfo& kernel) {
  return static_cast<uint32_t>(device().registers_per_sm) / partitions / registers_of_warp(kernel) *
         partitions;
}

int blocks_per_multiprocessor(const KernelInfo& kernel, uint32_t threads, size_t dynamic_shared,
                              int carveout) {
  const Device& d = device();
  if (threads == 0 || threads > static_cast<uint32_t>(d.max_threads_per_block)) return 0;
  if (kernel.shared_bytes + dynamic_shared > d.shared_per_block_optin) return 0;
  const size_t shared =
      round_up(kernel.shared_bytes + dynamic_shared + d.shared_reserved, shared_granularity);
  const uint32_t warps = warps_of(threads);
  const size_t limits[] = {
      static_cast<size_t>(d.max_blocks_per_sm),
      static_cast<size_t>(d.max_threads_per_sm) / warp / warps,
      warps_by_registers(kernel) / warps,
      shared_capacity(shared, carveout) / shared,
  };
  return static_cast<int>(*std::min_element(std::begin(limits), std::end(limits)));
}

}  // namespace simulator

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
