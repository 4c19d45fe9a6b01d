// A stamp says which warp and lanes accessed a granule of shared memory, when, and where in the program: see
// shared_shadow.h. Its fields, for the files that implement SharedShadow.
#pragma once

#include <algorithm>
#include <cstdint>

namespace simulator {

using Stamp = int64_t;

constexpr int clock_bit = 42, warp_bit = 33, lane_bit = 28, other_bit = 23, atomic_bit = 22;
constexpr Stamp lane_field = Stamp{31} << lane_bit, other_field = Stamp{31} << other_bit;
constexpr Stamp identity = Stamp{511} << warp_bit | lane_field | other_field;
constexpr Stamp atomic_flag = Stamp{1} << atomic_bit;
constexpr Stamp pc_field = atomic_flag - 1;
constexpr uint32_t last_clock = (1u << 21) - 1;
constexpr int reader_bits = 10;
constexpr int32_t several_readers = 512, reader_field = (1 << reader_bits) - 1;

inline uint32_t clock_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> clock_bit);
}
inline uint32_t warp_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> warp_bit) & 511;
}
inline uint32_t lane_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> lane_bit) & 31;
}
inline uint32_t other_of(Stamp stamp) {
  return static_cast<uint32_t>(stamp >> other_bit) & 31;
}
inline bool several(Stamp stamp) {
  return lane_of(stamp) != other_of(stamp);
}
inline Stamp from_clock(uint32_t clock) {
  return Stamp{clock} << clock_bit;
}
inline Stamp lane_pair(uint32_t lane, uint32_t other) {
  return Stamp{lane} << lane_bit | Stamp{other} << other_bit;
}

// The later of two clocks, warp by warp.
inline void join(uint32_t* into, const uint32_t* from, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace simulator
