// Tensor maps (PTX ISA 5.5): what a bulk copy of a box of a tensor has to know about the tensor. The 128
// bytes are opaque to programs, so how they are laid out is ours to choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace simulator {

constexpr uint32_t tma_map_bytes = 128;
constexpr uint32_t max_tma_rank = 5;

// In the order of CUtensorMapDataType.
enum class TmaType : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  // In global memory elements of 4 or 6 bits lie without gaps. In shared memory too, or each 16 of them,
  // which are 8 or 12 bytes, begin at a multiple of 16 bytes (PTX ISA 5.5.1.1).
  b4,
  b4_padded,
  b6_padded,
};
constexpr uint32_t tma_types = 16;
uint32_t bits_of(TmaType type);  // of an element in global memory
bool is_floating(TmaType type);
inline bool is_packed(TmaType type) {
  return type >= TmaType::b4;
}
inline bool is_padded(TmaType type) {
  return type >= TmaType::b4_padded;
}
constexpr uint32_t padded_group = 16;  // elements; bytes that they take in shared memory
constexpr uint32_t padded_row = 128;   // elements of a box's row, and of the tensor's a multiple

// In the order of CUtensorMapSwizzle. atom: bytes that stay together, where it is not 16; flip8: the halves
// of 16 bytes change places in every second line of 128.
enum class Swizzle : uint8_t { none, b32, b64, b128, b128_atom32, b128_atom32_flip8, b128_atom64 };
constexpr uint32_t swizzles = 7;
uint32_t span_of(Swizzle swizzle);  // bytes of a row that are permuted among themselves; 0: none

// Where the byte that would be at this shared address without swizzling is (PTX ISA 5.5.7): the number of its
// line of 128 bytes is added, bit by bit, to the number of its atom in the line.
inline uint32_t swizzled(Swizzle swizzle, uint32_t address) {
  const uint32_t line = address >> 7;
  switch (swizzle) {
    case Swizzle::none:
      return address;
    case Swizzle::b32:
      return address ^ (line & 1) << 4;
    case Swizzle::b64:
      return address ^ (line & 3) << 4;
    case Swizzle::b128:
      return address ^ (line & 7) << 4;
    case Swizzle::b128_atom32:
      return address ^ (line & 3) << 5;
    case Swizzle::b128_atom32_flip8:
      return address ^ (line & 3) << 5 ^ (line & 1) << 3;
    case Swizzle::b128_atom64:
      return address ^ (line & 1) << 6;
  }
  return address;
}

// Dimension 0 is the one whose elements lie side by side.
struct TmaMap {
  uint64_t address = 0;                    // of the element with the coordinates 0, 0, …
  uint32_t last[max_tma_rank] = {};        // elements − 1
  uint64_t stride[max_tma_rank - 1] = {};  // bytes between neighbours in dimension 1, 2 …
  uint16_t box[max_tma_rank] = {};         // elements that a copy spans, 1 to 256
  uint8_t step[max_tma_rank] = {};         // of these, it takes every step-th, 1 to 8; not in dimension 0
  uint8_t rank = 0;                        // dimensions
  TmaType type = TmaType::u8;
  uint8_t interleave = 0;  // in the order of CUtensorMapInterleave
  Swizzle swizzle = Swizzle::none;
  uint8_t l2_promotion = 0;
  bool fill_nan = false;  // what lies outside of the tensor is read as NaN instead of 0

  uint32_t count(uint32_t dimension) const {  // elements of a copy
    return dimension == 0 ? box[0] : (box[dimension] + step[dimension] - 1u) / step[dimension];
  }
  uint32_t row_bytes() const { return box[0] * bits_of(type) / 8; }  // in global memory
  uint32_t shared_row_bytes() const { return is_padded(type) ? box[0] : row_bytes(); }
  // Between rows in shared memory: a row that is narrower than the swizzle's span takes all of it.
  uint32_t pitch() const;
  uint32_t rows() const;
  // Bytes that an mbarrier counts for a copy: those of the whole box, whether inside of the tensor or not.
  uint32_t copy_bytes() const { return rows() * row_bytes(); }
  uint32_t shared_bytes() const { return rows() * pitch(); }

  void store(std::byte* to) const;
  // Nothing: these bytes are no tensor map.
  static std::optional<TmaMap> load(const std::byte* from);
};

// What is wrong with a map (Driver API, cuTensorMapEncodeTiled); empty: nothing.
std::string problem_of(const TmaMap& map);

}  // namespace simulator
