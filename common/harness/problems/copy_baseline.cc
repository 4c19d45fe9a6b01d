#include "common/harness/problems/copy_baseline.h"

#include <cuda_runtime_api.h>

#include <memory>

#include "common/harness/backend/device_buffer.h"

namespace ladder {

std::vector<Contender> copy_of(std::uint64_t bytes, std::size_t sets) {
  struct Pair {
    GuardedBuffer from, to;
  };
  auto pairs = std::make_shared<std::vector<Pair>>();
  constexpr std::uint64_t granule = 65536 / sizeof(__nv_bfloat16);
  std::uint64_t elements = bytes / 2 / sizeof(__nv_bfloat16);
  if (elements > 64 * granule) elements -= elements % granule;
  for (std::size_t i = 0; i < sets; ++i) {
    pairs->push_back({GuardedBuffer("the copy's source", GuardedBuffer::Kind::input, elements),
                      GuardedBuffer("the copy's target", GuardedBuffer::Kind::output, elements)});
    fill(pairs->back().from, {Distribution::Kind::normal}, i);
  }
  return {{"copy", [=](int set, cudaStream_t stream) {
             const Pair& pair = (*pairs)[set];
             return cudaMemcpyAsync(pair.to.data(), pair.from.data(), elements * sizeof(__nv_bfloat16),
                                    cudaMemcpyDeviceToDevice, stream);
           }}};
}

}  // namespace ladder
