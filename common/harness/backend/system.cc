#include "common/harness/backend/system.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <fstream>
#include <limits>

#include "common/harness/backend/device.h"
#include "common/harness/base/failure.h"
#include "ladder_revision.h"

namespace ladder {

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

namespace {

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes / (1 << 30));
  return text;
}

}  // namespace

System this_system() {
  const Platform below = platform();
  int device = 0, runtime = 0;
  cudaDeviceProp properties{};
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaFree(nullptr);  // creates the context: a device that is not usable reports it here
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) {
    int supported = 0;
    const bool no_driver = error == cudaErrorInsufficientDriver &&
                           cudaDriverGetVersion(&supported) == cudaSuccess && supported == 0;
    throw Failure(Exit::cannot_run,
                  std::string("no usable CUDA GPU: ") +
                      (no_driver ? "no NVIDIA driver is loaded" : cudaGetErrorString(error)));
  }
  check(cudaRuntimeGetVersion(&runtime), "reading the runtime's version");

  System m;
  m.device = properties.name;
  m.driver = below.driver;
  m.cuda = cuda_version_text(runtime);
  m.cublas = below.cublas;
  m.revision = LADDER_REVISION;
  m.checks = below.checks;
  m.schedule_seed = below.schedule_seed;
  m.major = properties.major;
  m.minor = properties.minor;
  m.l2_bytes = std::uint64_t(properties.l2CacheSize);
  return m;
}

void require(const System& system, const ComputeCapability& needs) {
  const int have = system.major * 10 + system.minor, need = needs.major * 10 + needs.minor;
  const std::string wanted = std::to_string(needs.major) + "." + std::to_string(needs.minor);
  std::string range;
  switch (needs.compatibility) {
    case Compatibility::newer:
      if (have >= need) return;
      range = " or newer";
      break;
    case Compatibility::family:
      if (have >= need && system.major == needs.major) return;
      range = " or newer of the same family, " + std::to_string(needs.major) + ".x";
      break;
    case Compatibility::exact:
      if (have == need) return;
      range = " exactly";
      break;
  }
  throw Failure(Exit::cannot_run, "needs a GPU of compute capability " + wanted + range + "; " +
                                      system.device + " has " + std::to_string(system.major) + "." +
                                      std::to_string(system.minor));
}

std::uint64_t free_device_bytes() {
  std::size_t available = 0, total = 0;
  check(cudaMemGetInfo(&available, &total), "reading the free GPU memory");
  return available;
}

std::uint64_t free_host_bytes() {
  std::ifstream file("/proc/meminfo");  // "MemAvailable:   12345 kB"
  std::string word;
  std::uint64_t kibibytes = 0;
  while (file >> word)
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  return std::numeric_limits<std::uint64_t>::max();
}

std::string memory_shortage(const char* whose, double needed, std::uint64_t available) {
  if (needed <= double(available)) return {};
  return std::string(whose) + " memory exhausted: needs " + gibibytes(needed) + ", " +
         gibibytes(double(available)) + " are free";
}

}  // namespace ladder
