// What the norm reads, adds and writes: vectors of 16 or 32 bytes.
#pragma once

#include "09_tcgen05/variants.h"
#include "common/ptx/wide_access.cuh"

namespace ladder::rung_09 {

constexpr unsigned all_lanes = ~0u;

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}

// Two bf16 in 32 bits: the first is the lower half. Widening is a shift, since bf16 is the upper half of
// fp32.
__device__ inline float low_half(unsigned pair) {
  return __uint_as_float(pair << 16);
}
__device__ inline float high_half(unsigned pair) {
  return __uint_as_float(pair & 0xFFFF0000u);
}
__device__ inline unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

// n words of bf16 pairs, 16 bytes or 32.
__device__ inline void load(unsigned (&to)[4], const __nv_bfloat16* from) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  to[0] = bits.x, to[1] = bits.y, to[2] = bits.z, to[3] = bits.w;
}
__device__ inline void load(unsigned (&to)[8], const __nv_bfloat16* from) {
  ptx::load_32_bytes(to, from);
}
__device__ inline void store(__nv_bfloat16* to, const unsigned (&from)[4]) {
  *reinterpret_cast<uint4*>(to) = make_uint4(from[0], from[1], from[2], from[3]);
}
__device__ inline void store(__nv_bfloat16* to, const unsigned (&from)[8]) {
  ptx::store_32_bytes(to, from);
}

// h of 2n elements, in place of x.
template <int n>
__device__ void add(unsigned (&x)[n], const unsigned (&residual)[n], float& squares) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    x[i] = pack(low_half(x[i]) + low_half(residual[i]), high_half(x[i]) + high_half(residual[i]));
    squares += low_half(x[i]) * low_half(x[i]) + high_half(x[i]) * high_half(x[i]);
  }
}

}  // namespace ladder::rung_09
