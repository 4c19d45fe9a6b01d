// How many blocks fit on a multiprocessor at once (CUDA C++ Programming Guide, "Occupancy Calculator").
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simulator/program/kernel.h"

namespace simulator {

constexpr size_t shared_granularity = 128;  // bytes

// Bytes of shared memory that a multiprocessor is set up with: what the kernel prefers, but enough for one
// block. (CUDA C++ Programming Guide, "Shared Memory" of the architecture.)
size_t shared_capacity(size_t needed, int carveout);

// 32-bit registers that a block takes, with the granularity they are given out in.
uint32_t registers_of_block(const KernelInfo& kernel, uint32_t threads);
// Warps of the kernel that have their registers on one multiprocessor.
uint32_t warps_by_registers(const KernelInfo& kernel);
// carveout: percent of the largest shared memory that the kernel prefers; -1: none. 0: does not fit at all.
int blocks_per_multiprocessor(const KernelInfo& kernel, uint32_t threads, size_t dynamic_shared,
                              int carveout);

}  // namespace simulator
