#include <cuda_bf16.h>

#include "common/benchmarks/memory/pass.h"

namespace ladder::memory {
namespace {

constexpr int threads = 256;

// A vector for each thread: while one waits for the link, or for a page, others work.
__global__ void __launch_bounds__(threads) pass_kernel(uint4* vectors, std::size_t count) {
  const std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= count) return;
  uint4 bits = vectors[i];
  auto* const pairs = reinterpret_cast<__nv_bfloat162*>(&bits);
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const float2 whole = __bfloat1622float2(pairs[p]);
    pairs[p] = __floats2bfloat162_rn(0.5f * whole.x, 0.5f * whole.y);
  }
  vectors[i] = bits;
}

}  // namespace

cudaError_t launch_pass(void* vectors, std::size_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const auto ctas = unsigned((count + threads - 1) / threads);
  pass_kernel<<<ctas, threads, 0, stream>>>(static_cast<uint4*>(vectors), count);
  return cudaGetLastError();
}

}  // namespace ladder::memory
