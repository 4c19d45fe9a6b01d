#include "common/simulator/memory/machine_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace simulator {
namespace {

std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // not there, or "max"
}

// The value beside a key, as in "inactive_file 4096".
uint64_t value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  for (uint64_t value = 0; file >> word >> value;) {
    if (word == key) return value;
  }
  return 0;
}

// reclaimable: cached files, which count as used.
uint64_t left(std::optional<uint64_t> limit, std::optional<uint64_t> used, uint64_t reclaimable) {
  if (!limit) return UINT64_MAX;
  const uint64_t held = used.value_or(0);
  return *limit - std::min(*limit, held - std::min(held, reclaimable));
}

}  // namespace

uint64_t available_machine_memory() {
  uint64_t bytes = UINT64_MAX;
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    if (word != "MemAvailable:") continue;
    if (uint64_t kib = 0; file >> kib) bytes = kib * 1024;
    break;
  }
  const std::string v2 = "/sys/fs/cgroup/memory.", v1 = "/sys/fs/cgroup/memory/memory.";
  bytes = std::min(
      bytes, left(number_in(v2 + "max"), number_in(v2 + "current"), value_in(v2 + "stat", "inactive_file")));
  bytes = std::min(bytes, left(number_in(v1 + "limit_in_bytes"), number_in(v1 + "usage_in_bytes"),
                               value_in(v1 + "stat", "total_inactive_file")));
  return bytes;
}

}  // namespace simulator
