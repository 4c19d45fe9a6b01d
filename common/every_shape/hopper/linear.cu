// Rung 08's bias and activation, in the tile that the estimate takes for a shape.
#include "08_warp_specialized/operators/bias.cuh"
#include "common/every_shape/hopper/by_shape.cuh"
#include "common/extension.h"

namespace ladder::every_shape {
namespace {

using rung_08::Gelu, rung_08::Identity, rung_08::Silu, rung_08::WithBias;

template <class Function>
cudaError_t launch(const Linear& p, cudaStream_t stream) {
  const Gemm product{p.m, p.n, p.k, p.a, p.b, p.c};
  return launch_by_shape<WithBias<Function>, tile_64x64, tile_128x128, tile_128x256>(product, stream,
                                                                                     {p.bias});
}

constexpr Extension<Linear> adds_bias{.epilogue = Epilogue::bias};
constexpr Extension<Linear> computes_gelu{.epilogue = Epilogue::gelu};
constexpr Extension<Linear> computes_silu{.epilogue = Epilogue::silu};

}  // namespace

Variants<Linear> linear() {
  Variants<Linear> variants = {
      {.name = "bias", .what = "A·B + bias", .launch = launch<Identity>, .extension = &adds_bias},
      {.name = "gelu",
       .what = "gelu(A·B + bias), the tanh form",
       .launch = launch<Gelu>,
       .extension = &computes_gelu},
      {.name = "silu", .what = "silu(A·B + bias)", .launch = launch<Silu>, .extension = &computes_silu}};
  for (Variant<Linear>& variant : variants) variant.unsupported = general::rows_of_vectors<Linear>;
  return variants;
}

}  // namespace ladder::every_shape
