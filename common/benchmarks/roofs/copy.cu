#include "common/benchmarks/roofs/copy.h"

namespace ladder {
namespace {

template <int depth>
__global__ void __launch_bounds__(copy_threads, depth == 8 ? 6 : 8)
    copy_kernel(const uint4* __restrict__ from, uint4* __restrict__ to, std::size_t count) {
  const std::size_t first = std::size_t(blockIdx.x) * depth * copy_threads + threadIdx.x;
  uint4 one[depth];  // all are on their way before the first is stored
#pragma unroll
  for (int d = 0; d < depth; ++d)
    if (first + d * copy_threads < count) one[d] = from[first + d * copy_threads];
#pragma unroll
  for (int d = 0; d < depth; ++d)
    if (first + d * copy_threads < count) to[first + d * copy_threads] = one[d];
}

}  // namespace

cudaError_t launch_copy(const void* from, void* to, std::size_t count, CopyInFlight way,
                        cudaStream_t stream) {
  const auto kernel = way.depth == 1   ? copy_kernel<1>
                      : way.depth == 2 ? copy_kernel<2>
                      : way.depth == 4 ? copy_kernel<4>
                      : way.depth == 8 ? copy_kernel<8>
                                       : nullptr;
  if (!kernel || way.ctas < 1) return cudaErrorInvalidValue;
  // Shared memory that is not used keeps further CTAs out. It is half of L1: what is in flight has the rest.
  constexpr int shared_kib = 132, own_kib = 1;
  const bool fewer = way.ctas < 8 && way.depth < 8;  // than the threads or the registers of an SM allow
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
  attribute.val.sharedMemCarveout = 56;  // per cent of L1
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned((count + way.depth * copy_threads - 1) / (way.depth * copy_threads));
  config.blockDim = copy_threads;
  if (fewer) config.dynamicSmemBytes = std::size_t(shared_kib / way.ctas - own_kib) * 1024;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = fewer;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(config.dynamicSmemBytes));
  if (error != cudaSuccess) return error;
  return cudaLaunchKernelEx(&config, kernel, static_cast<const uint4*>(from), static_cast<uint4*>(to), count);
}

}  // namespace ladder
