// Which accesses to shared memory race: SharedShadow against a slow model of the same, on random accesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "common/simulator/checks/shared_shadow.h"

namespace simulator::shared_shadow_random {
namespace {

using Kind = SharedShadow::Problem::Kind;
using Problem = SharedShadow::Problem;

constexpr uint32_t all_lanes = ~0u;

// The slow model: every access to every byte is kept, and each warp knows which accesses come before
// its own.
class Reference {
 public:
  struct Entry {
    SharedShadow::Access by;
    uint64_t number;  // counts the warp's accesses
    uint64_t instruction;
    bool tolerant;  // a write of the same value by several lanes of one instruction
  };

  Reference(uint32_t bytes, uint32_t warps) : history_(bytes), known_(warps), count_(warps) {
    for (auto& known : known_) known.resize(warps);
  }

  bool before(uint32_t warp, const Entry& entry) const { return entry.number <= known_[warp][entry.by.warp]; }

  bool conflict(const Entry& earlier, const SharedShadow::Access& now) const {
    if (!earlier.by.write && !now.write) return false;
    if (earlier.by.atomic && now.atomic) return false;
    if (before(now.warp, earlier)) return false;
    if (earlier.by.warp != now.warp) return true;
    if (earlier.by.lane == now.lane && !earlier.tolerant) return false;
    return !(earlier.tolerant && !now.write);
  }

  // All problems of an access: byte and lane, with the kind; races by the earlier access's warp and lane too.
  struct Reported {
    Kind kind;
    uint32_t byte, lane, warp, other;
    bool operator<(const Reported& with) const {
      return std::tie(kind, byte, lane, warp, other) <
             std::tie(with.kind, with.byte, with.lane, with.warp, with.other);
    }
  };
  std::set<Reported> access(uint32_t warp, const uint32_t* address, uint32_t lanes, uint32_t bytes,
                            bool write, bool atomic, const std::byte* values) {
    std::set<Reported> reported;
    const uint64_t number = ++count_[warp], instruction = ++instructions_;
    const bool modify = write && atomic && values == nullptr;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      for (uint32_t b = 0; b < bytes; ++b) {
        const uint32_t byte = address[lane] + b;
        const SharedShadow::Access now{warp, lane, 0, write, atomic};
        if (!write || modify) {
          const auto wrote = [](const Entry& entry) { return entry.by.write; };
          if (std::none_of(history_[byte].begin(), history_[byte].end(),
                           [&](const Entry& e) { return wrote(e) && e.instruction != instruction; })) {
            reported.insert({Kind::uninitialised, byte, lane, 0, 0});
          }
        }
        for (const Entry& earlier : history_[byte]) {
          if (earlier.instruction != instruction && conflict(earlier, now)) {
            reported.insert({Kind::race, byte, lane, earlier.by.warp, earlier.by.lane});
          }
        }
        bool tolerant = false;
        for (uint32_t l = 0; write && l < 32; ++l) {  // other lanes of this instruction
          if ((lanes >> l & 1) == 0 || l == lane || address[l] != address[lane]) continue;
          const bool same =
              values != nullptr && std::memcmp(values + l * bytes, values + lane * bytes, bytes) == 0;
          if (!same && !atomic) reported.insert({Kind::race, byte, lane, warp, l});
          tolerant = !atomic;
        }
        history_[byte].push_back({now, number, instruction, tolerant});
      }
    }
    if (atomic) {
      const std::vector<uint64_t> none(known_.size());
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if (lanes >> lane & 1 && (!write || modify)) {
          for (uint32_t b = 0; b < bytes; ++b)
            acquire(warp, published_.emplace(address[lane] + b, none).first->second);
        }
      }
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if (lanes >> lane & 1 && write) {
          for (uint32_t b = 0; b < bytes; ++b) published_[address[lane] + b] = knowledge(warp);
        }
      }
      if (modify && meet(address, lanes)) known_[warp][warp] = std::max(known_[warp][warp], number - 1);
    }
    return reported;
  }

  std::vector<uint64_t> knowledge(uint32_t warp) const {
    std::vector<uint64_t> known = known_[warp];
    known[warp] = count_[warp];
    return known;
  }
  void acquire(uint32_t warp, const std::vector<uint64_t>& clock) {
    for (size_t v = 0; v < clock.size(); ++v) known_[warp][v] = std::max(known_[warp][v], clock[v]);
  }
  void sync_warp(uint32_t warp) { known_[warp] = knowledge(warp); }
  void barrier(const std::vector<uint32_t>& warps) {
    std::vector<std::vector<uint64_t>> all;
    for (const uint32_t w : warps) all.push_back(knowledge(w));
    for (const uint32_t w : warps) {
      for (const auto& clock : all) acquire(w, clock);
    }
  }

 private:
  static bool meet(const uint32_t* address, uint32_t lanes) {
    std::set<uint32_t> met;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if (lanes >> lane & 1 && !met.insert(address[lane]).second) return true;
    }
    return false;
  }

  std::vector<std::vector<Entry>> history_;   // by byte
  std::vector<std::vector<uint64_t>> known_;  // [w][v]
  std::vector<uint64_t> count_;
  uint64_t instructions_ = 0;
  std::map<uint32_t, std::vector<uint64_t>> published_;
};

