// The accesses of wavefronts.txt: which byte each lane of one warp reads, writes or copies. Shared by the
// program that measures them on a GPU (wavefronts.cu) and by the test that counts them here.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace wavefronts {

struct Access {
  // "ld", "st": shared memory; "ldg", "stg": global memory; "cpg", "cpa": cp.async.cg and .ca, from global to
  // shared memory
  std::string op;
  uint32_t width;                   // bytes per lane
  uint32_t mask;                    // active lanes
  std::string pattern;              // "lane/8"
  std::array<uint32_t, 32> offset;  // bytes, from a base that is aligned to 1024 (copies: in shared memory)
  std::array<uint32_t, 32> from{};  // copies: bytes in global memory
  bool copies() const { return op.starts_with("cp"); }
  bool global() const { return op.size() == 3 && !copies(); }
};

constexpr uint32_t buffer_bytes = 48 * 1024;

class Random {  // a 32-bit xorshift: the same numbers everywhere
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 1) {}
  uint32_t below(uint32_t limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return (state_ >> 8) % limit;
  }

 private:
  uint32_t state_;
};

struct Pattern {
  std::string name;
  std::function<uint32_t(uint32_t)> index;  // of lane; in units of the width
  bool bytes = false;                       // index is in bytes
};

// In units of the access's own width.
inline std::vector<Pattern> element_patterns() {
  std::vector<Pattern> list;
  for (uint32_t s : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33}) {
    list.push_back({"stride " + std::to_string(s), [s](uint32_t lane) { return lane * s; }});
  }
  auto add = [&](const char* name, uint32_t (*index)(uint32_t)) { list.push_back({name, index}); };
  add("broadcast", [](uint32_t) { return 0u; });
  for (uint32_t d : {2, 4, 8, 16}) {
    list.push_back({"lane/" + std::to_string(d), [d](uint32_t lane) { return lane / d; }});
    list.push_back({"lane%" + std::to_string(d), [d](uint32_t lane) { return lane % d; }});
  }
  for (uint32_t bit :
       {1, 2, 4, 8, 16}) {  // lanes that differ in one bit share; lanes that differ in one bit swap
    list.push_back({"lane&~" + std::to_string(bit), [bit](uint32_t lane) { return lane & ~bit; }});
    list.push_back({"lane^" + std::to_string(bit), [bit](uint32_t lane) { return lane ^ bit; }});
  }
  add("31-lane", [](uint32_t lane) { return 31 - lane; });
  // Some lanes share with a neighbour, others do not: which condition lets parts of a warp go together?
  add("pairs, then single", [](uint32_t lane) { return lane < 16 ? lane / 2 : lane; });
  add("single, then pairs", [](uint32_t lane) { return lane < 16 ? lane : 16 + lane / 2; });
  add("pairs, then lane&~2", [](uint32_t lane) { return lane < 16 ? lane & ~1u : lane & ~2u; });
  add("pairs in quarter 0", [](uint32_t lane) { return lane < 8 ? lane & ~1u : lane; });
  add("pairs in quarters 0 1 2", [](uint32_t lane) { return lane < 24 ? lane & ~1u : lane; });
  add("pairs in quarters 0 2", [](uint32_t lane) { return lane & 8 ? lane : lane & ~1u; });
  add("pairs but lanes 0 1", [](uint32_t lane) { return lane < 2 ? lane : lane & ~1u; });
  add("pairs but lanes 30 31", [](uint32_t lane) { return lane < 30 ? lane & ~1u : lane; });
  add("pairs or lane&~2 by fours", [](uint32_t lane) { return lane & 4 ? lane & ~1u : lane & ~2u; });
  add("pairs or lane&~2 by eights", [](uint32_t lane) { return lane & 8 ? lane & ~1u : lane & ~2u; });
  add("neighbours 1 2, 3 4 …", [](uint32_t lane) { return (lane + 1) / 2; });
  add("pairs 32 apart", [](uint32_t lane) { return lane / 2 * 32; });
  add("pairs 8 apart", [](uint32_t lane) { return lane / 2 * 8; });
  add("pairs 2 apart", [](uint32_t lane) { return lane / 2 * 2; });
  add("halves in the same banks", [](uint32_t lane) { return lane % 16 + lane / 16 * 32; });
  add("halves offset by 8", [](uint32_t lane) { return lane % 16 * 2 + lane / 16; });
  add("quarters in the same banks", [](uint32_t lane) { return lane % 8 + lane / 8 * 32; });
  add("one of each half far", [](uint32_t lane) { return lane % 16 == 0 ? lane * 32 : lane; });
  add("lanes 0 and 1 collide", [](uint32_t lane) { return lane == 1 ? 64u : lane; });
  add("lanes 0 and 31 collide", [](uint32_t lane) { return lane == 31 ? 64u : lane; });
  // Tiles: rows of 8 or 32 elements, written one way and read the other.
  add("transpose 8x4", [](uint32_t lane) { return lane % 8 * 4 + lane / 8; });
  add("transpose 4x8", [](uint32_t lane) { return lane % 4 * 8 + lane / 4; });
  add("transpose 2x16", [](uint32_t lane) { return lane % 2 * 16 + lane / 2; });
  add("rows of 8, column 0", [](uint32_t lane) { return lane * 8; });
  add("rows of 8 swizzled", [](uint32_t lane) { return lane / 8 * 8 + (lane % 8 ^ lane / 8); });
  add("column of 8 swizzled", [](uint32_t lane) { return lane % 8 * 8 + (lane / 8 ^ lane % 8); });
  add("column of 8 half swizzled", [](uint32_t lane) { return lane % 8 * 8 + (lane / 8 ^ lane % 4); });
  add("column of 32 swizzled", [](uint32_t lane) { return lane * 32 + lane; });
  add("a fragment", [](uint32_t lane) { return lane / 4 * 36 + lane % 4; });
  add("a fragment unpadded", [](uint32_t lane) { return lane / 4 * 32 + lane % 4; });
  add("b fragment", [](uint32_t lane) { return lane % 4 * 40 + lane / 4; });
  for (uint32_t range : {2, 4, 8, 16, 32, 64, 256, 1024}) {
    for (uint32_t seed : {1, 2, 3}) {
      if (seed == 3 && range != 16 && range != 64) continue;
      list.push_back(
          {"random " + std::to_string(range) + " seed " + std::to_string(seed), [=](uint32_t lane) {
             Random random(range * 10 + seed);
             uint32_t index = random.below(range);
             for (uint32_t i = 0; i < lane; ++i) index = random.below(range);
             return index;
           }});
    }
  }
  for (uint32_t bit : {1, 2, 4}) {  // random, but lanes that differ in one bit share
    for (uint32_t range : {64, 1024}) {
      list.push_back(
          {"random " + std::to_string(range) + " of lane&~" + std::to_string(bit), [=](uint32_t lane) {
             Random random(range + bit);
             uint32_t index = random.below(range);
             for (uint32_t i = 0; i < (lane & ~bit); ++i) index = random.below(range);
             return index;
           }});
    }
  }
  return list;
}

