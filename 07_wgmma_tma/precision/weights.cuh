// The types of 8 bits that weights have in memory: what fp32 is rounded to, and how a lane converts a pair of
// them to bf16, in registers.
#pragma once

#include <cuda_bf16.h>

#include "common/ptx/cvt.cuh"

namespace ladder::rung_07 {

// Bytes 2 · half and 2 · half + 1 of a register with four weights, as two bf16, the first in the lower half.
struct S8 {
  static constexpr float largest = 127;
  static __device__ unsigned char round(float x) {
    return static_cast<unsigned char>(max(-127, min(127, __float2int_rn(x))));  // NaN: 0
  }
  // No instruction converts two bytes at a time, so their bits are put into bf16, which has 7 of fraction.
  // With 0x43 above it, a byte's lower seven bits read as 128 + their value. Its eighth is the lowest bit of
  // the exponent: by itself it reads as 128 or, where it is set, as 256. The difference of the two is the
  // byte in two's complement, exactly: four instructions a pair.
  static __device__ unsigned to_bf16x2(unsigned four, int half) {
    const unsigned pair = __byte_perm(four, 0x43434343u, half ? 0x4342 : 0x4140);
    const unsigned rest = pair & 0xFF7FFF7Fu, sign = pair & 0xFF80FF80u;
    const __nv_bfloat162 difference =
        __hsub2(reinterpret_cast<const __nv_bfloat162&>(rest), reinterpret_cast<const __nv_bfloat162&>(sign));
    return reinterpret_cast<const unsigned&>(difference);
  }
};

struct E4m3 {
  static constexpr float largest = 448;
  static __device__ unsigned char round(float x) { return static_cast<unsigned char>(ptx::e4m3x2(x, 0)); }
  // One instruction converts a pair to f16. From there it goes through fp32 to bf16, exactly.
  static __device__ unsigned to_bf16x2(unsigned four, int half) {
    const unsigned f16 = ptx::e4m3x2_to_f16x2(four >> 16 * half);
    const __nv_bfloat162 pair = __float22bfloat162_rn(__half22float2(reinterpret_cast<const __half2&>(f16)));
    return reinterpret_cast<const unsigned&>(pair);
  }
};

// The order of 16 neighbours along k in memory. Of a step of 16, wgmma wants elements 2t, 2t + 1, 2t + 8 and
// 2t + 9 in a lane, t = lane % 4. So these four lie side by side: ldmatrix, which gives a lane 32 bits of a
// row of 16 bytes, gives it just what it multiplies, without an exchange between lanes.
__host__ __device__ constexpr int k_at(int byte) {
  return byte / 16 * 16 + byte % 16 / 4 * 2 + byte % 2 + byte % 4 / 2 * 8;
}

}  // namespace ladder::rung_07
