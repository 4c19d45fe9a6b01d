// What an epilogue does to an accumulator, in fp32.
#pragma once

namespace ladder::rung_06 {

// x / (1 + exp(-t)). Where exp(-t) overflows, the quotient is 0 as it should be.
__device__ inline float times_sigmoid(float x, float t) {
  return __fdividef(x, 1 + __expf(-t));
}

struct Identity {
  __device__ float operator()(float x) const { return x; }
};

struct Silu {
  __device__ float operator()(float x) const { return times_sigmoid(x, x); }
};

// The tanh form, x/2 · (1 + tanh(u)), u = √(2/π) · (x + 0.044715 x³): (1 + tanh(u)) / 2 is the sigmoid of 2u.
// It takes exp and a reciprocal instead of the hardware's tanh, whose error of 2^-11 is close to bf16's own.
struct Gelu {
  __device__ float operator()(float x) const {
    constexpr float scale = 2 * 0.7978845608f;  // 2 · √(2/π)
    return times_sigmoid(x, scale * x * (1 + 0.044715f * x * x));
  }
};

}  // namespace ladder::rung_06
