#include "common/benchmarks/memory/block.h"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "common/harness/base/failure.h"

namespace ladder::memory {
namespace {

constexpr std::size_t page = 4096;  // bytes, the host's

// Elsewhere a launch moves all managed memory at once, and there are no faults to measure.
void require_page_faults() {
  int device = 0, faults = 0;
  check(cudaGetDevice(&device), "getting the device");
  check(cudaDeviceGetAttribute(&faults, cudaDevAttrConcurrentManagedAccess, device), "querying page faults");
  if (!faults)
    throw Failure(Exit::cannot_run, "managed memory has no page faults here (concurrentManagedAccess is 0)");
}

}  // namespace

Block::Block(Kind kind, std::size_t bytes) : kind_(kind), bytes_(bytes) {
  switch (kind) {
    case Kind::pageable:
      host_ = std::aligned_alloc(page, (bytes + page - 1) / page * page);
      if (!host_) throw std::bad_alloc();
      std::memset(host_, 0, bytes);  // else its pages do not exist yet, and the first sample pays for that
      break;
    case Kind::pinned:
      check(cudaHostAlloc(&host_, bytes, cudaHostAllocDefault), "allocating pinned memory");
      break;
    case Kind::mapped:
      check(cudaHostAlloc(&host_, bytes, cudaHostAllocMapped), "allocating mapped memory");
      check(cudaHostGetDevicePointer(&device_, host_, 0), "mapping host memory");
      break;
    case Kind::managed:
      require_page_faults();
      check(cudaMallocManaged(&device_, bytes, cudaMemAttachGlobal), "allocating managed memory");
      host_ = device_;
      break;
    case Kind::device:
      check(cudaMalloc(&device_, bytes), "allocating device memory");
      break;
  }
}

Block::~Block() {
  if (kind_ == Kind::pageable)
    std::free(host_);
  else if (kind_ == Kind::pinned || kind_ == Kind::mapped)
    cudaFreeHost(host_);
  else
    cudaFree(device_);
}

Numbers numbers(std::size_t bytes) {
  Numbers all(bytes / sizeof(std::uint16_t));
  std::uint32_t state = 1;
  for (std::uint16_t& bits : all) {
    state = state * 1664525 + 1013904223;
    bits = std::uint16_t((state >> 31 << 15) | 0x3F00 | (state >> 16 & 0xFF));  // sign; exponent and fraction
  }
  return all;
}

bool equal(const void* found, const Numbers& expected) {
  return std::memcmp(found, expected.data(), expected.size() * sizeof expected[0]) == 0;
}

bool halved(const void* found, const Numbers& whole) {
  constexpr std::uint16_t exponent = 0x80;  // less by one
  const auto* const bits = static_cast<const std::uint16_t*>(found);
  bool all = true;
  for (std::size_t i = 0; i < whole.size(); ++i) all &= bits[i] == whole[i] - exponent;
  return all;
}

}  // namespace ladder::memory
