// The kernel in the types of Ampere's tensor cores, and in bf16 with its stores deferred.
#include "06_swizzle_ldmatrix/precision/typed.cuh"

namespace ladder::rung_06 {
namespace {

// C is fp32 or s32, twice as many bytes as in other types: it pays to store it later.
constexpr Epilogue later{.stores_later = true};

cudaError_t launch_stores_later(const Gemm& p, cudaStream_t stream) {
  return launch<OfBf16, later>({p.m, p.n, p.k, p.a, p.b, p.c, nullptr}, stream);
}

// The largest k with which no accumulator passes 2^31.
constexpr int most_k_of_s8 = 0x7FFFFFFF / (127 * 127);

Text sums_in_s32(const Gemm& p) {
  if (p.k <= most_k_of_s8) return whole_vectors<OfS8>(p);
  return {"k must be at most ", most_k_of_s8, ": beyond that an accumulator may pass 2^31"};
}

}  // namespace

Variants<Gemm> precisions() {
  return {{.name = "stores_later",
           .what = "a tile of C is stored while the next is multiplied",
           .unsupported = whole_vectors<OfBf16>,
           .launch = launch_stores_later},
          {.name = "f16",
           .what = "f16: three bits more than bf16, numbers up to 65504",
           .unsupported = whole_vectors<OfF16>,
           .launch = launch_typed<OfF16>,
           .extension = &typed<OfF16, Precision::f16>},
          {.name = "f16_f16",
           .what = "f16 accumulated in f16: half the accumulator registers",
           .unsupported = whole_vectors<OfF16InF16>,
           .launch = launch_typed<OfF16InF16>,
           .extension = &typed<OfF16InF16, Precision::f16_f16>},
          {.name = "tf32",
           .what = "tf32: fp32 in memory, 10 bits of the fraction multiplied",
           .unsupported = whole_vectors<OfTf32>,
           .launch = launch_typed<OfTf32, later>,
           .extension = &typed<OfTf32, Precision::tf32>},
          {.name = "s8_stores_at_once",
           .what = "s8, a tile of C stored before the next is begun",
           .unsupported = sums_in_s32,
           .launch = launch_typed<OfS8>,
           .extension = &typed<OfS8, Precision::s8>},
          {.name = "s8",
           .what = "8-bit integers, accumulated exactly in 32 bits",
           .unsupported = sums_in_s32,
           .launch = launch_typed<OfS8, later>,
           .extension = &typed<OfS8, Precision::s8>}};
}

}  // namespace ladder::rung_06
