// Rounds A and B to s8, for dp4a: four neighbours along k side by side in both, so B is transposed.
#include "03_vectorized/precision/prepare.h"

namespace ladder::rung_03 {
namespace {

constexpr int threads = 256;
constexpr int most_k = 0x7FFFFFFF / (127 * 127);  // beyond, an accumulator may pass 2^31

__device__ int rounded(float x) {
  return max(-127, min(127, __float2int_rn(32 * x)));
}

// One thread for each value of a matrix of `rows` rows along k: from[row * row_step + k * k_step].
__global__ void __launch_bounds__(threads) pack_rows(const float* from, int* to, int rows, int values, int k,
                                                     std::size_t row_step, std::size_t k_step) {
  const std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= std::size_t(rows) * values) return;
  const int row = int(i / values), first = int(i % values) * 4;
  unsigned value = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (first + j < k)
      value |= (unsigned(rounded(from[row * row_step + (first + j) * k_step])) & 0xFFu) << 8 * j;
  to[i] = int(value);
}

unsigned grid(std::size_t count) {
  return unsigned((count + threads - 1) / threads);
}

}  // namespace

Text sums_in_s32(const Gemm& p) {
  if (p.k <= most_k) return {};
  return {"k must be at most ", most_k, ": beyond that an accumulator may pass 2^31"};
}

std::size_t packed_bytes(const Gemm& p) {
  return Packed(p).bytes;
}

cudaError_t pack_operands(const Gemm& p, cudaStream_t stream) {
  const Packed to(p);
  pack_rows<<<grid(std::size_t(p.m) * to.values), threads, 0, stream>>>(p.typed->a, to.a, p.m, to.values, p.k,
                                                                        p.k, 1);
  pack_rows<<<grid(std::size_t(p.n) * to.values), threads, 0, stream>>>(p.typed->b, to.b, p.n, to.values, p.k,
                                                                        1, p.n);
  return cudaGetLastError();
}

}  // namespace ladder::rung_03
