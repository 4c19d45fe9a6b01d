// The harness on a GPU.
#include <cuda_runtime_api.h>

#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>

#include "common/harness/backend/device.h"
#include "common/harness/backend/device_buffer.h"
#include "common/harness/backend/system.h"
#include "common/harness/base/failure.h"
#include "common/harness/problems/gemm/cublas.h"

namespace ladder {

DeviceKind device_kind() {
  return DeviceKind::gpu;
}

std::uint64_t guard_zone_bytes() {
  return 1 << 16;
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

std::vector<float> library_reference(const std::vector<Gemm>& gemms) {
  std::size_t elements = 0;
  for (const Gemm& p : gemms) elements += std::size_t(p.m) * std::size_t(p.n);
  std::vector<float> host(elements);
  const std::size_t bytes = host.size() * sizeof(float);
  float* device = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&device), bytes), "GPU memory for the reference");
  cublas_reference(gemms, device);
  const cudaError_t copied = cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost);
  cudaFree(device);
  check(copied, "copying the reference to the host");
  return host;
}

std::vector<double> library_reference(const Gemm& shape, const std::vector<float>& a,
                                      const std::vector<float>& b) {
  auto on_device = [](const char* name, const std::vector<float>& matrix) {
    const std::vector<double> wide(matrix.begin(), matrix.end());
    GuardedBuffer buffer(name, GuardedBuffer::Kind::input, wide.size(), sizeof(double));
    check(cudaMemcpy(buffer.as<void>(), wide.data(), buffer.bytes(), cudaMemcpyHostToDevice),
          "copying the reference's factors to the GPU");
    return buffer;
  };
  const GuardedBuffer wide_a = on_device("A in fp64", a), wide_b = on_device("B in fp64", b);
  std::vector<double> host(std::size_t(shape.m) * std::size_t(shape.n));
  const GuardedBuffer wide_c("C in fp64", GuardedBuffer::Kind::output, host.size(), sizeof(double));
  cublas_reference(shape, wide_a.as<double>(), wide_b.as<double>(), wide_c.as<double>());
  wide_c.copy_to_host(0, std::span(host));
  return host;
}

std::vector<Contender> baselines(const std::vector<Gemm>& sets, Precision precision) {
  return cublas_baselines(sets, precision);
}

std::vector<Contender> baselines(const std::vector<GroupedGemm>& sets, Precision) {
  return cublas_baselines(sets);
}

// One plain copy that reads and writes together as many bytes as a problem must move, less what is over a
// multiple of 64 KiB each way where that is little: cudaMemcpy is much slower for some ragged sizes, and the
// rival shall be at its best.
static std::vector<Contender> copy_of(std::uint64_t bytes, std::size_t sets) {
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

std::vector<Contender> baselines(const std::vector<FusedNorm>& sets, Precision precision) {
  return copy_of(footprint_bytes(sets[0], precision), sets.size());
}

std::vector<Contender> baselines(const std::vector<RowOperator>& sets, RowOperation operation) {
  return copy_of(compulsory_bytes(sets[0], operation), sets.size());
}

Counters count(const std::function<void()>&, bool) {
  throw std::logic_error("a GPU does not count for its programs");
}

}  // namespace ladder
