// How many sectors and wavefronts one access of a warp takes, from its addresses alone. This runs for every
// memory instruction when counters are on: the usual patterns are recognised in a few vector operations, the
// others go through comparisons of all pairs of lanes, without a branch that depends on the data.
//
// The rules for shared memory and for copies are what an H200 does: tests/golden/wavefronts.txt holds its
// counts for 1410 accesses and 496 copies.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "common/simulator/counters/counts.h"

namespace simulator {
namespace {

#ifdef __AVX2__
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

// For every lane, how many lower lanes have the same key (modulo 256 where T is a byte). No key has all bits
// set.
template <class T>
void count_equal_below(const T key[32], T count[32]) {
  typedef T Vector __attribute__((vector_size(vector_bytes)));
  constexpr int per_vector = vector_bytes / sizeof(T);
  T keys[64];  // the upper half is the warp, the lower half is there to be compared with
  std::fill_n(keys, 32, static_cast<T>(~0u));
  std::memcpy(keys + 32, key, 32 * sizeof(T));
  for (int first = 0; first < 32; first += per_vector) {
    Vector mine, found = {};
    std::memcpy(&mine, keys + 32 + first, sizeof mine);
    for (int below = 1; below < first + per_vector; ++below) {
      Vector other;
      std::memcpy(&other, keys + 32 + first - below, sizeof other);
      found -= mine == other;
    }
    std::memcpy(count + first, &found, sizeof found);
  }
}

// Any addresses: each access in turn against the sectors seen so far.
uint32_t count_sectors_slowly(const uint64_t address[32], uint32_t lanes, uint32_t bytes) {
  uint64_t seen[64];
  uint32_t count = 0;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const uint64_t start = address[std::countr_zero(left)];
    for (uint64_t sector = start >> 5; sector <= (start + bytes - 1) >> 5; ++sector) {
      if (std::find(seen, seen + count, sector) == seen + count) seen[count++] = sector;
    }
  }
  return count;
}

// The lanes of a group, from bit 0.
uint32_t lanes_of_group(uint32_t lanes, int first, int group) {
  return group == 32 ? lanes : lanes >> first & ((1u << group) - 1);
}

// An inactive lane is made to access what the active lane before it in its group accesses (or else the first
// one after it), which adds nothing to what the group accesses. A group without active lanes stays as it is.
template <class T>
void fill_inactive(T address[32], uint32_t lanes, int group) {
  for (int first = 0; first < 32; first += group) {
    const uint32_t active = lanes_of_group(lanes, first, group);
    if (active == 0) continue;
    T last = address[first + std::countr_zero(active)];
    for (int lane = first; lane < first + group; ++lane) {
      last = lanes >> lane & 1 ? address[lane] : last;
      address[lane] = last;
    }
  }
}

struct Masks {
  uint32_t of_lane[32];
};
constexpr Masks masks(uint32_t bit) {  // all ones for the lanes without this bit
  Masks masks{};
  for (uint32_t lane = 0; lane < 32; ++lane) masks.of_lane[lane] = lane & bit ? 0 : ~0u;
  return masks;
}

// Does every lane access the same as lane ^ 1, or every lane the same as lane ^ 2? Inactive lanes do not
// count.
bool neighbours_share(const uint32_t address[32], uint32_t lanes) {
  if (lanes != ~0u) {
    uint32_t differs1 = 0, differs2 = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const uint32_t active = lanes >> lane & 1;
      differs1 |= (0 - (active & lanes >> (lane ^ 1))) & (address[lane] ^ address[lane ^ 1]);
      differs2 |= (0 - (active & lanes >> (lane ^ 2))) & (address[lane] ^ address[lane ^ 2]);
    }
    return differs1 == 0 || differs2 == 0;
  }
  if (address[0] != address[1] && address[0] != address[2]) return false;  // the usual case, first
  static constexpr Masks pair = masks(1), quad = masks(2);
  uint32_t differs1 = 0, differs2 = 0;
  for (int lane = 0; lane < 24; ++lane) differs1 |= (address[lane] ^ address[lane + 1]) & pair.of_lane[lane];
  for (int lane = 0; lane < 24; ++lane) differs2 |= (address[lane] ^ address[lane + 2]) & quad.of_lane[lane];
  for (int lane = 24; lane < 32; ++lane) {
    differs1 |= address[lane] ^ address[lane ^ 1];
    differs2 |= address[lane] ^ address[lane ^ 2];
  }
  return differs1 == 0 || differs2 == 0;
}

