// The kernel with a sparse A: two of every four elements along k.
#include "06_swizzle_ldmatrix/precision/typed.cuh"

namespace ladder::rung_06 {

Variants<Gemm> sparse() {
  return {{.name = "bf16_sparse",
           .what = "2:4 sparse A: two of every four elements, and their positions",
           .unsupported = whole_vectors<OfSparseBf16>,
           .launch = launch_typed<OfSparseBf16>,
           .extension = &typed<OfSparseBf16, Precision::bf16_sparse>}};
}

}  // namespace ladder::rung_06
