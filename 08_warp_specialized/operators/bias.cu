// A linear layer's bias and activation as variants: bias.cuh.
#include "08_warp_specialized/operators/bias.cuh"
#include "common/extension.h"

namespace ladder::rung_08 {
namespace {

// An activation takes an SM some 4000 cycles for a tile of 128x256. In ping-pong one consumer could compute
// it while the other multiplies, but on an H100 at its power limit that was slower: its tiles are smaller.
template <class Function>
cudaError_t launch(const Linear& p, cudaStream_t stream) {
  const Gemm product{p.m, p.n, p.k, p.a, p.b, p.c};
  return general::launch<general::tile_128x256, WithBias<Function>>(product, stream, {p.bias}, false);
}

constexpr Extension<Linear> adds_bias{.epilogue = Epilogue::bias};
constexpr Extension<Linear> computes_gelu{.epilogue = Epilogue::gelu};
constexpr Extension<Linear> computes_silu{.epilogue = Epilogue::silu};

}  // namespace

Variants<Linear> linear_bias() {
  return {{.name = "bias",
           .what = "A·B + bias",
           .unsupported = general::rows_of_vectors<Linear>,
           .launch = launch<Identity>,
           .extension = &adds_bias},
          {.name = "gelu",
           .what = "gelu(A·B + bias), the tanh form",
           .unsupported = general::rows_of_vectors<Linear>,
           .launch = launch<Gelu>,
           .extension = &computes_gelu},
          {.name = "silu",
           .what = "silu(A·B + bias)",
           .unsupported = general::rows_of_vectors<Linear>,
           .launch = launch<Silu>,
           .extension = &computes_silu}};
}

}  // namespace ladder::rung_08
