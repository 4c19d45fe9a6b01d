// A product with an epilogue: C = f(A·B + bias), or f(A·Gate) ⊙ (A·B) in one pass over A. The function is
// applied to the accumulators in registers, before they are rounded.
#include <algorithm>

#include "06_swizzle_ldmatrix/operators/activation.cuh"
#include "06_swizzle_ldmatrix/operators/kernel.cuh"

namespace ladder::rung_06 {
namespace {

int attribute(cudaDeviceAttr which) {  // of this GPU
  int device = 0, value = 0;
  if (cudaGetDevice(&device) == cudaSuccess) cudaDeviceGetAttribute(&value, which, device);
  return value;
}

template <class C>
bool fits() {
  return C::shared_bytes <= attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

template <class C, class Function>
cudaError_t launch_config(const Linear& p, cudaStream_t stream) {
  const auto kernel = linear_kernel<C, Function>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const TileOrder<8> order(ceil_div(p.m, C::block_m), ceil_div(p.n, C::tile_n));
  const int ctas = std::min(order.tiles, attribute(cudaDevAttrMultiProcessorCount));
  kernel<<<ctas, C::threads, C::shared_bytes, stream>>>(p, order);
  return cudaGetLastError();
}

// Three stages where they fit, else two.
template <bool gated, class Function>
cudaError_t launch(const Linear& p, cudaStream_t stream) {
  return fits<Config<gated, 3>>() ? launch_config<Config<gated, 3>, Function>(p, stream)
                                  : launch_config<Config<gated, 2>, Function>(p, stream);
}

Text unsupported(const Linear& p) {
  if (p.n % 8 != 0 || p.k % 8 != 0) return "n and k must be multiples of 8";
  if (!fits<Config<false, 2>>()) return "two stages do not fit into the shared memory of this GPU";
  return {};
}

template <ladder::Epilogue epilogue, class Function>
Variant<Linear> variant(const char* name, const char* what) {
  static constexpr Extension<Linear> extension{.epilogue = epilogue};
  return {.name = name,
          .what = what,
          .unsupported = unsupported,
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

}  // namespace ladder::rung_06
