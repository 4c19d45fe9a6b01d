// The numbers that tcgen05.mma works on: elements of A and B, which of a sparse A, scale factors, and sums of
// which the terms have exponents of their own.
#pragma once

#include <cstdint>

#include "common/simulator/tensor_core/matrix_chunks.h"
#include "common/simulator/tensor_core/tcgen05_descriptor.h"

namespace simulator {

struct Tcgen05ElementUse {
  Widen in_shared, in_tensor_memory;  // of 16 bytes of shared memory, of four words of tensor memory
  int lowest;                         // exponent
};
const Tcgen05ElementUse& use_of(Tcgen05Element element);

// A scale factor: significand · 2^exponent.
struct Tcgen05Scale {
  double significand = 1;  // NaN: the encoded one is
  int exponent = 0;
};
Tcgen05Scale tcgen05_scale(uint32_t code, bool ue4m3);

// Where the elements of a sparse row belong: of 2 (tf32), 4, or 8 (in pairs) neighbours half are there.
struct Tcgen05Sparsity {
  uint32_t group, kept, width;  // width: neighbours that stay together

  explicit Tcgen05Sparsity(Tcgen05Element element) {
    const uint32_t per = elements_per_chunk(element);
    group = per == 4 ? 2 : per == 32 ? 8 : 4;
    kept = group / 2;
    width = per == 32 ? 2 : 1;
  }
  bool valid(uint32_t code) const {  // PTX ISA 9.7.16.10.8
    constexpr uint32_t of_two = 1u << 0b1110 | 1u << 0b0100;
    constexpr uint32_t of_four = 1u << 0b0100 | 1u << 0b1000 | 1u << 0b1100 | 1u << 0b1001 | 1u << 0b1101 |
                                 1u << 0b0110 | 1u << 0b1110;
    return (group == 2 ? of_two : of_four) >> code & 1;
  }
  // The place of the i-th of a group that are there, by the group's four bits of metadata.
  uint32_t place(uint32_t code, uint32_t i) const {
    if (group == 2) return code >> 3;
    return (code >> 2 * (i / width) & 3) * width + i % width;
  }
};

// The sum of terms value · 2^exponent and c, all of them cut to a number of bits below the largest exponent.
class Tcgen05Sum {
 public:
  explicit Tcgen05Sum(float c);
  void add(double value, int exponent);
  float result(int bits) const;

 private:
  float c_;
  int most_ = -126;  // exponent
  uint32_t count_ = 0;
  double value_[most_deep];
  int exponent_[most_deep];
};

}  // namespace simulator
