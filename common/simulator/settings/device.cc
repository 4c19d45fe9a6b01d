#include "common/simulator/settings/device.h"

#include <array>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

constexpr size_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

Device a100() {
  Device d;
  d.name = "simulator:a100";
  d.major = 8, d.minor = 0, d.architecture_specific = false;
  d.multiprocessors = 108;
  d.shared_per_block_optin = 163 * kib;
  d.shared_per_sm = 164 * kib;
  d.global_bytes = 80 * gib;
  d.l2_bytes = 40 * mib;
  d.clock_khz = 1410000, d.memory_clock_khz = 1593000, d.memory_bus_bits = 5120;
  return d;
}

// Stands for all GPUs with 99 KiB of shared memory per CTA, as the RTX 30, 40 and 50 series have.
Device l40s() {
  Device d;
  d.name = "simulator:l40s";
  d.major = 8, d.minor = 9, d.architecture_specific = false;
  d.multiprocessors = 142;
  d.max_threads_per_sm = 1536, d.max_blocks_per_sm = 24;
  d.shared_per_block_optin = 99 * kib;
  d.shared_per_sm = 100 * kib;
  d.global_bytes = 48 * gib;
  d.l2_bytes = 96 * mib;
  d.clock_khz = 2520000, d.memory_clock_khz = 9001000, d.memory_bus_bits = 384;
  return d;
}

Device h200() {
  Device d;
  d.name = "simulator:h200";
  d.major = 9, d.minor = 0, d.architecture_specific = true;
  d.multiprocessors = 132;
  d.shared_per_block_optin = 227 * kib;
  d.shared_per_sm = 228 * kib;
  d.global_bytes = 150109880320;
  d.l2_bytes = 60 * mib;
  d.clock_khz = 1980000, d.memory_clock_khz = 3201000, d.memory_bus_bits = 6016;
  d.max_cluster = 8, d.max_cluster_nonportable = 16;
  return d;
}

Device b200() {
  Device d;
  d.name = "simulator:b200";
  d.major = 10, d.minor = 0, d.architecture_specific = true;
  d.multiprocessors = 148;
  d.shared_per_block_optin = 227 * kib;
  d.shared_per_sm = 228 * kib;
  d.global_bytes = 180 * gib;
  d.l2_bytes = 126 * mib;
  d.clock_khz = 1965000, d.memory_clock_khz = 3996000, d.memory_bus_bits = 8192;
  d.max_cluster = 8, d.max_cluster_nonportable = 16;
  return d;
}

// This device with another number of multiprocessors. Devices live as long as the program: callers keep
// references.
const Device& resized(const Device& device, int multiprocessors) {
  static std::mutex one_thread;
  static std::map<std::pair<std::string, int>, Device> made;
  const std::lock_guard lock(one_thread);
  Device d = device;
  d.multiprocessors = multiprocessors;
  return made.try_emplace({device.name, multiprocessors}, d).first->second;
}

}  // namespace

const Device& device() {
  static const std::array<Device, 4> devices{a100(), l40s(), h200(), b200()};
  const std::string& wanted = settings().device;
  for (const Device& d : devices) {
    if (d.name.compare(sizeof "simulator:" - 1, std::string::npos, wanted) != 0) continue;
    const int others = settings().multiprocessors;
    if (others == 0 || others == d.multiprocessors) return d;
    // More are for a few CTAs of a launch: then those of a persistent kernel have a tile each.
    if (others < 0 || (others > d.multiprocessors && settings().ctas == 0)) {
      throw std::invalid_argument("SIMULATOR_SMS=" + std::to_string(others) + ": " + wanted + " has " +
                                  std::to_string(d.multiprocessors));
    }
    return resized(d, others);
  }
  throw std::invalid_argument("device " + wanted + ": it must be a100, l40s, h200 or b200");
}

}  // namespace simulator
