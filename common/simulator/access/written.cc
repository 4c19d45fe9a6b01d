#include "common/simulator/access/written.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace simulator {

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

void note_unwritten(Warp& warp, int lane, uint32_t bytes) {
  std::vector<UnwrittenLoad>& all = warp.frame->unwritten;
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.pc == warp.pc - 1; });
  if (found == all.end()) found = all.insert(found, UnwrittenLoad{warp.pc - 1, {}});
  found->bytes[static_cast<size_t>(lane)] = bytes;
}

void forget_unwritten(Warp& warp) {
  for (UnwrittenLoad& each : warp.frame->unwritten) {
    if (each.pc != warp.pc - 1) continue;
    for (size_t l = 0; l < warp_size; ++l) each.bytes[l] = warp.exec >> l & 1 ? 0 : each.bytes[l];
  }
}

std::string hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void misaligned(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address, const char* memory) {
  fault(warp, FindingKind::misaligned,
        attempt(kind, bytes, address) + " of " + memory + ": not a multiple of " + std::to_string(bytes),
        lane);
}

void never_written(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                   const std::string& where) {
  finding(warp, FindingKind::uninitialised, attempt(kind, bytes, address) + where + ": never written", lane);
}

}  // namespace simulator
