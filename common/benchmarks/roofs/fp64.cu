#include "common/benchmarks/roofs/fp64.h"
#include "common/ptx/mma.cuh"

namespace ladder {
namespace {

constexpr int threads = 256, products = 8, steps = 2048;  // independent accumulators, and turns of the loop

template <Fp64Mma mma>
__global__ void __launch_bounds__(threads) fp64_kernel(const __nv_bfloat16* random, float* out) {
  constexpr int sums = mma == Fp64Mma::m8n8k4 ? 2 : 4;
  const double a[2] = {__bfloat162float(random[threadIdx.x]),
                       __bfloat162float(random[threadIdx.x + threads])};
  const double b = __bfloat162float(random[2 * threads - 1 - threadIdx.x]);
  double sum[products][sums] = {};
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int p = 0; p < products; ++p)
      if constexpr (mma == Fp64Mma::m8n8k4)
        ptx::mma_m8n8k4_f64(sum[p], a[0], b);
      else
        ptx::mma_m16n8k4_f64(sum[p], a, b);
  double total = 0;
#pragma unroll
  for (int p = 0; p < products; ++p)
#pragma unroll
    for (int i = 0; i < sums; ++i) total += sum[p][i];
  out[blockIdx.x * threads + threadIdx.x] = float(total);
}

}  // namespace

double fp64_operations(Fp64Mma mma, int sms) {
  const double of_one = mma == Fp64Mma::m8n8k4 ? 2.0 * 8 * 8 * 4 : 2.0 * 16 * 8 * 4;
  return of_one * products * steps * (threads / 32) * sms;
}

cudaError_t launch_fp64(Fp64Mma mma, const __nv_bfloat16* random, float* out, int sms, cudaStream_t stream) {
  if (mma == Fp64Mma::m8n8k4)
    fp64_kernel<Fp64Mma::m8n8k4><<<sms, threads, 0, stream>>>(random, out);
  else
    fp64_kernel<Fp64Mma::m16n8k4><<<sms, threads, 0, stream>>>(random, out);
  return cudaGetLastError();
}

}  // namespace ladder
