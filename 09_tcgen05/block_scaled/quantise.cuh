// Elements that share a scale, rounded to a precision as common/precision.h defines it, with Blackwell's
// conversions.
#pragma once

#include "09_tcgen05/block_scaled/workspace.h"
#include "common/ptx/cvt.cuh"

namespace ladder::rung_09 {

// Bits of an element; elements of a block.
template <Precision precision>
constexpr int bits = QuantisedLayout(precision, 1, 32).bits;
template <Precision precision>
constexpr int block = QuantisedLayout(precision, 1, 32).block;

// Elements of 4 bits, whose blocks' scales are e4m3.
template <Precision precision>
constexpr bool is_nvfp4 = bits<precision> == 4;

// The scale of all of a matrix, from its largest absolute value: with it the blocks' scales reach up to 448,
// whatever the size of the numbers. Without it those of numbers below 2^-10 · 6 are 0, and those of numbers
// beyond 448 · 6 saturate.
__device__ inline float matrix_scale_of(float largest) {
  const float scale = largest / (6 * 448);
  return scale == 0 ? 1 : scale;
}

// The scale of a block, as the byte that is stored, from its largest absolute value.
template <Precision precision>
__device__ unsigned scale_byte(float largest, float matrix_scale) {
  if constexpr (precision == Precision::mxfp8) {
    return ptx::ue8m0_up(largest / 448);  // up, so that none exceeds 448
  } else {
    static_assert(is_nvfp4<precision>);
    return ptx::e4m3x2(largest / 6 / matrix_scale, 0);
  }
}

// n elements of a block with these scales (or without) in 32-bit words. They are divided by what the block's
// scale was rounded to: that is what the tensor core will multiply them by.
template <Precision precision, int n>
__device__ void round_elements(const float (&x)[n], unsigned scale, float matrix_scale,
                               unsigned (&to)[n * bits<precision> / 32]) {
  // To divide by a power of two is to multiply by its inverse, without error.
  const float inverse =
      precision == Precision::mxfp8 ? __uint_as_float(254u - scale << 23) : 1;  // 2^(127 - scale)
  const float divisor =
      is_nvfp4<precision> ? ptx::from_e4m3(static_cast<unsigned char>(scale)) * matrix_scale : 1;
  constexpr int each = 32 / bits<precision>;  // elements of a word
#pragma unroll
  for (int w = 0; w < n / each; ++w) {
    to[w] = 0;
#pragma unroll
    for (int i = 0; i < each; i += 2) {
      const float low = x[each * w + i], high = x[each * w + i + 1];
      if constexpr (is_nvfp4<precision>) {
        if (divisor != 0) to[w] |= ptx::e2m1x2(low / divisor, high / divisor) << 4 * i;
      } else {
        to[w] |= ptx::e4m3x2(low * inverse, high * inverse) << 8 * i;
      }
    }
  }
}

template <int n>
__device__ float largest_of(const float (&x)[n]) {
  float largest = 0;
#pragma unroll
  for (float value : x) largest = fmaxf(largest, fabsf(value));
  return largest;
}

// 8 bytes or a multiple of 16, to an address with the same alignment.
template <int n>
__device__ void store_words(unsigned char* to, const unsigned (&from)[n]) {
  static_assert(n == 2 || n % 4 == 0);
  if constexpr (n == 2) {
    *reinterpret_cast<uint2*>(to) = make_uint2(from[0], from[1]);
  } else {
#pragma unroll
    for (int i = 0; i < n; i += 4)
      *reinterpret_cast<uint4*>(to + 4 * i) = make_uint4(from[i], from[i + 1], from[i + 2], from[i + 3]);
  }
}

}  // namespace ladder::rung_09
