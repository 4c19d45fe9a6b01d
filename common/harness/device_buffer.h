// Device memory between two guard zones.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <span>
#include <string>

namespace ladder {

// `count` bf16 elements on the device. The zones before and after them are NaN for an input, so that a read
// past an end spoils the result, and a pattern for an output, so that a write past an end is found.
class GuardedBuffer {
 public:
  enum class Kind { input, output };

  // Throws Failure(Exit::cannot_run) when the memory is exhausted.
  GuardedBuffer(std::string name, Kind kind, std::uint64_t count);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  __nv_bfloat16* data() const;  // aligned to 256 bytes
  std::uint64_t count() const { return count_; }

  // Fills an output with NaN, so that an element the kernel does not write cannot pass for a result.
  void poison() const;

  // One line about a guard zone that a kernel has written to; empty if both are untouched.
  std::string damage() const;

  // Copies elements [first, first + to.size()) to the host.
  void copy_to_host(std::uint64_t first, std::span<__nv_bfloat16> to) const;

  // Copies as many elements as there are, from the host.
  void copy_from_host(std::span<const __nv_bfloat16> from) const;

 private:
  static constexpr std::uint64_t guard_bytes = 1 << 16;

  std::string name_;
  unsigned char pattern_;
  std::uint64_t count_;
  unsigned char* allocation_ = nullptr;
};

// How the elements of an input are drawn.
struct Distribution {
  enum class Kind {
    normal,   // mean + deviation · N(0,1), rounded to bf16
    integer,  // uniform over the whole numbers -limit … limit: sums of products are exact in fp32 while they
              // fit 24 bits
  };
  Kind kind;
  float mean = 0, deviation = 1;
  int limit = 0;
};

// Fills the buffer's elements on the device. The values depend on the seed and the index alone.
void fill(const GuardedBuffer& buffer, const Distribution& distribution, std::uint64_t seed);

// How many elements of two buffers of the same size differ, bit by bit.
std::uint64_t count_differences(const GuardedBuffer& a, const GuardedBuffer& b);

}  // namespace ladder
