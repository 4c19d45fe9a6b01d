// Conversions from fp32 to the types that tensor cores multiply, and to the types of scales: to nearest, ties
// to even, and saturating. PTX ISA, "Data Movement and Conversion Instructions: cvt". e4m3 and e5m2: sm_89
// and newer; e2m1 and ue8m0: sm_100a and its family.
#pragma once

#include <cuda_fp16.h>

namespace ladder::ptx {

// tf32, as fp32 whose lower 13 bits are 0; ties away from zero. (cvt.rna.tf32.f32; sm_80 and newer)
__device__ __forceinline__ float round_to_tf32(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __uint_as_float(bits);
}

// Two e4m3, at most ±448, the first in the lower byte. (cvt.rn.satfinite.e4m3x2.f32)
__device__ __forceinline__ unsigned e4m3x2(float low, float high) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(low), "f"(high));
  return pair;
}

// Two e5m2, at most ±57344. (cvt.rn.satfinite.e5m2x2.f32)
__device__ __forceinline__ unsigned e5m2x2(float low, float high) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(low), "f"(high));
  return pair;
}

// The values of the e4m3 in the two lower bytes, as f16. (cvt.rn.f16x2.e4m3x2)
__device__ __forceinline__ unsigned e4m3x2_to_f16x2(unsigned bytes) {
  unsigned pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(bytes)));
  return pair;
}

// The same of e5m2. (cvt.rn.f16x2.e5m2x2)
__device__ __forceinline__ unsigned e5m2x2_to_f16x2(unsigned bytes) {
  unsigned pair;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(bytes)));
  return pair;
}

// The value of an e4m3.
__device__ __forceinline__ float from_e4m3(unsigned char byte) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(e4m3x2_to_f16x2(byte))));
}

// Two e2m1, at most ±6, in a byte, the first in the lower half. (cvt.rn.satfinite.e2m1x2.f32)
__device__ __forceinline__ unsigned e2m1x2(float low, float high) {
  unsigned short pair;
  asm("{\n"
      ".reg .b8 byte;\n"
      "cvt.rn.satfinite.e2m1x2.f32 byte, %2, %1;\n"
      "mov.b16 %0, {byte, 0};\n"
      "}\n"
      : "=h"(pair)
      : "f"(low), "f"(high));
  return pair;
}

// The smallest power of two that is at least `value`, which is not negative, as its exponent + 127; for
// smaller values 0, which is 2^-127. (cvt.rp.satfinite.ue8m0x2.f32)
__device__ __forceinline__ unsigned char ue8m0_up(float value) {
  unsigned short pair;
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, 0f00000000, %1;" : "=h"(pair) : "f"(value));
  return static_cast<unsigned char>(pair);
}

}  // namespace ladder::ptx
