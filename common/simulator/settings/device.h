// The devices that can be simulated and their limits (CUDA C++ Programming Guide, "Compute Capabilities").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simulator {

struct Device {
  std::string name;            // "simulator:h200"
  int major, minor;            // compute capability
  bool architecture_specific;  // sm_90a, sm_100a features
  int multiprocessors;
  int max_threads_per_block = 1024;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int registers_per_sm = 65536;
  size_t shared_per_block = 49152;  // without opting in
  size_t shared_per_block_optin;
  size_t shared_per_sm;
  size_t shared_reserved = 1024;  // per block
  size_t global_bytes;
  size_t l2_bytes;
  int clock_khz, memory_clock_khz, memory_bus_bits;
  int max_cluster = 0;              // portable cluster size: 0 or 8
  int max_cluster_nonportable = 0;  // 0 or 16
};

// The one that settings().device names.
const Device& device();

}  // namespace simulator
