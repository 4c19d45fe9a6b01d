// Arithmetic of sizes.
#pragma once

#include <cstdint>

namespace ladder {

inline std::uint64_t area(int x, int y) {
  return std::uint64_t(x) * std::uint64_t(y);
}

// Rounds up to a multiple.
inline int next_multiple(int size, int of) {
  return (size + of - 1) / of * of;
}

}  // namespace ladder
