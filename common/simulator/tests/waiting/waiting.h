// Threads that wait for threads through libcu++: atomics, flags, barriers, pipelines, latches and semaphores,
// above all between the lanes of one warp, which a GPU runs independently of one another. Each kernel comes
// twice: as it is, where the simulator must say nothing, and stuck, where what the others wait for never
// comes.
#pragma once

#include <cuda_runtime.h>

#include <span>

// What the CTAs of a launch share: zeros, and a place for a barrier or a semaphore.
struct Shared {
  int words[64];
  alignas(64) unsigned char objects[256];
};

// Each thread says in right[its index in the grid] whether it has seen what it should: 1.
struct Case {
  const char* name;
  void (*kernel)(int* right, Shared* shared);
  void (*stuck)(int* right, Shared* shared);
  unsigned blocks, threads;
};
#define CASE(name, blocks, threads) \
  { #name, name < false>, name < true>, blocks, threads }

std::span<const Case> atomic_cases();
std::span<const Case> flag_cases();
std::span<const Case> barrier_cases();
std::span<const Case> pipeline_cases();
std::span<const Case> semaphore_cases();

static __device__ inline unsigned in_grid() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

#pragma nv_diag_suppress static_var_with_dynamic_init  // shared: constructed by hand