// Random CTAs until the first problem, which both must find at the same access. Atomic accesses have a region
// of their own, as in sound programs: what follows from the last accesses alone is then exact.
void compare(uint64_t seed, uint32_t granule, bool atomics) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  SharedShadow shadow;
  uint32_t races = 0, uninitialised = 0, clean = 0;
  for (int cta = 0; cta < 1200; ++cta) {
    const uint32_t warps = 1 + below(5), bytes = 512, plain_bytes = atomics ? 384 : bytes;
    shadow.reset(bytes, warps, granule);
    Reference reference(bytes, warps);
    std::vector<uint32_t> everyone(warps);
    for (uint32_t w = 0; w < warps; ++w) everyone[w] = w;
    std::array<std::vector<uint32_t>, 3> clocks;
    std::array<std::vector<uint64_t>, 3> reference_clocks;
    for (auto& clock : reference_clocks) clock.resize(warps);

    uint32_t address[32];
    std::vector<std::byte> values(32 * 16, std::byte{0});
    if (below(8) != 0) {  // written at first, but for a hole now and then
      for (uint32_t at = 0; at < bytes; at += 32 * granule) {
        for (uint32_t lane = 0; lane < 32; ++lane) address[lane] = at + lane * granule;
        const uint32_t lanes = below(16) != 0 ? all_lanes : static_cast<uint32_t>(random());
        ASSERT_EQ(shadow.access(0, 0, address, lanes, granule, true, false, values.data()).kind, Kind::none);
        ASSERT_TRUE(reference.access(0, address, lanes, granule, true, false, values.data()).empty());
      }
      shadow.barrier(everyone.data(), warps);
      reference.barrier(everyone);
    }
    const uint32_t sync_rate = 1 + below(6);  // how often a warp synchronises
    bool found = false;
    for (int step = 0; step < 60 && !found; ++step) {
      const uint32_t warp = below(warps);
      if (below(8) < sync_rate) {
        const uint32_t which = below(3);
        switch (below(6)) {
          case 0:
          case 1:
            shadow.barrier(everyone.data(), warps);
            reference.barrier(everyone);
            break;
          case 2:
            shadow.sync_warp(warp);
            reference.sync_warp(warp);
            break;
          case 3: {
            std::vector<uint32_t> some;
            for (uint32_t w = 0; w < warps; ++w) {
              if (below(2) != 0) some.push_back(w);
            }
            shadow.barrier(some.data(), static_cast<uint32_t>(some.size()));
            reference.barrier(some);
            break;
          }
          case 4: {
            shadow.release(warp, clocks[which]);
            const std::vector<uint64_t> clock = reference.knowledge(warp);
            for (uint32_t v = 0; v < warps; ++v) {
              reference_clocks[which][v] = std::max(reference_clocks[which][v], clock[v]);
            }
            break;
          }
          default:
            shadow.acquire(warp, clocks[which]);
            reference.acquire(warp, reference_clocks[which]);
        }
        continue;
      }
      const bool atomic = atomics && below(4) == 0;
      const bool write = below(3) == 0;
      const uint32_t size = granule << below(static_cast<uint32_t>(std::countr_zero(16 / granule)) + 1);
      const uint32_t begin = atomic ? plain_bytes : 0,
                     slots = (atomic ? bytes - plain_bytes : plain_bytes) / size;
      const uint32_t pattern = below(6), first = below(slots), stride = 1 + below(9), period = 1u << below(6);
      for (uint32_t lane = 0; lane < 32; ++lane) {
        uint32_t slot = first;           // broadcast
        if (pattern == 1) slot += lane;  // unit stride
        if (pattern == 2) slot += lane * stride;
        if (pattern == 3) slot += lane % period;
        if (pattern == 4) slot += lane / period;
        if (pattern == 5) slot = below(slots);
        address[lane] = begin + slot % slots * size;
      }
      uint32_t lanes = all_lanes;
      const uint32_t masks = below(4);
      if (masks == 1) lanes = static_cast<uint32_t>(random());
      if (masks == 2) lanes = 1u << below(32);
      if (masks == 3) lanes = (1u << below(32)) - 1;
      const bool equal = below(2) != 0;
      for (uint32_t lane = 0; lane < 32; ++lane)
        values[lane * size] = static_cast<std::byte>(equal ? 1 : below(4));
      const std::byte* given = atomic && write && below(2) != 0 ? nullptr : values.data();

      const Problem problem =
          shadow.access(warp, static_cast<uint32_t>(step), address, lanes, size, write, atomic, given);
      const auto expected = reference.access(warp, address, lanes, size, write, atomic, given);
      found = !expected.empty();
      ASSERT_EQ(problem.kind != Kind::none, found) << "seed " << seed << " CTA " << cta << " step " << step;
      if (problem.kind == Kind::uninitialised) {
        ++uninitialised;
        EXPECT_TRUE(expected.contains({problem.kind, problem.offset, problem.lane, 0, 0}));
      } else if (problem.kind == Kind::race) {
        ++races;
        EXPECT_TRUE(expected.contains(
            {problem.kind, problem.offset, problem.lane, problem.other.warp, problem.other.lane}))
            << "seed " << seed << " CTA " << cta << " step " << step << ": offset " << problem.offset
            << " lane " << problem.lane << " warp " << problem.other.warp << " lane " << problem.other.lane;
      }
    }
    clean += !found;
  }
  EXPECT_GT(races, 100u);
  EXPECT_GT(uninitialised, 10u);
  EXPECT_GT(clean, 5u);
}

TEST(SharedShadowRandom, LikeTheReference) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const uint32_t granule : {1u, 2u, 4u}) compare(seed, granule, false);
  }
}

TEST(SharedShadowRandom, LikeTheReferenceWithAtomics) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const uint32_t granule : {1u, 4u}) compare(100 + seed, granule, true);
  }
}

}  // namespace
}  // namespace simulator::shared_shadow_random
