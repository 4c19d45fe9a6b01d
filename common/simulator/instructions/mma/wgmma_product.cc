#include "common/simulator/instructions/mma/wgmma_product.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "common/simulator/machine/machine.h"
#include "common/simulator/tensor_core/fragments.h"
#include "common/simulator/tensor_core/matrix_chunks.h"
#include "common/simulator/tensor_core/tensor_core.h"

namespace simulator {
namespace {

using namespace fragments;

constexpr uint32_t chunk_bytes = 16;
enum class Kind : uint8_t { half, bfloat, tf32, fp8, integer, bit };

}  // namespace

struct WgmmaElement {
  std::string_view name;
  Kind kind;
  uint32_t bits;
  Widen widen;
  int lowest;  // exponent
  // A from registers of a warp, in the order of k.
  void (*read)(const std::byte*, const uint32_t*, Factors<16>&);
};

namespace {

// Register r of lane 4g + t has elements of row g + 8 · (r mod 2), the first of which is number
// per · (4 · (r div 2) + t) of the row.
template <class Of>
void read_a(const std::byte* registers, const uint32_t* list, Factors<16>& to) {
  for (uint32_t r = 0; r < 4; ++r) {
    uint32_t words[32];
    std::memcpy(words, registers + list[r], sizeof words);
    for (uint32_t l = 0; l < 32; ++l) {
      const uint32_t row = l / 4 + 8 * (r % 2), first = Of::per * (4 * (r / 2) + l % 4);
      for (int i = 0; i < Of::per; ++i)
        to.value[first + static_cast<uint32_t>(i)][row] = Of::widen(words[l], i);
    }
  }
}

template <class Of>
constexpr WgmmaElement element(std::string_view name, Kind kind) {
  return {name, kind, 32 / Of::per, widen_chunk<Of>, Of::lowest, read_a<Of>};
}
// 8-bit floating-point numbers are what they are here, not made into f16 as by mma.
struct E4m3 : OfE4m3 {
  static constexpr int lowest = -6;
};
constexpr WgmmaElement elements[] = {element<OfF16>("f16", Kind::half),
                                     element<OfBf16>("bf16", Kind::bfloat),
                                     element<OfTf32>("tf32", Kind::tf32),
                                     element<E4m3>("e4m3", Kind::fp8),
                                     element<OfE5m2>("e5m2", Kind::fp8),
                                     element<OfInteger<8, true>>("s8", Kind::integer),
                                     element<OfInteger<8, false>>("u8", Kind::integer),
                                     {"b1", Kind::bit, 1, nullptr, 0, nullptr}};

// One warp's part of D for eight columns, of integers: by column and row.
void read_tile(const std::byte* registers, const uint32_t* list, int32_t to[8][16]) {
  for (int r = 0; r < 4; ++r) {
    int32_t values[32];
    std::memcpy(values, registers + list[r], sizeof values);
    for (int l = 0; l < 32; ++l) to[2 * (l % 4) + r % 2][r / 2 * 8 + l / 4] = values[l];
  }
}
void write_tile(std::byte* registers, const uint32_t* list, const int32_t from[8][16]) {
  for (int r = 0; r < 4; ++r) {
    int32_t values[32];
    for (int l = 0; l < 32; ++l) values[l] = from[2 * (l % 4) + r % 2][r / 2 * 8 + l / 4];
    std::memcpy(registers + list[r], values, sizeof values);
  }
}
int32_t add(int32_t a, int32_t b, bool saturate) {
  using Limits = std::numeric_limits<int32_t>;
  const int64_t sum = int64_t{a} + b;
  return static_cast<int32_t>(saturate ? std::clamp<int64_t>(sum, Limits::min(), Limits::max()) : sum);
}

// FP8 sums have 13 bits behind the leading one.
constexpr int fp8_fraction = 13;
void cut_fp8(Accumulators& c) {
  for (auto& lanes : c.value) {
    for (float& value : lanes) {
      if (value == value) value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & ~0x3ffu);
    }
  }
}

class Product {
 public:
  Product(const WgmmaOperation& operation, const WgmmaUse& use, const std::byte* shared)
      : operation_(operation), use_(use), shared_(shared), list_(operation.inst->list) {}

  bool good() const { return good_; }

  void floating_or_integer() {
    const uint32_t stored = use_.sparse ? use_.k / 2 : use_.k;
    const bool integers_only = use_.a->kind == Kind::integer;
    for (uint32_t w = 0; w < warpgroup_warps; ++w) {
      if (!operation_.registers[w]) continue;
      Factors<16>& a = a_[w];
      if (use_.a_in_registers) {
        use_.a->read(operation_.registers[w], list_ + use_.results(), a);
      } else {
        load_factors(use_.a->widen, 128 / use_.a->bits, use_.mn_major[0], 16, stored, shared_,
                     chunks(0) + w * operation_.chunks[0].size() / 4, a);
      }
      if (use_.negated[0]) negate(a, stored);
      measure(a, static_cast<int>(stored), use_.a->lowest);
      if (use_.sparse) {
        const Factors<16> packed = a;
        good_ &= place(packed, sparsity_of(use_), operation_.metadata[w].data(), false, a) < 0;
      }
      if (integers_only) continue;
      by_lane(a, static_cast<int>(use_.k), rows_[w]);
    }
    const uint32_t tiles = use_.n / 8;
    Factors<8> b;
    for (uint32_t tile = 0; tile < tiles; ++tile) {
      load_factors(use_.b->widen, 128 / use_.b->bits, use_.mn_major[1], 8, use_.k, shared_,
                   chunks(1) + tile * operation_.chunks[1].size() / tiles, b);
      if (use_.negated[1]) negate(b, use_.k);
      if (!integers_only) {
        measure(b, static_cast<int>(use_.k), use_.b->lowest);
        by_lane(b, static_cast<int>(use_.k), columns_);
      }
      for (uint32_t w = 0; w < warpgroup_warps; ++w) {
        if (!operation_.registers[w]) continue;
        integers_only ? integers(w, tile, b) : floats(w, tile);
      }
    }
  }

