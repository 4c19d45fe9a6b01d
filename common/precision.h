// The precisions of a product: what factors are rounded to, accumulated in, and what C is stored as.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ladder {

// The types of numbers. tf32 is fp32 of which 10 bits of fraction count. s8 and s32 are whole numbers.
enum class Number { bf16, f16, tf32, fp32, fp64, s8, s32, e4m3, e5m2, e2m1 };

// What the factors of a product are rounded to. Most rungs know bf16 alone.
//
// Element x becomes s · q(x / s), computed in fp32: q has the number's type, and s is the scale that a block
// of neighbours along k shares. q rounds to nearest, ties to even (of tf32: away from zero, as the conversion
// that sm_80 has); past the largest it is the largest (in f16: infinity).
//   bf16, f16, tf32, fp32
//                no scales
//   fp64         q is x itself: no scales. More bits matter in the accumulator
//   f16_f16      f16, accumulated in f16 as well
//   s8           q is a whole number, at most ±127; s is 1/32 for all: one in 16 000 of N(0,1) is cut off. C
//                is the integer accumulator, without the scales
//   fp8          q is e4m3, at most ±448; there are no scales
//   fp8_e5m2     A is e5m2, at most ±57344, and B e4m3: the wider range where gradients are
//   fp8_e4m3_e5m2, fp8_e5m2_e5m2
//                the same the other way round; and both e5m2
//   fp8_tensor   q is e4m3, and all of A share a scale, and all of B: s is fp32, the largest |x| / 448 or,
//                where that is 0, 1. A NaN is never the largest, and stays NaN; an infinity makes s
//                infinite and everything NaN
//   fp8_block    q is e4m3, s is fp32, the largest |x| / 448: of 128 elements along k in a row of A, of 128
//                by 128 in B. The last blocks are smaller where k or n is not a multiple. Where s is 0, so
//                are they
//   mxfp8        q is e4m3; a block is 32 elements; s is the smallest power of two, from 2^-127 on, with
//                which none exceeds 448
//   nvfp4        q is e2m1, at most ±6; a block is 16, and all of a matrix share a scale t, fp32: its largest
//                |x| / 2688 (6 · 448) or, where that is 0, 1. s is t times the e4m3 nearest to the block's
//                largest |x| / 6 / t; where s is 0, so are they. An infinity makes all of it NaN. e2m1
//                has no NaN: what one becomes is unspecified
//   nvfp4_blocks the same without the matrix's scale: t is 1
//   bf16_s8, bf16_e4m3
//                A is bf16, and B, the weights, have 8 bits in memory: q is a whole number, at most ±127, or
//                e4m3. A column of B shares a scale: s is fp32, the largest |x| / 127 or / 448. Where it is
//                0, so are they. A NaN is never the largest, and becomes 0 in s8
//   bf16_sparse  A has two elements of every four along k at most: the two largest by |bf16(x)|, of equal
//                ones the first. The others are 0. B is bf16
enum class Precision {
  bf16,
  f16,
  f16_f16,
  tf32,
  fp32,
  fp64,
  s8,
  fp8,
  fp8_e5m2,
  fp8_e4m3_e5m2,
  fp8_e5m2_e5m2,
  fp8_tensor,
  fp8_block,
  mxfp8,
  nvfp4,
  nvfp4_blocks,
  bf16_s8,
  bf16_e4m3,
  bf16_sparse
};

// What a precision makes of a product.
struct Format {
  Number a, b;  // the elements of the factors
  int block;  // elements along k that share a scale, 0: none do, or the whole matrix (fp8_tensor), or columns
  Number sum;  // what products are accumulated in
  Number c;    // what accumulators are stored as
};

__host__ __device__ constexpr Format format_of(Precision precision) {
  switch (precision) {
    case Precision::f16:
      return {Number::f16, Number::f16, 0, Number::fp32, Number::f16};
    case Precision::f16_f16:
      return {Number::f16, Number::f16, 0, Number::f16, Number::f16};
    case Precision::tf32:
      return {Number::tf32, Number::tf32, 0, Number::fp32, Number::fp32};
    case Precision::fp32:
      return {Number::fp32, Number::fp32, 0, Number::fp32, Number::fp32};
    case Precision::fp64:
      return {Number::fp64, Number::fp64, 0, Number::fp64, Number::fp64};
    case Precision::s8:
      return {Number::s8, Number::s8, 0, Number::s32, Number::s32};
    case Precision::fp8:
    case Precision::fp8_tensor:
      return {Number::e4m3, Number::e4m3, 0, Number::fp32, Number::bf16};
    case Precision::fp8_e5m2:
      return {Number::e5m2, Number::e4m3, 0, Number::fp32, Number::bf16};
    case Precision::fp8_e4m3_e5m2:
      return {Number::e4m3, Number::e5m2, 0, Number::fp32, Number::bf16};
    case Precision::fp8_e5m2_e5m2:
      return {Number::e5m2, Number::e5m2, 0, Number::fp32, Number::bf16};
    case Precision::fp8_block:
      return {Number::e4m3, Number::e4m3, 128, Number::fp32, Number::bf16};
    case Precision::mxfp8:
      return {Number::e4m3, Number::e4m3, 32, Number::fp32, Number::bf16};
    case Precision::nvfp4:
    case Precision::nvfp4_blocks:
      return {Number::e2m1, Number::e2m1, 16, Number::fp32, Number::bf16};
    case Precision::bf16_s8:
      return {Number::bf16, Number::s8, 0, Number::fp32, Number::bf16};
    case Precision::bf16_e4m3:
      return {Number::bf16, Number::e4m3, 0, Number::fp32, Number::bf16};
    case Precision::bf16:
    case Precision::bf16_sparse:
      break;
  }
  return {Number::bf16, Number::bf16, 0, Number::fp32, Number::bf16};
}

