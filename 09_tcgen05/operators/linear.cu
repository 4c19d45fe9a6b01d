// A product with an epilogue: C = f(A·B + bias), or f(A·Gate) ⊙ (A·B) in one pass over A.
#include "09_tcgen05/launch.h"
#include "09_tcgen05/operators/activation.cuh"
#include "09_tcgen05/operators/kernel.cuh"
#include "common/extension.h"

namespace ladder::rung_09 {
namespace {

struct Operands {
  CUtensorMap a{}, weights[2]{}, c{};  // weights: B, Gate
  int m, n, tiles_k;
  const __nv_bfloat16* bias;
};

// f(product + bias). All threads read the same 16 bytes of bias at a time, and n is a multiple of 8.
template <class Function>
struct Bias {
  const Operands& p;

  __device__ Bias(const Operands& operands, int) : p(operands) {}
  __device__ void load(TensorAddress) const {}
  __device__ void operator()(float (&values)[2][32], int col) const {
    const Function function;
#pragma unroll
    for (int i = 0; i < 64; i += 8) {
      uint4 bits = make_uint4(0, 0, 0, 0);
      if (col + i < p.n) bits = __ldg(reinterpret_cast<const uint4*>(p.bias + col + i));
      const auto* const bias = reinterpret_cast<const __nv_bfloat162*>(&bits);
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        const float2 pair = __bfloat1622float2(bias[j / 2]);
        float* const at = &values[i / 32][i % 32 + j];
        at[0] = function(at[0] + pair.x);
        at[1] = function(at[1] + pair.y);
      }
    }
  }
};

// f(product with Gate) * product with B.
template <class Function>
struct Gated {
  float gates[2][32];

  __device__ Gated(const Operands&, int) {}
  __device__ void load(TensorAddress from) {
    ptx::tcgen05_load(gates[0], from + Config<true>::tile_n);
    ptx::tcgen05_load(gates[1], from + Config<true>::tile_n + 32);
    ptx::tcgen05_wait_load(gates);
  }
  __device__ void operator()(float (&values)[2][32], int) const {
    const Function function;
#pragma unroll
    for (int i = 0; i < 64; ++i) values[i / 32][i % 32] *= function(gates[i / 32][i % 32]);
  }
};

template <bool gated, class Function>
cudaError_t launch(const Linear& p, cudaStream_t stream) {
  using C = Config<gated>;
  using Finish = std::conditional_t<gated, Gated<Function>, Bias<Function>>;
  Operands operands{};
  operands.m = p.m;
  operands.n = p.n;
  operands.tiles_k = ceil_div(p.k, C::block_k);
  operands.bias = p.bias;
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error = ptx::make_tensor_map(&operands.a, p.a, p.m, p.k, C::block_m, C::box_cols, swizzle);
  for (int i = 0; i <= int(gated) && error == cudaSuccess; ++i)
    error = ptx::make_tensor_map(&operands.weights[i], i == 0 ? p.b : p.gate, p.k, p.n, C::block_k,
                                 C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.m, p.n, warp_size, C::box_cols, swizzle);
  if (error != cudaSuccess) return error;
  return launch_tiles<C>(fused_kernel<C, Finish, Operands>, operands, stream);
}

Text rows_of_vectors(const Linear& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

template <Epilogue epilogue, class Function>
Variant<Linear> variant(const char* name, const char* what) {
  static constexpr Extension<Linear> extension{.epilogue = epilogue};
  return {.name = name,
          .what = what,
          .unsupported = rows_of_vectors,
          .launch = launch<is_gated(epilogue), Function>,
          .extension = &extension};
}

}  // namespace

Variants<Linear> linear() {
  return {variant<Epilogue::bias, Identity>("bias", "A·B + bias"),
          variant<Epilogue::gelu, Gelu>("gelu", "gelu(A·B + bias), the tanh form"),
          variant<Epilogue::silu, Silu>("silu", "silu(A·B + bias)"),
          variant<Epilogue::geglu, Gelu>("geglu", "gelu(A·Gate) ⊙ (A·B), one pass over A"),
          variant<Epilogue::swiglu, Silu>("swiglu", "silu(A·Gate) ⊙ (A·B), one pass over A")};
}

}  // namespace ladder::rung_09
