// Starts the rung's kernel: how many CTAs, pipeline stages and stores that wait a GPU has room for.
#pragma once

#include <algorithm>

#include "06_swizzle_ldmatrix/gemm.cuh"

namespace ladder::rung_06 {
namespace {

// A CTA on each: registers and shared memory leave no room for two.
cudaError_t count_sms(int* sms) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  return error != cudaSuccess ? error : cudaDeviceGetAttribute(sms, cudaDevAttrMultiProcessorCount, device);
}

// What a CTA may have of shared memory: 163 KiB and more on GPUs for data centres, 99 KiB on others.
int most_shared_bytes() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) == cudaSuccess)
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes;
}

// Shared memory is first for the ring, and what is left for stores that wait, if there is a tile after a
// CTA's first.
template <class C, class Parameters>
cudaError_t launch_config(const Parameters& p, cudaStream_t stream) {
  int sms = 0;
  cudaError_t error = count_sms(&sms);
  if (error != cudaSuccess) return error;
  const Order<C::tricks.group> order(ceil_div(p.m, C::block_m), ceil_div(p.n, C::block_n));
  const int ctas = C::tricks.persistent ? std::min(order.tiles, sms) : order.tiles;
  int bytes = C::shared_bytes, deferred = 0;
  if (C::defers && ctas < order.tiles) {
    constexpr int of_8_rows = C::threads * 2 * chunk_bytes;
    deferred = std::min(C::warp_m / 8, (most_shared_bytes() - bytes) / of_8_rows);
    bytes += deferred * of_8_rows;
  }
  const auto kernel = gemm_kernel<C, Parameters>;
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<ctas, C::threads, bytes, stream>>>(p, order, deferred);
  return cudaGetLastError();
}

// Why two stages do not fit; empty where they do.
template <class C>
std::string too_little_shared() {
  if (C::shared_bytes <= most_shared_bytes()) return {};
  return "two stages take " + std::to_string(C::shared_bytes) + " bytes of shared memory; this GPU has " +
         std::to_string(most_shared_bytes()) + " for a CTA";
}

// Three stages where they fit, else two.
template <class Type, Tricks tricks, class Parameters = Product<Type>>
cudaError_t launch(const Parameters& p, cudaStream_t stream) {
  if (Config<Type, tricks, 3>::shared_bytes <= most_shared_bytes())
    return launch_config<Config<Type, tricks, 3>>(p, stream);
  return launch_config<Config<Type, tricks, 2>>(p, stream);
}

}  // namespace
}  // namespace ladder::rung_06
