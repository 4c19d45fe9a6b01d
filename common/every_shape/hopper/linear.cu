// Rung 08's bias and activation, in the tile that the estimate takes for a shape.
#include "08_warp_specialized/operators/bias.cuh"
#include "common/every_shape/hopper/by_shape.cuh"
#include "common/extension.h"

namespace ladder::every_shape {
namespace {

using rung_08::Gelu, rung_08::Identity, rung_08::Silu, rung_08::WithBias;

template <class Function, Epilogue epilogue>
struct ByShape {
  static Gemm product(const Linear& p) { return {p.m, p.n, p.k, p.a, p.b, p.c}; }
  static cudaError_t launch(const Linear& p, cudaStream_t stream) {
    return launch_by_shape<WithBias<Function>, tile_64x64, tile_128x128, tile_128x256>(product(p), stream,
                                                                                       {p.bias});
  }
  static Text kernel(const Linear& p) {
    return kernel_by_shape<WithBias<Function>, tile_64x64, tile_128x128, tile_128x256>(product(p));
  }
  static constexpr Extension<Linear> extension{.kernel = kernel, .epilogue = epilogue};
};
using Bias = ByShape<Identity, Epilogue::bias>;
using WithGelu = ByShape<Gelu, Epilogue::gelu>;
using WithSilu = ByShape<Silu, Epilogue::silu>;

}  // namespace

Variants<Linear> linear() {
  Variants<Linear> variants = {
      {.name = "bias", .what = "A·B + bias", .launch = Bias::launch, .extension = &Bias::extension},
      {.name = "gelu",
       .what = "gelu(A·B + bias), the tanh form",
       .launch = WithGelu::launch,
       .extension = &WithGelu::extension},
      {.name = "silu",
       .what = "silu(A·B + bias)",
       .launch = WithSilu::launch,
       .extension = &WithSilu::extension}};
  for (Variant<Linear>& variant : variants) variant.unsupported = general::rows_of_vectors<Linear>;
  return variants;
}

}  // namespace ladder::every_shape
