// Copying and filling memory, checked against the allocations. Called with runtime_mutex() held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/simulator/context/cuda_api.h"

namespace simulator {

// depth slices of height rows of width bytes.
struct CopyBox {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  size_t width = 0, height = 1, depth = 1;
  size_t to_pitch = 0, from_pitch = 0;  // bytes from row to row
  size_t to_slice = 0, from_slice = 0;  // bytes from slice to slice
  cudaMemcpyKind kind = cudaMemcpyDefault;

  CopyBox() = default;
  CopyBox(void* to_, const void* from_, size_t bytes, cudaMemcpyKind kind_)
      : to(static_cast<std::byte*>(to_)),
        from(static_cast<const std::byte*>(from_)),
        width(bytes),
        kind(kind_) {}
};

struct FillBox {
  std::byte* to = nullptr;
  uint32_t value = 0;
  size_t element = 1;                       // bytes of `value` that are repeated: 1, 2 or 4
  size_t width = 0, height = 1, depth = 1;  // width in bytes
  size_t pitch = 0, slice = 0;
};

// cudaErrorInvalidMemcpyDirection, cudaErrorInvalidPitchValue, cudaErrorInvalidValue: outside an allocation,
// freed, a host pointer where the device's is called for.
cudaError_t check(const CopyBox& box);
cudaError_t check(const FillBox& box);

// Checks and runs. What was never written stays so in the copy.
cudaError_t run(const CopyBox& box);
cudaError_t run(const FillBox& box);

// Submits to a stream, or runs as a synchronous call on the legacy stream.
cudaError_t submit_copy(const CopyBox& box, cudaStream_t stream);
cudaError_t submit_fill(const FillBox& box, cudaStream_t stream);
cudaError_t copy_now(const CopyBox& box);
cudaError_t fill_now(const FillBox& box);

}  // namespace simulator
