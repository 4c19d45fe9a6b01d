#include "common/simulator/units/tma_map.h"

#include <algorithm>
#include <type_traits>

namespace simulator {
namespace {

// Marks a tensor map among other bytes, in its second word. CUTLASS clears bit 21 of that word in the map of
// a tensor of less than 128 KiB, to correct what some drivers encode there: in this mark the bit is 0.
constexpr uint64_t magic = 0x50414d524f534e54;
constexpr size_t magic_at = sizeof(uint64_t), map_at = magic_at + sizeof magic;
static_assert((magic >> 21 & 1) == 0);
static_assert(map_at + sizeof(TmaMap) <= tma_map_bytes && std::is_trivially_copyable_v<TmaMap>);

constexpr uint64_t stride_limit = 1ull << 40;  // bytes

std::string dimension_of(const char* what, uint32_t dimension, uint64_t value, const std::string& rule) {
  return std::string(what) + "[" + std::to_string(dimension) + "] is " + std::to_string(value) + ": " + rule;
}

// Of elements that are padded in shared memory.
std::string problem_of_padded(const TmaMap& map) {
  constexpr uint32_t alignment = 32;  // bytes
  if (map.address % alignment)
    return "its global address is not a multiple of 32, as padded elements need it";
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    if (map.stride[i] % alignment)
      return dimension_of("globalStrides", i, map.stride[i],
                          "of padded elements it must be a multiple of 32");
  }
  if ((uint64_t{map.last[0]} + 1) % padded_row)
    return dimension_of("globalDim", 0, uint64_t{map.last[0]} + 1,
                        "of padded elements it must be a multiple of 128");
  if (map.box[0] != padded_row)
    return dimension_of("boxDim", 0, map.box[0], "of padded elements it must be 128");
  const bool swizzles_well = map.swizzle == Swizzle::none || map.swizzle == Swizzle::b128 ||
                             map.swizzle == Swizzle::b128_atom32 ||
                             (map.swizzle == Swizzle::b128_atom64 && map.type == TmaType::b6_padded);
  return swizzles_well ? "" : "padded elements cannot be swizzled in this way";
}

}  // namespace

uint32_t bits_of(TmaType type) {
  constexpr uint8_t bits[tma_types] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
  return bits[static_cast<size_t>(type)];
}

bool is_floating(TmaType type) {
  return type >= TmaType::f16 && !is_packed(type);
}

uint32_t span_of(Swizzle swizzle) {
  constexpr uint8_t bytes[swizzles] = {0, 32, 64, 128, 128, 128, 128};
  return bytes[static_cast<size_t>(swizzle)];
}

uint32_t TmaMap::pitch() const {
  return std::max(shared_row_bytes(), span_of(swizzle));
}

uint32_t TmaMap::rows() const {
  uint32_t rows = 1;
  for (uint32_t i = 1; i < rank; ++i) rows *= count(i);
  return rows;
}

void TmaMap::store(std::byte* to) const {
  std::memset(to, 0, tma_map_bytes);
  std::memcpy(to + magic_at, &magic, sizeof magic);
  std::memcpy(to + map_at, this, sizeof *this);
}

std::optional<TmaMap> TmaMap::load(const std::byte* from) {
  if (std::memcmp(from + magic_at, &magic, sizeof magic) != 0) return {};
  TmaMap map;
  std::memcpy(&map, from + map_at, sizeof map);
  return map;
}

std::string problem_of(const TmaMap& map) {
  if (map.rank < 1 || map.rank > max_tma_rank)
    return "its rank is " + std::to_string(map.rank) + ": it must be 1 to 5";
  if (static_cast<uint32_t>(map.type) >= tma_types) return "its element type is unknown";
  if (map.address % 16) return "its global address is not a multiple of 16";
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    if (map.stride[i] % 16 || map.stride[i] >= stride_limit)
      return dimension_of("globalStrides", i, map.stride[i], "it must be a multiple of 16 below 2^40");
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.box[i] < 1 || map.box[i] > 256)
      return dimension_of("boxDim", i, map.box[i], "it must be 1 to 256");
    if (map.step[i] < 1 || map.step[i] > 8)
      return dimension_of("elementStrides", i, map.step[i], "it must be 1 to 8");
  }
  if (map.type == TmaType::b4 && map.last[0] % 2 == 0)
    return dimension_of("globalDim", 0, uint64_t{map.last[0]} + 1,
                        "of elements of 4 bits it must be a multiple of 2");
  if (is_padded(map.type)) {
    if (std::string problem = problem_of_padded(map); !problem.empty()) return problem;
  }
  const uint32_t row = map.shared_row_bytes();
  if (row % 16) return "a row of its box has " + std::to_string(row) + " bytes: it must be a multiple of 16";
  const uint32_t span = span_of(map.swizzle);
  if (span && row > span) {
    return "a row of its box has " + std::to_string(row) + " bytes: with this swizzle at most " +
           std::to_string(span);
  }
  if (map.fill_nan && !is_floating(map.type)) return "NaN cannot fill in for integers";
  return {};
}

}  // namespace simulator
