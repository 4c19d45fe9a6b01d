// What a tensor core computes: D = A · B + C for the small matrices of one instruction, held here as plain
// arrays. From a warp's registers to these and back: mma.cc, wmma.cc.
//
// What the PTX ISA says of floating-point types: products are exact to at least f32, they are added with at
// least f32; the order, the rounding and subnormal inputs are unspecified. Integers, bits and f64 (a chain of
// fused multiply-adds) are specified and exact.
//
// What is modelled here is what was measured on such GPUs (Fasi, Higham, Mikaitis, Pranesh, "Numerical
// behavior of NVIDIA tensor cores", 2021; Xie, Wang, Yang, Yang, "MMA-Sim", 2025): the exact products of a
// block of terms and the accumulator are aligned to the largest exponent among them, cut to a number of
// fractional bits below it, added without loss, and the sum is rounded once, toward zero to f32 or to nearest
// even to f16. The blocks of one instruction follow one another. An exponent is that of the encoded factors:
// that of a product is the sum of its factors', whatever their significands multiply to. An H200 gives the
// same bits in all of tests/programs/tensor_cores.cu, tensor_cores_hopper.cu and wmma.cu.
//
// wgmma adds all terms of an instruction at once. Of 8-bit factors it keeps 13 bits, of the aligned terms and
// of the sum ("MMA-Sim"); mma converts such factors to f16 first.
//
// A kernel may rely on none of this. What it may rely on, on every generation, tests/mma_test.cc states:
// whole numbers are exact while the sizes of the terms add up to less than 2^24, and the error has a bound.
#pragma once

#include <cstdint>

namespace simulator {

// How a generation adds.
struct TensorCore {
  int fraction;     // bits below the largest exponent that are kept
  int block_bytes;  // of one row of A that are added at a time: 8 or 16 values of 16 bits
};
const TensorCore& tensor_core();  // of the device that is simulated

constexpr int most_deep = 64;  // the largest k of values; more only as bits

// A (across = 16, its rows) or B (8, its columns), by k. Finite, exact values of the element type.
template <int across>
struct Factors {
  alignas(64) float value[most_deep][across];
  alignas(64) int16_t exponent[most_deep][across];  // see measure()
};
// The accumulators of 16 rows and 8 columns as a warp's registers hold them: register r of lane 4g + t is row
// g + 8 · (r div 2), column 2t + r mod 2.
struct Accumulators {
  alignas(64) float value[4][32];
};
// A and B as the lanes of an accumulator meet them. By k; of A rows 0 to 7 or 8 to 15, of B even or odd
// columns. Lanes of B repeat after 4.
struct RowsByLane {
  alignas(64) float value[most_deep][2][32];
  alignas(64) int16_t exponent[most_deep][2][32];
};
struct ColumnsByLane {
  alignas(64) float value[most_deep][2][16];
  alignas(64) int16_t exponent[most_deep][2][32];
};
// The exponent of an element that is not there: sparse matrices. It meets nothing, not even infinity.
constexpr int16_t of_absent = -16000;

// Sets the exponents of the first k: lowest is the element type's smallest, that of its subnormals.
template <int across>
void measure(Factors<across>& factors, int k, int lowest);

void by_lane(const Factors<16>& factors, int k, RowsByLane& to);
void by_lane(const Factors<8>& factors, int k, ColumnsByLane& to);

// c += a · b, terms at a time (4, 8, 16, 32 or 64; k is a multiple). half: c and the result are f16 values.
void multiply_add(const RowsByLane& a, const ColumnsByLane& b, int k, int terms, int fraction, bool half,
                  Accumulators& c);
// The sums of products of small integers, exact.
void multiply_integers(const Factors<16>& a, const Factors<8>& b, int k, int32_t sum[8][16]);

}  // namespace simulator
