#include "common/harness/device_buffer.h"

#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "common/harness/failure.h"
#include "common/harness/verify.h"

namespace ladder {

GuardedBuffer::GuardedBuffer(std::string name, Kind kind, std::uint64_t count)
    : name_(std::move(name)), pattern_(kind == Kind::input ? 0xFF : 0xA5), count_(count) {
  const std::uint64_t bytes = count * sizeof(__nv_bfloat16) + 2 * guard_bytes;
  const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&allocation_), bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Failure(Exit::cannot_run,
                  "GPU memory exhausted: no " + std::to_string(bytes >> 20) + " MiB left for " + name_);
  }
  check(error, "allocating " + name_);
  check(cudaMemset(allocation_, pattern_, bytes), "filling the guard zones of " + name_);
}

GuardedBuffer::~GuardedBuffer() {
  cudaFree(allocation_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : name_(std::move(other.name_)),
      pattern_(other.pattern_),
      count_(other.count_),
      allocation_(std::exchange(other.allocation_, nullptr)) {}

__nv_bfloat16* GuardedBuffer::data() const {
  return reinterpret_cast<__nv_bfloat16*>(allocation_ + guard_bytes);
}

void GuardedBuffer::poison() const {
  check(cudaMemset(data(), 0xFF, count_ * sizeof(__nv_bfloat16)), "poisoning " + name_);
}

std::string GuardedBuffer::damage() const {
  std::vector<unsigned char> zone(guard_bytes);
  const unsigned char* after = allocation_ + guard_bytes + count_ * sizeof(__nv_bfloat16);
  for (const auto& [from, where] :
       {std::pair<const unsigned char*, const char*>{allocation_, "before the start"},
        {after, "past the end"}}) {
    check(cudaMemcpy(zone.data(), from, guard_bytes, cudaMemcpyDeviceToHost),
          "reading the guard zones of " + name_);
    if (const auto bytes = count_overwritten(zone, pattern_); bytes > 0)
      return std::to_string(bytes) + " bytes written " + where + " of " + name_;
  }
  return {};
}

void GuardedBuffer::copy_to_host(std::uint64_t first, std::span<__nv_bfloat16> to) const {
  check(cudaMemcpy(to.data(), data() + first, to.size_bytes(), cudaMemcpyDeviceToHost),
        "copying " + name_ + " to the host");
}

void GuardedBuffer::copy_from_host(std::span<const __nv_bfloat16> from) const {
  check(cudaMemcpy(data(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice),
        "copying " + name_ + " to the GPU");
}

}  // namespace ladder
