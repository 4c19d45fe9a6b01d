// Kernels with one mistake each, and the same kernels without it: what the checks must find, and where they
// must keep quiet. A file for each kind of mistake: the kernels, how each is launched, and a table of them.
// Lines that a report must name are marked, with the kind of mistake: a race has two.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <span>

struct Case {
  const char* name;
  void (*broken)();
  void (*fixed)();
};
#define CASE(name) \
  { #name, run_##name < false>, run_##name < true> }

std::span<const Case> global_memory_cases();
std::span<const Case> shared_memory_cases();
std::span<const Case> race_cases();
std::span<const Case> copy_cases();
std::span<const Case> barrier_cases();
std::span<const Case> raised_cases();

// Device memory for `count` integers; written (with 1, 1, …) or not.
inline int* device_array(int count, bool written = true) {
  int* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(int)) != cudaSuccess) std::printf("cudaMalloc failed\n");
  if (written) cudaMemset(memory, 1, count * sizeof(int));
  return memory;
}

struct Padded {
  double weight;
  int index;  // … and 4 bytes of padding
};
static __global__ void make_padded(Padded* to) {
  to[threadIdx.x].weight = 1;
  to[threadIdx.x].index = 2;
}