// How many neighbouring lanes are served together. A wavefront delivers 128 bytes, so 8-byte accesses go as
// half-warps and 16-byte ones as quarter-warps; but a load whose neighbours share goes in groups twice as
// large.
int lanes_together(const uint32_t address[32], uint32_t lanes, uint32_t bytes, bool store) {
  if (bytes <= 4) return 32;
  const int usual = bytes == 8 ? 16 : 8;
  return !store && neighbours_share(address, lanes) ? 2 * usual : usual;
}

// Does every group stay within 128 bytes, so that no bank has to deliver two words? True only if so, but not
// always then.
template <int group>
bool within_a_row(const uint32_t address[32]) {
  uint32_t beyond = 0, other_row = 0;
  for (int first = 0; first < 32; first += group) {
    for (int lane = first; lane < first + group; ++lane) {
      beyond |= address[lane] - address[first];
      other_row |= address[lane] ^ address[first];
    }
  }
  return beyond < 128 || other_row < 128;
}

// The most distinct words that one bank has to deliver, for each group; the sum over the groups. Any
// addresses.
uint32_t count_passes_slowly(const uint32_t address[32], uint32_t lanes, uint32_t bytes, int group) {
  uint32_t passes = 0;
  for (int first = 0; first < 32; first += group) {
    uint32_t words[128], of_bank[32] = {}, count = 0, most = 0;
    for (int lane = first; lane < first + group; ++lane) {
      if (!(lanes >> lane & 1)) continue;
      for (uint32_t word = address[lane] / 4; word <= (address[lane] + bytes - 1) / 4; ++word) {
        if (std::find(words, words + count, word) != words + count) continue;
        words[count++] = word;
        most = std::max(most, ++of_bank[word % 32]);
      }
    }
    passes += most;
  }
  return passes;
}

// The same, quickly. An access of 8 or 16 bytes takes 2 or 4 neighbouring banks at once, which is as if there
// were 16 or 8 wider ones. Words and groups fit 16 bits where all addresses are within the same 256 KiB (more
// than an SM has).
uint32_t count_passes(const uint32_t address[32], uint32_t lanes, uint32_t bytes, int group) {
  const uint32_t shift = bytes == 16 ? 4 : bytes == 8 ? 3 : 2;
  const uint32_t banks = 128u >> shift;
  uint32_t elsewhere = 0;
  uint16_t word[32], lower[32];
  const uint32_t group_shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(group)));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t in_group = lane >> group_shift;
    elsewhere |= (address[lane] ^ address[0]) | (address[lane] ^ (address[lane] + 16));
    word[lane] = static_cast<uint16_t>((address[lane] & 0x3ffff) >> shift | in_group << (18 - shift));
  }
  if (elsewhere >> 18) return count_passes_slowly(address, lanes, bytes, group);
  count_equal_below(word, lower);
  uint8_t bank[32], count[32];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t in_group = lane >> group_shift;
    const uint32_t own = (word[lane] & (banks - 1)) | in_group << (7 - shift);  // < 32
    bank[lane] =
        static_cast<uint8_t>(lower[lane] == 0 ? own : 32 + lane);  // a word accessed twice counts once
  }
  count_equal_below(bank, count);
  uint32_t passes = 0;
  for (int first = 0; first < 32; first += group) {
    if (lanes_of_group(lanes, first, group) == 0) continue;
    uint8_t most = 0;
    for (int lane = first; lane < first + group; ++lane) most = std::max(most, count[lane]);
    passes += 1u + most;
  }
  return passes;
}

// Rows of 128 bytes that this many bytes fill.
uint32_t full_rows(uint32_t lanes, uint32_t bytes) {
  return (static_cast<uint32_t>(std::popcount(lanes)) * bytes + 127) / 128;
}

