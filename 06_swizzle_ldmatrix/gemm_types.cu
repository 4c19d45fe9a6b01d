// The rung's kernel in the other types of Ampere's tensor cores.
#include "06_swizzle_ldmatrix/typed.cuh"

namespace ladder::rung_06 {
namespace {

// C is fp32 or s32, twice as long as others.
constexpr Tricks later{.stores_later = true};

// The largest k of which no sum passes 2^31.
constexpr int most_k_of_s8 = 0x7FFFFFFF / (127 * 127);

std::string sums_in_s32(const Gemm& p) {
  if (p.k <= most_k_of_s8) return whole_vectors<OfS8>(p);
  return "k must be at most " + std::to_string(most_k_of_s8) + ": longer sums may pass 2^31";
}

}  // namespace

Variant<Gemm> gemm_f16() {
  return typed<OfF16>(Precision::f16, "f16", "f16: three bits more than bf16, and numbers up to 65504");
}
Variant<Gemm> gemm_f16_f16() {
  return typed<OfF16InF16>(Precision::f16_f16, "f16_f16", "f16 added up in f16: half the registers of sums");
}
Variant<Gemm> gemm_tf32() {
  return typed<OfTf32, later>(Precision::tf32, "tf32",
                              "fp32 in memory, of which 10 bits of fraction are multiplied");
}
Variant<Gemm> gemm_s8() {
  return typed<OfS8, later>(Precision::s8, "s8", "whole numbers of 8 bits, exact sums of 32", sums_in_s32);
}
Variant<Gemm> gemm_s8_stores_at_once() {
  return typed<OfS8>(Precision::s8, "s8_stores_at_once",
                     "s8, whose tiles of C are stored before the next is begun", sums_in_s32);
}

}  // namespace ladder::rung_06
