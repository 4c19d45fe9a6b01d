// Launches and occupancy.
#include <algorithm>

#include "common/simulator/driver/call.h"
#include "common/simulator/driver/parameters.h"
#include "common/simulator/settings/device.h"

using namespace simulator;

namespace {

// The driver's attributes have the numbers and the layout of the runtime's.
cudaLaunchConfig_t config_of(const CUlaunchConfig& config) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  cudaLaunchConfig_t made = {};
  made.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
  made.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
  made.dynamicSmemBytes = config.sharedMemBytes;
  made.stream = config.hStream;
  made.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  made.numAttrs = config.numAttrs;
  return made;
}

}  // namespace

extern "C" CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                                     void** extra) {
  return driver_call([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    Parameters all(function, parameters, extra);
    if (!all.valid()) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t made = config_of(*config);
    return cudaLaunchKernelExC(&made, function, all.each());
  });
}

extern "C" CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void** parameters, void** extra) {
  const CUlaunchConfig config{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, parameters, extra);
}

extern "C" CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                              unsigned block_z, unsigned shared, CUstream stream,
                                              void** parameters) {
  return driver_call([&] {
    return cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                       parameters, shared, stream);
  });
}

extern "C" CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return driver_call([&] { return cudaLaunchHostFunc(stream, function, data); });
}

// ---- Occupancy

extern "C" CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                                         int threads, size_t shared,
                                                                         unsigned flags) {
  return driver_call([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags);
  });
}

extern "C" CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                                size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

// The block size with the most threads on a multiprocessor; of equal ones the largest.
extern "C" CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                              CUoccupancyB2DSize shared_of, size_t shared,
                                                              int limit, unsigned flags) {
  int most = 0;
  if (grid == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
      error != CUDA_SUCCESS) {
    return error;
  }
  if (limit > 0) most = std::min(most, limit);
  int best = 0;
  for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
    int blocks = 0;
    const size_t bytes = shared_of != nullptr ? shared_of(threads) : shared;
    const CUresult error =
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, threads, bytes, flags);
    if (error != CUDA_SUCCESS) return error;
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * device().multiprocessors;
  }
  return best > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

extern "C" CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                     CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit, 0);
}

extern "C" CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                            int threads) {
  return driver_call(
      [&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads); });
}

extern "C" CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                                       const CUlaunchConfig* config) {
  return driver_call([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t made = config_of(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &made);
  });
}

extern "C" CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                                 const CUlaunchConfig* config) {
  return driver_call([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t made = config_of(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &made);
  });
}

SIMULATOR_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);
SIMULATOR_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);
SIMULATOR_ALIAS(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel);
SIMULATOR_ALIAS(cuLaunchHostFunc_ptsz, cuLaunchHostFunc);
