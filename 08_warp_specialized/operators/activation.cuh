// What an epilogue does to an accumulator, in fp32.
#pragma once

namespace ladder::rung_08 {

// x / (1 + 2^u), by one instruction each for the power and the reciprocal: without .ftz both take others
// beside them for subnormal numbers. Where 2^u overflows, the quotient is 0 as it should be.
__device__ inline float over_one_plus_exp2(float x, float u) {
  float power, reciprocal;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(u));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(1 + power));
  return x * reciprocal;
}

constexpr float log2_of_e = 1.442695041f;

struct Identity {
  __device__ float operator()(float x) const { return x; }
};

// x · sigmoid(x) = x / (1 + exp(-x))
struct Silu {
  __device__ float operator()(float x) const { return over_one_plus_exp2(x, -log2_of_e * x); }
};

// The tanh form, x/2 · (1 + tanh(u)), u = √(2/π) · (x + 0.044715 x³): (1 + tanh(u)) / 2 is the sigmoid of 2u.
// It takes exp and a reciprocal instead of the hardware's tanh, whose error of 2^-11 is close to bf16's own.
struct Gelu {
  __device__ float operator()(float x) const {
    constexpr float scale = -log2_of_e * 2 * 0.7978845608f;  // -log2(e) · 2 · √(2/π)
    return over_one_plus_exp2(x, x * (scale + scale * 0.044715f * (x * x)));
  }
};

}  // namespace ladder::rung_08
