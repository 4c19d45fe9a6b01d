// C = f(A·B + bias): the general kernel of shapes/ with another epilogue. Bias and activation are applied to
// the accumulators in registers, before they are rounded: nothing is stored and read again in between. The
// loads of the next tile run meanwhile, as in the rung.
#include "08_warp_specialized/operators/activation.cuh"
#include "08_warp_specialized/shapes/kernel.cuh"
#include "common/extension.h"

namespace ladder::rung_08 {
namespace {

template <class Function>
struct WithBias : general::Bf16 {
  struct Parameters {
    const __nv_bfloat16* bias;
  };

  // By a warp: its 16 rows (of each 64) of a tile whose first column is col0. A thread has two neighbouring
  // columns of every 8, and n is a multiple of 8: both are inside or neither.
  template <class C>
  __device__ static void epilogue(general::Accumulator<C>& accumulator, const auto& scales,
                                  unsigned char (&boxes)[2][C::box_c], const typename C::Operands& p,
                                  int row0, int col0, int& next_box) {
    const Function function;
    const int first = col0 + threadIdx.x % 4 * 2;
    const auto* const bias = reinterpret_cast<const __nv_bfloat162*>(p.extra.bias + first);
#pragma unroll
    for (int j = 0; j < C::block_n / 8; ++j) {
      const float2 added = first + j * 8 < p.n ? __bfloat1622float2(__ldg(bias + j * 4)) : make_float2(0, 0);
#pragma unroll
      for (int i = 0; i < C::rows_each; ++i) {
#pragma unroll
        for (int half = 0; half < 4; half += 2) {  // of the thread's two rows, 8 apart
          float* const pair = &accumulator[i][j][half];
          pair[0] = function(pair[0] + added.x);
          pair[1] = function(pair[1] + added.y);
        }
      }
    }
    general::store<C>(accumulator, scales, boxes, p, row0, col0, next_box);
  }
};

template <class Function>
cudaError_t launch(const Linear& p, cudaStream_t stream) {
  using Policy = WithBias<Function>;
  int sms = 0;
  const cudaError_t error = general::count_sms(&sms);
  if (error != cudaSuccess) return error;
  const Gemm product{p.m, p.n, p.k, p.a, p.b, p.c};
  return general::fastest<Policy, general::tile_64x64, general::tile_128x128, general::tile_128x256>(product,
                                                                                                     sms)
      .launch(product, stream, {p.bias}, false);
}

std::string rows_of_vectors(const Linear& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8";
}

constexpr Extension<Linear> adds_bias{.epilogue = Epilogue::bias};
constexpr Extension<Linear> computes_gelu{.epilogue = Epilogue::gelu};
constexpr Extension<Linear> computes_silu{.epilogue = Epilogue::silu};

}  // namespace

Variants<Linear> linear_bias() {
  return {{.name = "bias",
           .what = "A·B + bias",
           .unsupported = rows_of_vectors,
           .launch = launch<Identity>,
           .extension = &adds_bias},
          {.name = "gelu",
           .what = "gelu(A·B + bias), the tanh form",
           .unsupported = rows_of_vectors,
           .launch = launch<Gelu>,
           .extension = &computes_gelu},
          {.name = "silu",
           .what = "silu(A·B + bias)",
           .unsupported = rows_of_vectors,
           .launch = launch<Silu>,
           .extension = &computes_silu}};
}

}  // namespace ladder::rung_08
