// Memory that the program has allocated. Called with runtime_mutex() held.
#pragma once

#include <cstddef>

#include "common/simulator/context/cuda_api.h"
#include "common/simulator/memory/global_memory.h"

namespace simulator {

// 0 bytes: a null pointer and success.
cudaError_t allocate(void** pointer, size_t bytes, Allocation::Kind kind, unsigned flags = 0);
// Device or managed memory. cudaErrorInvalidValue: it is neither, or not the start of an allocation.
cudaError_t release(void* pointer);
void release_all();  // cudaDeviceReset()

// Memory pools (pool_api.cc) count what is allocated from them.
bool leave_pool(void* pointer);  // it is about to be released; false: it is of no pool
void forget_pools();             // cudaDeviceReset()

// Memory of graphs (graph_memory_api.cc). True: it stays allocated, since a graph may be launched again.
bool keep_for_graph(void* pointer);
void forget_graph_memory();  // cudaDeviceReset()

}  // namespace simulator
