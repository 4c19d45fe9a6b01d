#include "00_naive/variants.h"

namespace ladder {

const Rung& rung() {
  static const Rung r{
      .name = "00_naive",
      .title = "one thread per output, the wrong way round",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {{"naive", "one thread per element of C, threadIdx.x along m", any_shape, rung_00::gemm}},
      .fused_norm = {{"naive", "one thread per row", any_shape, rung_00::fused_norm}},
  };
  return r;
}

}  // namespace ladder