// In bytes, for accesses narrower than a bank.
inline std::vector<Pattern> byte_patterns(uint32_t width) {
  std::vector<Pattern> list;
  for (uint32_t s : {1, 2, 3, 4, 8, 16, 31, 32, 33}) {
    list.push_back({"word stride " + std::to_string(s), [s](uint32_t lane) { return lane * s * 4; }, true});
  }
  list.push_back({"word lane, sub lane%", [=](uint32_t lane) { return lane * 4 + lane * width % 4; }, true});
  list.push_back(
      {"word lane/2, sub apart", [=](uint32_t lane) { return lane / 2 * 4 + lane % 2 * (4 - width); }, true});
  list.push_back({"word 0, sub lane%", [=](uint32_t lane) { return lane * width % 4; }, true});
  return list;
}

// Rows of `length` bytes, `pitch` apart.
inline Pattern rows(uint32_t width, uint32_t length, uint32_t pitch) {
  const uint32_t lanes = length / width;
  return {"rows of " + std::to_string(length) + " in " + std::to_string(pitch),
          [=](uint32_t lane) { return lane / lanes * pitch + lane % lanes * width; }, true};
}

inline Pattern strided(uint32_t width, uint32_t stride) {
  return {"stride " + std::to_string(stride), [=](uint32_t lane) { return lane * stride * width; }, true};
}

inline Pattern shifted(uint32_t width, uint32_t bytes) {
  return {"from " + std::to_string(bytes) + " on", [=](uint32_t lane) { return bytes + lane * width; }, true};
}

inline Pattern backwards(uint32_t width) {
  return {"31-lane", [=](uint32_t lane) { return (31 - lane) * width; }, true};
}

// Where copies read, in bytes.
inline std::vector<Pattern> copied_from(uint32_t width, bool bypass) {
  std::vector<Pattern> list = {strided(width, 1), rows(width, 128, 1024), rows(width, 64, 1024),
                               rows(width, 32, 1024)};
  list.push_back({"broadcast", [](uint32_t) { return 0u; }, true});
  list.push_back(strided(width, 2));
  if (bypass) {
    for (const Pattern& pattern : {backwards(width), shifted(width, 64), rows(width, 64, 1088)})
      list.push_back(pattern);
  }
  return list;
}

