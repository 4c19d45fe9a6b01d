#include "common/harness/measure/rotation.h"

#include <algorithm>

namespace ladder {

int sets_to_rotate(std::uint64_t footprint_bytes, std::uint64_t l2_bytes) {
  constexpr std::uint64_t most = 256;
  if (footprint_bytes == 0 || footprint_bytes > 2 * l2_bytes) return 1;
  return int(std::min(most, 2 * l2_bytes / footprint_bytes + 1));
}

std::string l2_text(std::uint64_t footprint_bytes, int sets, std::uint64_t l2_bytes) {
  if (footprint_bytes > 2 * l2_bytes) return "cold: one buffer set, over twice the L2";
  const bool cold = double(footprint_bytes) * sets > 1.5 * double(l2_bytes);
  return std::string(cold ? "cold" : "warm") + ": rotates over " + std::to_string(sets) + " buffer sets";
}

}  // namespace ladder
