// Device memory between two guard zones, on a GPU.
#pragma once

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ladder {

// `count` elements on the device, bf16 unless their size says otherwise. On a GPU the zones before and after
// them are NaN for an input, so that a read past an end spoils the result, and a pattern for an output, so
// that a write past an end is found. On the simulator there are none: it finds every access outside of an
// allocation, also one whose value is dropped.
class GuardedBuffer {
 public:
  enum class Kind { input, output };

  // Throws Failure(Exit::cannot_run) when the memory is exhausted.
  GuardedBuffer(std::string name, Kind kind, std::uint64_t count,
                std::size_t element_bytes = sizeof(__nv_bfloat16));
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  // Aligned to 256 bytes.
  __nv_bfloat16* data() const { return as<__nv_bfloat16>(); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(allocation_ + guard_);
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t bytes() const { return count_ * element_bytes_; }

  // Fills an output so that an element the kernel does not write cannot pass for a result: with NaN, of any
  // type of floating-point numbers; for s32 another pattern must do.
  void poison(unsigned char pattern = 0xFF) const;

  // One line about a guard zone that a kernel has written to; empty if both are untouched.
  std::string damage() const;

  // Copies elements [first, first + to.size()) to the host. T has the size of an element.
  template <class T>
  void copy_to_host(std::uint64_t first, std::span<T> to) const {
    read(first * sizeof(T), std::as_writable_bytes(to));
  }

  // Fills the first elements of the buffer.
  template <class T>
  void copy_from_host(std::span<T> from) const {
    write(std::as_bytes(from));
  }

 private:
  void write(std::span<const std::byte> from) const;
  void read(std::uint64_t first_byte, std::span<std::byte> to) const;

  std::string name_;
  unsigned char pattern_;
  std::uint64_t count_, element_bytes_, guard_;
  unsigned char* allocation_ = nullptr;
};

// How the elements of an input are drawn.
struct Distribution {
  enum class Kind {
    normal,  // mean + deviation · N(0,1), and in rows of `cols` columns an offset, uniform up to ±row_offset
    integer,  // uniform over the whole numbers -limit … limit: sums of products are exact in fp32 while they
              // fit 24 bits
    blocks,  // the same, times a power of two, 2^lowest … 2^(lowest + spread), that a block shares; with a
             // `largest` in each a scale, the largest over some number, says which block it is of
  };
  Kind kind = Kind::normal;
  float mean = 0, deviation = 1;
  int limit = 0;
  int lowest = 0, spread = 0;
  // Blocks of a row-major matrix with `cols` columns; in each the element at row, col is `largest`, but for
  // its power of two. None where block_rows is 0.
  int cols = 0, block_rows = 0, block_cols = 0;
  int row = 0, col = 0, largest = 0;
  float row_offset = 0;  // of a normal one
  bool operator==(const Distribution&) const = default;
};

// Fills the buffer's elements, fp32 where they have four bytes, else bf16, on the device. The values depend
// on the seed and the index alone.
void fill(const GuardedBuffer& buffer, const Distribution& distribution, std::uint64_t seed);

// Sets what is outside the first `rows_inside` rows and `cols_inside` columns of a matrix with `cols` columns
// to 0.
void clear_outside(const GuardedBuffer& matrix, int cols, int rows_inside, int cols_inside);

// How many pairs of bytes of two buffers of the same size differ.
std::uint64_t count_differences(const GuardedBuffer& a, const GuardedBuffer& b);

}  // namespace ladder