// Where they write.
inline std::vector<Pattern> copied_to(uint32_t width) {
  const uint32_t row = 128 / width;  // lanes
  std::vector<Pattern> list = {strided(width, 1), rows(width, 128, 144), rows(width, 64, 80)};
  list.push_back({"rows of 64 in 80, by turns 4 apart",
                  [=](uint32_t lane) {
                    const uint32_t i = lane * 2 / row;
                    return (i % 2 * 4 + i / 2) * 80 + lane % (row / 2) * width;
                  },
                  true});
  for (const Pattern& pattern : {rows(width, 64, 256), rows(width, 128, 512)}) list.push_back(pattern);
  list.push_back({"rows of 128 swizzled",
                  [=](uint32_t lane) { return lane / row * 128 + (lane % row ^ lane / row) * width; }, true});
  for (const Pattern& pattern :
       {strided(width, 2), strided(width, 9), backwards(width), rows(width, 32, 48), rows(width, 32, 128),
        shifted(width, 64), shifted(width, 16), strided(width, 8)}) {
    list.push_back(pattern);
  }
  list.push_back({"transpose 4x8", [=](uint32_t lane) { return (lane % 4 * 8 + lane / 4) * width; }, true});
  return list;
}

inline std::vector<Access> copies(bool bypass, uint32_t width) {
  std::vector<Access> list;
  for (const Pattern& from : copied_from(width, bypass)) {
    for (const Pattern& to : copied_to(width)) {
      for (uint32_t mask : {0xffffffffu, 0x0000ffffu, 0x33333333u}) {
        const bool of_few_lanes = (from.name == "stride 1" || from.name == "rows of 64 in 1024") &&
                                  (to.name == "stride 1" || to.name == "stride 2" ||
                                   to.name == "rows of 128 in 144" || to.name == "rows of 64 in 80");
        if (mask != 0xffffffff && !of_few_lanes) continue;
        Access access{bypass ? "cpg" : "cpa", width, mask, from.name + " > " + to.name, {}};
        for (uint32_t lane = 0; lane < 32; ++lane) {
          access.from[lane] = from.index(lane);
          access.offset[lane] = to.index(lane);
        }
        list.push_back(access);
      }
    }
  }
  return list;
}

inline std::vector<Access> all() {
  std::vector<Access> list;
  auto add = [&](const char* op, uint32_t width, uint32_t mask, const Pattern& pattern) {
    Access access{op, width, mask, pattern.name, {}};
    for (uint32_t lane = 0; lane < 32; ++lane) {
      access.offset[lane] = pattern.index(lane) * (pattern.bytes ? 1 : width);
    }
    list.push_back(access);
  };
  const std::vector<Pattern> patterns = element_patterns();
  for (const char* op : {"ld", "st"}) {
    for (uint32_t width : {1, 2, 4, 8, 16}) {
      for (const Pattern& pattern : patterns) add(op, width, 0xffffffff, pattern);
      if (width < 4) {
        for (const Pattern& pattern : byte_patterns(width)) add(op, width, 0xffffffff, pattern);
      }
      for (uint32_t mask :
           {0x00000001u, 0x0000ffffu, 0xffff0000u, 0x55555555u, 0x33333333u, 0x0f0f0f0fu, 0x00ff00ffu,
            0x80000001u, 0x000000ffu, 0xff0000ffu, 0x7fffffffu, 0xfffffffdu, 0x9c3a51e7u}) {
        for (const Pattern& pattern : patterns) {
          const bool wide = width >= 8;
          if (pattern.name == "stride 1" ||
              (wide && (pattern.name == "lane/2" || pattern.name == "lane%8" || pattern.name == "stride 2" ||
                        pattern.name == "random 64 seed 1" || pattern.name == "random 64 of lane&~1" ||
                        pattern.name == "random 64 of lane&~2"))) {
            add(op, width, mask, pattern);
          }
        }
      }
    }
  }
  for (const char* op : {"ldg", "stg"}) {
    for (uint32_t width : {1, 4, 8, 16}) {
      for (const Pattern& pattern : patterns) {
        for (const char* name : {"stride 1", "stride 2", "stride 3", "stride 9", "broadcast", "lane/8",
                                 "lane%8", "31-lane", "transpose 8x4", "a fragment", "random 1024 seed 1"}) {
          if (pattern.name == name)
            add(op, width, pattern.name == "stride 3" ? 0x9c3a51e7u : 0xffffffff, pattern);
        }
      }
    }
  }
  for (const auto& [bypass, width] : {std::pair{true, 16u}, {false, 16u}, {false, 8u}, {false, 4u}}) {
    for (const Access& access : copies(bypass, width)) list.push_back(access);
  }
  return list;
}

}  // namespace wavefronts
