// A product with an epilogue: C = f(A·B + bias), or f(A·Gate) ⊙ (A·B) in one pass over A.
#include "09_tcgen05/launch.h"
#include "09_tcgen05/operators/activation.cuh"
#include "09_tcgen05/operators/kernel.cuh"

namespace ladder::rung_09 {
namespace {

template <bool gated, class Function>
cudaError_t launch(const Linear& p, cudaStream_t stream) {
  using C = Config<gated>;
  const auto kernel = linear_kernel<C, Function>;
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
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;

  const Launch config(ceil_div(p.m, C::tile_m) * ceil_div(p.n, C::tile_n), C::ctas, C::threads,
                      C::shared_bytes, stream);
  return cudaLaunchKernelEx(&config.config, kernel, operands);
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
