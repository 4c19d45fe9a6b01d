#include "common/benchmarks/roofs/wgmma.h"
#include "common/ptx/tma.cuh"
#include "common/ptx/wgmma_sparse.cuh"

namespace ladder {
namespace {

constexpr int warpgroups = 2, threads = warpgroups * 128;
constexpr int k_tiles = 512;  // of 64, one after the other
constexpr int stages = 4, row = 128, tile_a = 128 * row, tile_b = 256 * row;
constexpr int bytes = stages * (tile_a + tile_b);
static_assert(bytes == wgmma_elements * sizeof(__nv_bfloat16));

// The mainloop of a GEMM without its copies: m64n256k16 from shared memory, a CTA accumulates 128x256.
__global__ void __launch_bounds__(threads, 1) wgmma_kernel(const __nv_bfloat16* random, float* out) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (int i = threadIdx.x * 16; i < bytes; i += threads * 16)
    *reinterpret_cast<uint4*>(tiles + i) =
        *reinterpret_cast<const uint4*>(reinterpret_cast<const unsigned char*>(random) + i);
  ptx::fence_proxy_async();
  __syncthreads();

  const int warpgroup = __shfl_sync(~0u, int(threadIdx.x) / 128, 0);
  float sum[32][4];
#pragma unroll 1
  for (int t = 0; t < k_tiles; ++t) {
    const ptx::SharedAddress a = ptx::shared_address(tiles) + t % stages * (tile_a + tile_b);
    const ptx::MatrixDescriptor from_a(a + warpgroup * 64 * row, 0, 8 * row, ptx::Swizzle::bytes128);
    const ptx::MatrixDescriptor from_b(a + tile_a, 64 * row, 8 * row, ptx::Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step)
      ptx::wgmma_m64k16<ptx::Major::mn>(sum, from_a + step * 32, from_b + step * 16 * row, t > 0 || step > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(sum);
  float total = 0;
#pragma unroll
  for (int j = 0; j < 32; ++j) total += sum[j][0] + sum[j][1] + sum[j][2] + sum[j][3];
  out[blockIdx.x * threads + threadIdx.x] = total;
}

// The same with a sparse A, m64n256k32: of a k-tile of 128, A has half of the columns and B all rows, so two
// k-tiles fit. Two stored elements of four are as good as any other two.
constexpr int sparse_stages = 2, tile_b_sparse = 2 * tile_b;
constexpr int sparse_bytes = sparse_stages * (tile_a + tile_b_sparse);
static_assert(sparse_bytes <= bytes);
constexpr unsigned first_and_last_of_four = 0xCCCCCCCC;

__global__ void __launch_bounds__(threads, 1) wgmma_sp_kernel(const __nv_bfloat16* random, float* out) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (int i = threadIdx.x * 16; i < sparse_bytes; i += threads * 16)
    *reinterpret_cast<uint4*>(tiles + i) =
        *reinterpret_cast<const uint4*>(reinterpret_cast<const unsigned char*>(random) + i);
  ptx::fence_proxy_async();
  __syncthreads();

  const int warpgroup = __shfl_sync(~0u, int(threadIdx.x) / 128, 0);
  float sum[32][4] = {};
  ptx::keep_accumulators(sum);
#pragma unroll 1
  for (int t = 0; t < k_tiles; ++t) {
    const ptx::SharedAddress a = ptx::shared_address(tiles) + t % sparse_stages * (tile_a + tile_b_sparse);
    const ptx::MatrixDescriptor from_a(a + warpgroup * 64 * row, 0, 8 * row, ptx::Swizzle::bytes128);
    const ptx::MatrixDescriptor from_b(a + tile_a, 128 * row, 8 * row, ptx::Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < 4; ++step)
      ptx::wgmma_sp_m64k32<ptx::Major::mn, 0>(sum, from_a + step * 32, from_b + step * 32 * row,
                                              first_and_last_of_four);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(sum);
  float total = 0;
#pragma unroll
  for (int j = 0; j < 32; ++j) total += sum[j][0] + sum[j][1] + sum[j][2] + sum[j][3];
  out[blockIdx.x * threads + threadIdx.x] = total;
}

cudaError_t launch(void (*kernel)(const __nv_bfloat16*, float*), int shared_bytes,
                   const __nv_bfloat16* random, float* out, int sms, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  kernel<<<sms, threads, shared_bytes, stream>>>(random, out);
  return cudaGetLastError();
}

}  // namespace

double wgmma_operations(int sms) {
  return 2.0 * 128 * 256 * 64 * k_tiles * sms;
}

cudaError_t launch_wgmma(const __nv_bfloat16* random, float* out, int sms, cudaStream_t stream) {
  return launch(wgmma_kernel, bytes, random, out, sms, stream);
}

double wgmma_sp_operations(int sms) {
  return 2.0 * 128 * 256 * 128 * k_tiles * sms;
}

cudaError_t launch_wgmma_sp(const __nv_bfloat16* random, float* out, int sms, cudaStream_t stream) {
  return launch(wgmma_sp_kernel, sparse_bytes, random, out, sms, stream);
}

}  // namespace ladder
