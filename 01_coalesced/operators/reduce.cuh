// What the rung's row operators share: a value from each thread of a row, reduced by shuffles, and across the
// warps of a CTA through shared memory, as in the rung's fused norm.
#pragma once

#include "common/rung.h"

namespace ladder::rung_01 {

constexpr int warp_size = 32;

struct Sum {
  static constexpr float none = 0;
  __device__ static float of(float x, float y) { return x + y; }
};
struct Maximum {
  static constexpr float none = -3.4e38f;  // below every finite bf16; -inf - (-inf) would be a NaN
  __device__ static float of(float x, float y) { return fmaxf(x, y); }
};

// In every lane: 5 steps, each with the value of the lane 16, 8, 4, 2, 1 away.
template <class Reduction>
__device__ float warp_reduce(float value) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = Reduction::of(value, __shfl_xor_sync(0xFFFFFFFFu, value, distance));
  return value;
}

// The result is in every thread of the row. A CTA needs `partial` in shared memory, which is free again once
// every thread has passed the barrier of another call: two calls in a row take two of them.
template <class Reduction, int threads_per_row>
__device__ float row_reduce(float value, float (&partial)[warp_size]) {
  static_assert(threads_per_row % warp_size == 0, "whole warps, so that shuffles see every lane");
  value = warp_reduce<Reduction>(value);
  if constexpr (threads_per_row > warp_size) {
    const int lane = threadIdx.x % warp_size;
    if (lane == 0) partial[threadIdx.x / warp_size] = value;
    __syncthreads();  // partial[] is complete
    value = lane < threads_per_row / warp_size ? partial[lane] : Reduction::none;
    value = warp_reduce<Reduction>(value);  // every warp does the last step for itself
  }
  return value;
}

}  // namespace ladder::rung_01
