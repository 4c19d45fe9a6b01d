// Operands of a test that compares results bit by bit.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ladder {

using Bits = std::vector<std::uint16_t>;  // of bf16

// From -2 to 2, with all bits of the fraction.
inline Bits numbers(std::size_t count, std::uint32_t seed) {
  Bits bits(count);
  for (std::uint16_t& each : bits) {
    seed = seed * 1664525 + 1013904223;
    each = std::uint16_t((seed >> 31 << 15) | 0x3F00 | (seed >> 16 & 0xFF));
  }
  return bits;
}

class OnDevice {
 public:
  explicit OnDevice(std::size_t bytes) { EXPECT_EQ(cudaMalloc(&data_, bytes), cudaSuccess); }
  explicit OnDevice(const Bits& host) : OnDevice(host.size() * sizeof host[0]) {
    EXPECT_EQ(cudaMemcpy(data_, host.data(), host.size() * sizeof host[0], cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  __nv_bfloat16* get() const { return static_cast<__nv_bfloat16*>(data_); }

  Bits read(std::size_t count) const {
    Bits bits(count);
    EXPECT_EQ(cudaMemcpy(bits.data(), data_, count * sizeof bits[0], cudaMemcpyDeviceToHost), cudaSuccess);
    return bits;
  }

 private:
  void* data_ = nullptr;
};

}  // namespace ladder
