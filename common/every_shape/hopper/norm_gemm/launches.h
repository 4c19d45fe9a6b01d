// early_weights.cu, for norm_gemm.cu.
#pragma once

#include "common/extension.h"

namespace ladder {
namespace rung_08 {
struct NormOperands;
}
namespace every_shape {

cudaError_t launch_weights_first(const Gemm& p, cudaStream_t stream, const rung_08::NormOperands& norm);

}  // namespace every_shape
}  // namespace ladder
