#include "common/simulator/access/written.h"

#include <cstdio>

namespace simulator {
namespace {

// Is every byte of n flags set?
bool all_written(const uint8_t* flags, uint32_t bytes) {
  switch (bytes) {
    case 1:
      return flags[0] != 0;
    case 2:
      return flags[0] && flags[1];
    case 4: {
      uint32_t word;
      std::memcpy(&word, flags, 4);
      return word == 0x01010101u;
    }
    case 8: {
      uint64_t word;
      std::memcpy(&word, flags, 8);
      return word == 0x0101010101010101ull;
    }
    default:  // 16, 32
      return all_written(flags, bytes / 2) && all_written(flags + bytes / 2, bytes / 2);
  }
}

}  // namespace

std::string hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void misaligned(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  fault(warp, FindingKind::misaligned,
        attempt(kind, bytes, address) + ": not a multiple of " + std::to_string(bytes), lane);
}

bool reads_unwritten(const uint8_t* flags, uint32_t bytes, const AddressUse& use) {
  if (all_written(flags, bytes)) return false;
  const uint32_t element = use.element ? use.element : bytes;
  for (uint32_t begin = 0; begin < bytes; begin += element) {
    bool used = false, written = false;
    for (uint32_t at = begin; at < begin + element; ++at) {
      if (!(use.used >> at & 1)) continue;
      used = true;
      written |= flags[at] != 0;
    }
    if (used && !written) return true;
  }
  return false;
}

void never_written(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                   const std::string& where) {
  finding(warp, FindingKind::uninitialised, attempt(kind, bytes, address) + where + ": never written", lane);
}

}  // namespace simulator
