// The harness on a GPU.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <fstream>
#include <stdexcept>

#include "common/harness/backend/device.h"
#include "common/harness/backend/partly_backed.h"
#include "common/harness/backend/system.h"

namespace ladder {

DeviceKind device_kind() {
  return DeviceKind::gpu;
}

std::uint64_t guard_zone_bytes() {
  return 1 << 16;
}

void name_memory(const void*, const std::string&) {}

static std::string cublas_version() {  // "13.1.0"
  int major = 0, minor = 0, patch = 0;
  cublasGetProperty(MAJOR_VERSION, &major);
  cublasGetProperty(MINOR_VERSION, &minor);
  cublasGetProperty(PATCH_LEVEL, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// "580.159.04" from the kernel module; the CUDA version it supports where that is hidden.
static std::string driver_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  if (file >> version) return version;
  int supported = 0;
  cudaDriverGetVersion(&supported);
  return "for CUDA " + cuda_version_text(supported);
}

Platform platform() {
  return {.driver = driver_version(), .cublas = cublas_version(), .checks = {}, .schedule_seed = {}};
}

Counters count(const std::function<void()>&, bool) {
  throw std::logic_error("a GPU does not count for its programs");
}

void run_few_ctas(int) {
  throw std::logic_error("a GPU runs all CTAs");
}

PartlyBacked::PartlyBacked(const char*, std::uint64_t, std::span<const __nv_bfloat16>) {
  throw std::logic_error("a GPU has all of its memory");
}
PartlyBacked::~PartlyBacked() = default;
__nv_bfloat16* PartlyBacked::data() const {
  return nullptr;
}
void PartlyBacked::for_each_written(const See&) const {}

}  // namespace ladder
