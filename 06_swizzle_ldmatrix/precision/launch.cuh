// Launches the kernel, with as many CTAs, stages and deferred rows of C as a GPU has room for.
#pragma once

#include <algorithm>

#include "06_swizzle_ldmatrix/precision/gemm.cuh"

namespace ladder::rung_06 {
namespace {

int attribute(cudaDeviceAttr which) {  // of this GPU
  int device = 0, value = 0;
  if (cudaGetDevice(&device) == cudaSuccess) cudaDeviceGetAttribute(&value, which, device);
  return value;
}

// What a CTA may have of shared memory: 163 KiB and more on GPUs for data centres, 99 KiB on others.
int most_shared_bytes() {
  return attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

// A CTA per SM: registers and shared memory leave no room for two. Shared memory is for the ring buffer
// first, and what is left of it for rows of C, if there is a tile after a CTA's first.
template <class C>
cudaError_t launch_config(const Product<typename C::Type>& p, cudaStream_t stream) {
  const TileOrder<8> order(ceil_div(p.m, C::block_m), ceil_div(p.n, C::block_n));
  const int ctas = std::min(order.tiles, attribute(cudaDevAttrMultiProcessorCount));
  int bytes = C::shared_bytes, deferred = 0;
  if (C::epilogue.stores_later && ctas < order.tiles) {
    constexpr int of_8_rows = C::threads * 2 * chunk_bytes;
    deferred = std::min(C::warp_m / 8, (most_shared_bytes() - bytes) / of_8_rows);
    bytes += deferred * of_8_rows;
  }
  const auto kernel = gemm_kernel<C>;
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<ctas, C::threads, bytes, stream>>>(p, order, deferred);
  return cudaGetLastError();
}

// Three stages where they fit, else two.
template <class Type, Epilogue epilogue = Epilogue{}>
cudaError_t launch(const Product<Type>& p, cudaStream_t stream) {
  if (Config<Type, epilogue, 3>::shared_bytes <= most_shared_bytes())
    return launch_config<Config<Type, epilogue, 3>>(p, stream);
  return launch_config<Config<Type, epilogue, 2>>(p, stream);
}

}  // namespace
}  // namespace ladder::rung_06
