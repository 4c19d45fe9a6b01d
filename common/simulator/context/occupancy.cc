#include "common/simulator/context/occupancy.h"

#include <algorithm>
#include <iterator>

#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

constexpr uint32_t warp = 32;
constexpr uint32_t partitions = 4;              // of a multiprocessor: each has a quarter of the registers
constexpr uint32_t register_granularity = 256;  // per warp

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

}  // namespace

size_t shared_capacity(size_t needed, int carveout) {
  const size_t largest = device().shared_per_sm;
  if (carveout < 0) return largest;
  const size_t wanted = std::max(needed, largest * static_cast<size_t>(carveout) / 100);
  for (const size_t kib : {8, 16, 32, 64, 100, 132, 164, 196}) {
    if (kib * 1024 >= wanted) return std::min(kib * 1024, largest);
  }
  return largest;
}

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
