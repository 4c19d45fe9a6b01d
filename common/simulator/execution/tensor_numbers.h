// The numbers that tcgen05.mma works on: elements of A and B, scale factors, and sums of which the terms have
// exponents of their own.
#pragma once

#include <cstdint>

#include "common/simulator/execution/matrix_chunks.h"
#include "common/simulator/execution/tensor_descriptor.h"

namespace simulator {

struct TensorElementUse {
  Widen in_shared, in_tensor;  // of 16 bytes of shared memory, of four words of tensor memory
  int lowest;                  // exponent
};
const TensorElementUse& use_of(TensorElement element);

// A scale factor: significand · 2^exponent.
struct TensorScale {
  double significand = 1;  // NaN: the encoded one is
  int exponent = 0;
};
TensorScale tensor_scale(uint32_t code, bool ue4m3);

// The sum of terms value · 2^exponent and c, all of them cut to so many bits below the largest exponent.
class TensorSum {
 public:
  explicit TensorSum(float c);
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