// The wavefronts in which the words of a copy leave their lines in L1 for shared memory.
uint32_t count_line_passes(const uint64_t from[32], const uint32_t to[32], uint32_t lanes, uint32_t bytes) {
  const uint32_t group = std::min(32u, 128 / bytes), words = (1u << bytes / 4) - 1;
  uint32_t total = 0;
  for (uint32_t first = 0; first < 32; first += group) {
    uint32_t giving[32] = {}, taking[32] = {};  // the banks of each pass
    uint32_t passes = 0, begin = 0;             // begin: the pass of the line's first lane
    uint64_t line = ~0ull;
    for (uint32_t lane = first; lane < first + group; ++lane) {
      if (!(lanes >> lane & 1)) continue;
      const uint32_t gives = words << from[lane] / 4 % 32, takes = words << to[lane] / 4 % 32;
      uint32_t pass = begin;
      while ((giving[pass] & gives) | (taking[pass] & takes)) ++pass;
      giving[pass] |= gives;
      taking[pass] |= takes;
      passes = std::max(passes, pass + 1);
      if (from[lane] / 128 != line) begin = pass;
      line = from[lane] / 128;
    }
    total += passes;
  }
  return total;
}

}  // namespace

uint32_t count_sectors(const uint64_t address[32], uint32_t lanes, uint32_t bytes) {
  if (lanes == 0) return 0;
  uint64_t filled[32];
  if (lanes != ~0u) {
    std::memcpy(filled, address, sizeof filled);
    fill_inactive(filled, lanes, 32);
    address = filled;
  }
  uint64_t misaligned = address[0], descends = 0, steps = 0;
  for (int lane = 1; lane < 32; ++lane) {
    const uint64_t step = (address[lane] >> 5) - (address[lane - 1] >> 5);
    misaligned |= address[lane];
    descends |= step;
    steps += step != 0;
  }
  if (!std::has_single_bit(bytes) || (misaligned & (bytes - 1)) != 0) {
    return count_sectors_slowly(address, lanes, bytes);
  }
  if (descends >> 63 == 0) return 1 + static_cast<uint32_t>(steps);
  // Sectors by number, counted from 2³⁰ below that of lane 0.
  uint32_t sector[32], lower[32];
  const uint64_t base = (address[0] >> 5) - (1u << 30);
  uint64_t far = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const uint64_t relative = (address[lane] >> 5) - base;
    far |= relative >> 31;
    sector[lane] = static_cast<uint32_t>(relative);
  }
  if (far != 0) return count_sectors_slowly(address, lanes, bytes);
  count_equal_below(sector, lower);
  uint32_t count = 0;
  for (int lane = 0; lane < 32; ++lane) count += lower[lane] == 0;
  return count;
}

Wavefronts count_wavefronts(const uint32_t address[32], uint32_t lanes, uint32_t bytes, bool store) {
  if (lanes == 0) return {0, 0};
  const int group = lanes_together(address, lanes, bytes, store);
  uint32_t filled[32];
  if (lanes != ~0u) {
    std::memcpy(filled, address, sizeof filled);
    fill_inactive(filled, lanes, group);
    address = filled;
  }
  const bool one_pass_each = group == 32   ? within_a_row<32>(address)
                             : group == 16 ? within_a_row<16>(address)
                                           : within_a_row<8>(address);
  uint32_t actual = 0;
  if (one_pass_each) {
    for (int first = 0; first < 32; first += group) actual += lanes_of_group(lanes, first, group) != 0;
  } else {
    actual = count_passes(address, lanes, bytes, group);
  }
  // A load whose neighbours share may need less than full rows, which is how ncu counts it, too.
  return {actual, std::min(actual, full_rows(lanes, bytes))};
}

CopyCounts count_copy(const uint64_t from[32], const uint32_t to[32], uint32_t lanes, uint32_t bytes,
                      bool bypass) {
  constexpr uint32_t rows = 4;  // of 128 bytes, which 32 lanes of 16 bytes fill
  if (lanes == 0) return {0, {rows, rows}};
  if (!bypass) {
    const uint32_t actual = count_line_passes(from, to, lanes, bytes);
    return {count_sectors(from, lanes, bytes), {actual, std::min(actual, full_rows(lanes, bytes))}};
  }
  uint64_t pair[32];  // an address that has a sector of its own for each line read and sector written
  for (int lane = 0; lane < 32; ++lane) pair[lane] = from[lane] >> 7 << 18 | (to[lane] & 0x3ffff);
  return {count_sectors(pair, lanes, 1), {rows, rows}};
}

}  // namespace simulator
