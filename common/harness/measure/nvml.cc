#include "common/harness/measure/nvml.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <utility>

namespace ladder {
namespace {

// The few declarations of nvml.h that are used, so that neither the header nor the library is needed to
// build. (NVML API reference, device queries; every function returns 0 on success.)
constexpr unsigned clock_sm = 1;               // NVML_CLOCK_SM
constexpr unsigned field_power_instant = 186;  // NVML_FI_DEV_POWER_INSTANT, mW
struct FieldValue {                            // nvmlFieldValue_t
  unsigned field, scope;
  long long timestamp, latency;
  unsigned value_type, status;
  union {
    double d;
    unsigned ui;
    unsigned long long ull;
  } value;
};

template <class Function>
Function* symbol(void* library, const char* name) {
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}

}  // namespace

Nvml::Nvml() {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  auto* init = symbol<int()>(library_, "nvmlInit_v2");
  auto* by_bus = symbol<int(const char*, void**)>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
  int device = 0;
  char bus[32] = {};
  if (!init || !by_bus || init() != 0) return;
  if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess)
    return;
  if (by_bus(bus, &device_) != 0) device_ = nullptr;
}

Nvml::~Nvml() {
  if (auto* shutdown = symbol<int()>(library_, "nvmlShutdown")) shutdown();
  if (library_) dlclose(library_);
}

Nvml::Reading Nvml::read() const {
  if (!device_) return {};
  unsigned clock = 0, milliwatts = 0;
  if (auto* get = symbol<int(void*, unsigned, unsigned*)>(library_, "nvmlDeviceGetClockInfo"))
    get(device_, clock_sm, &clock);
  FieldValue power{};
  power.field = field_power_instant;
  auto* fields = symbol<int(void*, int, FieldValue*)>(library_, "nvmlDeviceGetFieldValues");
  if (fields && fields(device_, 1, &power) == 0 && power.status == 0) {
    milliwatts = power.value.ui;
  } else if (auto* get = symbol<int(void*, unsigned*)>(library_, "nvmlDeviceGetPowerUsage")) {
    get(device_, &milliwatts);
  }
  return {double(clock), milliwatts / 1000.0};
}

double Nvml::joules() const {
  unsigned long long millijoules = 0;
  auto* get = symbol<int(void*, unsigned long long*)>(library_, "nvmlDeviceGetTotalEnergyConsumption");
  if (!device_ || !get || get(device_, &millijoules) != 0) return 0;
  return double(millijoules) / 1000;
}

void Nvml::sample() {
  if (!device_) return;
  const Reading now = read();
  if (now.sm_clock_mhz > 0) clocks_.push_back(now.sm_clock_mhz);
  power_w_ = std::max(power_w_, now.power_w);
  unsigned long long reasons = 0;
  // One function under the name of newer drivers and the name of older ones.
  for (const char* name :
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    auto* get = symbol<int(void*, unsigned long long*)>(library_, name);
    if (!get || get(device_, &reasons) != 0) continue;
    reasons_ |= reasons;
    reasons_known_ = true;
    break;
  }
}

CardState Nvml::state() const {
  CardState s;
  s.throttle = reasons_known_ ? throttle_text(reasons_) : "unknown";
  s.power_w = power_w_;
  if (!clocks_.empty()) s.sm_clock_mhz = quantile(clocks_, 0.5);
  return s;
}

std::string throttle_text(std::uint64_t reasons) {
  constexpr std::pair<std::uint64_t, const char*> names[] = {
      {0x2, "application_clocks"}, {0x4, "power_cap"},   {0x8, "hw_slowdown"},     {0x10, "sync_boost"},
      {0x20, "sw_thermal"},        {0x40, "hw_thermal"}, {0x80, "hw_power_brake"}, {0x100, "display_clocks"}};
  std::string text;
  for (const auto& [bit, name] : names)
    if (reasons & bit) {
      if (!text.empty()) text += '+';
      text += name;
    }
  constexpr std::uint64_t idle = 0x1, named = 0x1FE;
  if (reasons & ~(idle | named)) text += text.empty() ? "other" : "+other";
  return text.empty() ? "none" : text;
}

}  // namespace ladder
