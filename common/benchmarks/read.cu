#include "common/benchmarks/read.h"
#include "common/ptx/streaming_access.cuh"

namespace ladder {
namespace {

template <int depth>
__global__ void __launch_bounds__(read_threads)
    read_kernel(const uint4* __restrict__ vectors, std::size_t count, unsigned* out) {
  const std::size_t threads = std::size_t(gridDim.x) * read_threads;
  const std::size_t thread = std::size_t(blockIdx.x) * read_threads + threadIdx.x;
  unsigned total = 0;
  for (std::size_t i = thread; i < count; i += depth * threads) {
    uint4 one[depth];  // all are on their way before the first is needed
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const std::size_t at = i + d * threads;
      one[d] = at < count ? ptx::load_past_l1(vectors + at) : uint4{};
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) total ^= one[d].x ^ one[d].y ^ one[d].z ^ one[d].w;
  }
  out[thread] = total;
}

}  // namespace

cudaError_t launch_read(const void* vectors, std::size_t count, unsigned* out, int sms, int depth,
                        cudaStream_t stream) {
  const auto kernel = depth == 1   ? read_kernel<1>
                      : depth == 2 ? read_kernel<2>
                      : depth == 4 ? read_kernel<4>
                      : depth == 8 ? read_kernel<8>
                                   : nullptr;
  if (!kernel) return cudaErrorInvalidValue;
  kernel<<<sms * read_ctas_per_sm, read_threads, 0, stream>>>(static_cast<const uint4*>(vectors), count, out);
  return cudaGetLastError();
}

}  // namespace ladder
