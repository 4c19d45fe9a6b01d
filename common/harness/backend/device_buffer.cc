#include "common/harness/backend/device_buffer.h"

#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "common/harness/backend/device.h"
#include "common/harness/base/failure.h"
#include "common/harness/verify/verify.h"

namespace ladder {

GuardedBuffer::GuardedBuffer(std::string name, Kind kind, std::uint64_t count, std::size_t element_bytes)
    : name_(std::move(name)),
      pattern_(kind == Kind::input ? 0xFF : 0xA5),
      count_(count),
      element_bytes_(element_bytes),
      guard_(guard_zone_bytes()) {
  const std::uint64_t bytes = this->bytes() + 2 * guard_;
  const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&allocation_), bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Failure(Exit::cannot_run,
                  "GPU memory exhausted: no " + std::to_string(bytes >> 20) + " MiB left for " + name_);
  }
  check(error, "allocating " + name_);
  name_memory(allocation_, name_);
  check(cudaMemset(allocation_, pattern_, bytes), "filling the guard zones of " + name_);
}

GuardedBuffer::~GuardedBuffer() {
  cudaFree(allocation_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : name_(std::move(other.name_)),
      pattern_(other.pattern_),
      count_(other.count_),
      element_bytes_(other.element_bytes_),
      guard_(other.guard_),
      allocation_(std::exchange(other.allocation_, nullptr)) {}

void GuardedBuffer::poison(unsigned char pattern) const {
  check(cudaMemset(data(), pattern, bytes()), "poisoning " + name_);
}

std::string GuardedBuffer::damage() const {
  std::vector<unsigned char> zone(guard_);
  const unsigned char* after = allocation_ + guard_ + bytes();
  for (const auto& [from, where] :
       {std::pair<const unsigned char*, const char*>{allocation_, "before the start"},
        {after, "past the end"}}) {
    check(cudaMemcpy(zone.data(), from, guard_, cudaMemcpyDeviceToHost),
          "reading the guard zones of " + name_);
    if (const auto bytes = count_overwritten(zone, pattern_); bytes > 0)
      return std::to_string(bytes) + " bytes written " + where + " of " + name_;
  }
  return {};
}

void GuardedBuffer::write(std::span<const std::byte> from) const {
  check(cudaMemcpy(as<std::byte>(), from.data(), from.size(), cudaMemcpyHostToDevice),
        "copying " + name_ + " to the device");
}

void GuardedBuffer::read(std::uint64_t first_byte, std::span<std::byte> to) const {
  check(cudaMemcpy(to.data(), as<std::byte>() + first_byte, to.size(), cudaMemcpyDeviceToHost),
        "copying " + name_ + " to the host");
}

}  // namespace ladder