// Whether B's columns have a scale each: B is converted to A's type on its way to the tensor core.
__host__ __device__ constexpr bool has_scaled_columns(Precision precision) {
  return precision == Precision::bf16_s8 || precision == Precision::bf16_e4m3;
}

// Of an element in memory.
__host__ __device__ constexpr int bits_of(Number number) {
  switch (number) {
    case Number::fp64:
      return 64;
    case Number::tf32:
    case Number::fp32:
    case Number::s32:
      return 32;
    case Number::bf16:
    case Number::f16:
      return 16;
    case Number::s8:
    case Number::e4m3:
    case Number::e5m2:
      return 8;
    case Number::e2m1:
      return 4;
  }
  return 0;
}

// The scales of fp8_block, fp32, of a matrix with k along its rows: A, the y of a norm, or B transposed. They
// lie as cublasLt reads them, too (cuBLAS, "1D and 2D block scaling for FP8").
struct BlockScales {
  static constexpr int block = 128;
  int lines;   // rows of A; of B transposed, blocks of 128 rows
  int blocks;  // along k; the last one may be shorter
  bool k_contiguous;

  // For each k-block the scales of all rows side by side: threads with neighbouring rows read neighbours.
  static __host__ __device__ constexpr BlockScales of_a(int rows, int k) {
    return {rows, (k - 1) / block + 1, false};
  }
  static __host__ __device__ constexpr BlockScales of_b(int columns, int k) {
    return {(columns - 1) / block + 1, (k - 1) / block + 1, true};
  }
  // From a k-block, or of B from a line, to the next: 16-byte accesses are aligned.
  __host__ __device__ constexpr int pitch() const { return ((k_contiguous ? blocks : lines) + 3) / 4 * 4; }
  __host__ __device__ constexpr std::size_t count() const {
    return std::size_t(k_contiguous ? lines : blocks) * pitch();
  }
  __host__ __device__ constexpr std::size_t at(int line, int of_block) const {
    return k_contiguous ? std::size_t(line) * pitch() + of_block : std::size_t(of_block) * pitch() + line;
  }
};

// A matrix [rows, cols] of fp8, fp8_block, mxfp8 or nvfp4 in memory: `elements`, row-major, and `scales`,
// both aligned to 256 bytes. cols is a multiple of the block, except in fp8_block, whose scales are
// BlockScales. The scale that all of a matrix share in nvfp4 is apart from these.
//
// Of the others a scale is a byte, and scales lie in tiles of 512 bytes: 128 rows by 4 blocks, as the tensor
// cores of rung 09 want them. From row r to r + 1 of a tile it is 16 bytes, but the tile is folded: rows 32
// to 63 lie 4 bytes on from rows 0 to 31, and so on. Tiles follow each other along the row. What of a row's
// last tile is past cols is 0; what is past the last row may be anything.
struct QuantisedLayout {
  int rows, cols;
  int bits, block;  // of an element; elements that share a scale, 0: none do

  __host__ __device__ constexpr QuantisedLayout(Precision precision, int rows_, int cols_)
      : rows(rows_), cols(cols_), bits(bits_of(format_of(precision).a)), block(format_of(precision).block) {}

  // Bytes from a row to the next: 16-byte accesses are aligned. Two 4-bit elements are a byte, the first in
  // its lower half.
  __host__ __device__ constexpr std::size_t pitch() const {
    return (std::size_t(cols) * bits / 8 + 15) / 16 * 16;
  }
  __host__ __device__ constexpr std::size_t element_bytes() const { return rows * pitch(); }
  __host__ __device__ constexpr bool fp32_scales() const { return block == BlockScales::block; }
  // Tiles of scales along a row and down a column.
  __host__ __device__ constexpr int tiles_across() const { return block ? (cols / block + 3) / 4 : 0; }
  __host__ __device__ constexpr int tiles_down() const { return (rows - 1) / 128 + 1; }
  __host__ __device__ constexpr std::size_t scale_bytes() const {
    if (fp32_scales()) return BlockScales::of_a(rows, cols).count() * sizeof(float);
    return std::size_t(tiles_down()) * tiles_across() * 512;
  }
  // Where the scale of a row's block is, in bytes.
  __host__ __device__ constexpr std::size_t scale_at(int row, int of_block) const {
    if (fp32_scales()) return BlockScales::of_a(rows, cols).at(row, of_block) * sizeof(float);
    return (std::size_t(row / 128) * tiles_across() + of_block / 4) * 512 + row % 32 * 16 +
           row % 128 / 32 * 4 + of_block % 4;
  }
};

}  // namespace ladder
