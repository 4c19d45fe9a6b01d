// The rung's kernel with a sparse A: two of every four elements along k.
#include "06_swizzle_ldmatrix/typed.cuh"

namespace ladder::rung_06 {

// B's fragments are twice as long: there are no registers for a second set. The last row of mmas runs as the
// next step's first one does, so that what is loaded in its course has a row's time to arrive.
Variant<Gemm> gemm_bf16_sparse() {
  return typed<OfSparseBf16, Tricks{.fragments = Fragments::in_place, .serpentine = false}>(
      Precision::bf16_sparse, "bf16_sparse", "two of every four elements of A, and where they were");
}

}  // namespace ladder::rung_06