  // 256 bits are two chunks; of A in registers, two words of each of four lanes.
  void bits() {
    for (uint32_t w = 0; w < warpgroup_warps; ++w) {
      std::byte* registers = operation_.registers[w];
      if (!registers) continue;
      uint64_t a[16][4], b[4];
      for (uint32_t row = 0; row < 16; ++row) {
        if (use_.a_in_registers) {
          uint32_t words[8];
          for (uint32_t i = 0; i < 8; ++i) {
            const std::byte* of_register = registers + list_[use_.results() + row / 8 + i / 4 * 2];
            std::memcpy(&words[i], of_register + (row % 8 * 4 + i % 4) * 4, 4);
          }
          std::memcpy(a[row], words, sizeof words);
        } else {
          read_bits(chunks(0) + 2 * (16 * w + row), a[row]);
        }
      }
      for (uint32_t tile = 0; tile < use_.n / 8; ++tile) {
        int32_t c[8][16] = {};
        if (operation_.accumulate) read_tile(registers, list_ + 4 * tile, c);
        for (uint32_t column = 0; column < 8; ++column) {
          read_bits(chunks(1) + 2 * (8 * tile + column), b);
          for (uint32_t row = 0; row < 16; ++row) {
            int count = 0;
            for (int i = 0; i < 4; ++i) count += std::popcount(a[row][i] & b[i]);
            c[column][row] = add(c[column][row], count, false);
          }
        }
        write_tile(registers, list_ + 4 * tile, c);
      }
    }
  }

 private:
  const uint32_t* chunks(int matrix) const { return operation_.chunks[matrix].data(); }
  void read_bits(const uint32_t* chunks, uint64_t to[4]) const {
    std::memcpy(to, shared_ + (chunks[0] & offset_in_cta), chunk_bytes);
    std::memcpy(to + 2, shared_ + (chunks[1] & offset_in_cta), chunk_bytes);
  }

  void floats(uint32_t w, uint32_t tile) {
    Accumulators c = {};
    std::byte* registers = operation_.registers[w];
    const uint32_t* list = list_ + tile * (use_.half ? 2 : 4);
    const bool fp8 = use_.a->kind == Kind::fp8;
    if (operation_.accumulate) read_accumulators(registers, list, use_.half, c);
    const int k = static_cast<int>(use_.k);
    multiply_add(rows_[w], columns_, k, k, fp8 ? fp8_fraction : tensor_core().fraction, use_.half, c);
    if (fp8 && !use_.half) cut_fp8(c);
    write_accumulators(registers, list, use_.half, c);
  }

  void integers(uint32_t w, uint32_t tile, const Factors<8>& b) {
    int32_t c[8][16] = {}, sums[8][16];
    std::byte* registers = operation_.registers[w];
    if (operation_.accumulate) read_tile(registers, list_ + 4 * tile, c);
    multiply_integers(a_[w], b, static_cast<int>(use_.k), sums);
    for (int column = 0; column < 8; ++column) {
      for (int row = 0; row < 16; ++row) {
        c[column][row] = add(c[column][row], sums[column][row], use_.saturate);
      }
    }
    write_tile(registers, list_ + 4 * tile, c);
  }

  bool good_ = true;  // as multiply() returns it
  const WgmmaOperation& operation_;
  const WgmmaUse& use_;
  const std::byte* shared_;
  const uint32_t* list_;
  Factors<16> a_[warpgroup_warps];
  RowsByLane rows_[warpgroup_warps];
  ColumnsByLane columns_;
};

}  // namespace

bool WgmmaUse::same_results(const WgmmaUse& other) const {
  return n == other.n && k == other.k && half == other.half && a->kind == other.a->kind;
}

const WgmmaElement* wgmma_element(std::string_view type) {
  const auto found = std::find_if(std::begin(elements), std::end(elements),
                                  [&](const WgmmaElement& each) { return each.name == type; });
  return found == std::end(elements) ? nullptr : found;
}

uint32_t bits_of(const WgmmaElement& element) {
  return element.bits;
}

uint32_t wgmma_k(const WgmmaElement& a, const WgmmaElement& b, std::string_view result) {
  const bool mixed = a.kind == Kind::fp8 || a.kind == Kind::integer;
  if (a.kind != b.kind || (!mixed && &a != &b)) return 0;
  const bool whole = a.kind == Kind::integer || a.kind == Kind::bit;
  const bool half = a.kind == Kind::half || a.kind == Kind::fp8;
  if (result != (whole ? "s32" : "f32") && !(half && result == "f16")) return 0;
  return 2 * chunk_bytes * 8 / a.bits;
}

bool may_be_mn_major(const WgmmaElement& element) {
  return element.bits == 16;
}
bool is_floating(const WgmmaElement& element) {
  return element.kind != Kind::integer && element.kind != Kind::bit;
}
bool is_bits(const WgmmaElement& element) {
  return element.kind == Kind::bit;
}

Sparsity sparsity_of(const WgmmaUse& use) {
  return {use.a->bits, use.k, use.selector};
}

bool multiply(const WgmmaOperation& operation, const WgmmaUse& use, const std::byte* shared) {
  Product product(operation, use, shared);
  is_bits(*use.a) ? product.bits() : product.floating_or_integer();
  return product.good();
}

}  // namespace simulator
