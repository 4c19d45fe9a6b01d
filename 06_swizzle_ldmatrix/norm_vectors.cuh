// What the norm computes, eight elements at a time.
#pragma once

#include "06_swizzle_ldmatrix/variants.h"

namespace ladder::rung_06 {

constexpr int vector = 8;  // bf16 elements in 16 bytes

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
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

__device__ inline uint4 load(const __nv_bfloat16* from) {
  return *reinterpret_cast<const uint4*>(from);
}
__device__ inline void store(__nv_bfloat16* to, uint4 bits) {
  *reinterpret_cast<uint4*>(to) = bits;
}

__device__ inline unsigned add_pair(unsigned x, unsigned residual) {
  return pack(low_half(x) + low_half(residual), high_half(x) + high_half(residual));
}
__device__ inline uint4 add_vector(uint4 x, uint4 residual) {
  return make_uint4(add_pair(x.x, residual.x), add_pair(x.y, residual.y), add_pair(x.z, residual.z),
                    add_pair(x.w, residual.w));
}
__device__ inline unsigned scale_pair(unsigned h, unsigned gamma, float scale) {
  return pack(low_half(h) * scale * low_half(gamma), high_half(h) * scale * high_half(gamma));
}
__device__ inline uint4 scale_vector(uint4 h, uint4 gamma, float scale) {
  return make_uint4(scale_pair(h.x, gamma.x, scale), scale_pair(h.y, gamma.y, scale),
                    scale_pair(h.z, gamma.z, scale), scale_pair(h.w, gamma.w, scale));
}

}  // namespace ladder::rung_06
