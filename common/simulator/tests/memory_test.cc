// GlobalMemory: addresses, limits, what is known of freed and never written memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "common/simulator/memory/global_memory.h"
#include "common/simulator/memory/poison.h"
#include "common/simulator/settings/device.h"

namespace simulator::memory {
namespace {

using Kind = Allocation::Kind;

TEST(GlobalMemory, AddressesAreAlignedAndDisjoint) {
  GlobalMemory memory;
  uint64_t end = 0;
  for (uint64_t size : {1ull, 255ull, 256ull, 512ull, 4096ull, 100000ull, 64ull << 20}) {
    const Allocation* a = memory.allocate(size, Kind::device);
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->base % 512, 0u);
    EXPECT_GT(a->base, end) << "an access past the end must not fall into the next allocation";
    end = a->base + a->size;
    EXPECT_EQ(memory.find(a->base), a);
    EXPECT_EQ(memory.find(a->base + size - 1), a);
    EXPECT_EQ(memory.find(a->base + size), nullptr);
    EXPECT_EQ(memory.find(a->base - 1), nullptr);
  }
}

TEST(GlobalMemory, NumbersCountFromOne) {
  GlobalMemory memory;
  EXPECT_EQ(memory.allocate(16, Kind::device)->number, 1u);
  EXPECT_EQ(memory.allocate(16, Kind::managed)->number, 2u);
}

TEST(GlobalMemory, BackingHoldsWhatIsWrittenToIt) {
  GlobalMemory memory;
  const Allocation* a = memory.allocate(10000, Kind::device);
  const Allocation* b = memory.allocate(10000, Kind::device);
  std::memset(a->backing, 1, 10000);
  std::memset(b->backing, 2, 10000);
  EXPECT_EQ(a->backing[9999], std::byte{1});
  EXPECT_EQ(b->backing[0], std::byte{2});
}

// Of a few bytes, and of more than one file of the pattern; anew in what was written before.
TEST(GlobalMemory, WhatNothingHasWrittenIsPoison) {
  GlobalMemory memory;
  for (const uint64_t size : {1ull, 4097ull, (64ull << 20) + 5, (200ull << 20) + 12345}) {
    for (const Kind kind : {Kind::device, Kind::heap}) {
      for (int time = 0; time < 2; ++time) {
        const Allocation* a = memory.allocate(size, kind);
        ASSERT_NE(a, nullptr);
        for (uint64_t at = 0; at < size; at += 1 + size / 997) EXPECT_EQ(a->backing[at], poison) << at;
        EXPECT_EQ(a->backing[size - 1], poison);
        a->backing[0] = a->backing[size - 1] = std::byte{1};
        memory.free(a->base);
      }
    }
  }
  const Allocation* variable = memory.allocate(100, Kind::variable);
  EXPECT_EQ(variable->backing[99], std::byte{0});
}

TEST(GlobalMemory, ManagedAndHostMemoryHaveOneAddress) {
  GlobalMemory memory;
  for (Kind kind : {Kind::managed, Kind::host}) {
    for (uint64_t size : {8ull, 100000ull}) {
      const Allocation* a = memory.allocate(size, kind);
      ASSERT_NE(a, nullptr);
      EXPECT_EQ(reinterpret_cast<uint64_t>(a->backing), a->base);
      EXPECT_EQ(a->base % 256, 0u);
      EXPECT_EQ(a->written, nullptr) << "what the host writes is not seen";
      std::memset(a->backing, 3, size);
    }
  }
}

TEST(GlobalMemory, WrittenBytesAreKnown) {
  GlobalMemory memory;
  const Allocation* a = memory.allocate(1000, Kind::device);
  ASSERT_NE(a->written, nullptr);
  EXPECT_EQ(a->written[0], 0);
  memory.mark_written(a->base + 10, 5);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a->written[i] != 0, i >= 10 && i < 15) << i;
  memory.mark_written(a->base + 990, 5000);  // no further than the end
  EXPECT_NE(a->written[999], 0);
  EXPECT_EQ(a->written[1000], 0);
  memory.mark_written(12345, 8);  // nothing there: no harm
}

TEST(GlobalMemory, VariablesAreZeroAndWritten) {
  GlobalMemory memory;
  const Allocation* a = memory.allocate(64, Kind::variable, "counter");
  EXPECT_EQ(a->written, nullptr);
  EXPECT_EQ(a->name, "counter");
  EXPECT_EQ(a->backing[63], std::byte{0});
}

TEST(GlobalMemory, FreedAllocationsAreStillFound) {
  GlobalMemory memory;
  const Allocation* a = memory.allocate(5000, Kind::device);
  std::memset(a->backing, 7, 5000);
  const uint64_t generation = memory.generation();
  EXPECT_FALSE(memory.free(a->base + 1)) << "inside, not the base";
  EXPECT_TRUE(memory.free(a->base));
  EXPECT_FALSE(memory.free(a->base)) << "twice";
  EXPECT_GT(memory.generation(), generation);
  ASSERT_EQ(memory.find(a->base + 4999), a);
  EXPECT_TRUE(a->freed);
  const Allocation* b = memory.allocate(5000, Kind::device);
  EXPECT_NE(b->base, a->base) << "an address is not given out again";
  EXPECT_EQ(b->written[0], 0);
}

TEST(GlobalMemory, NearestIsForMessages) {
  GlobalMemory memory;
  EXPECT_EQ(memory.nearest(4096), nullptr);
  const Allocation* a = memory.allocate(1000, Kind::device);
  const Allocation* b = memory.allocate(1000, Kind::device);
  ASSERT_LT(a->base, b->base);
  EXPECT_EQ(memory.nearest(a->base + 1000), a);
  EXPECT_EQ(memory.nearest(b->base - 1), b);
  EXPECT_EQ(memory.nearest(a->base - 5), a);
  EXPECT_EQ(memory.nearest(b->base + 100000), b);
  EXPECT_EQ(memory.nearest(a->base + 3), a);
}

TEST(GlobalMemory, HostMemoryIsAdopted) {
  GlobalMemory memory;
  std::vector<char> bytes(3000);
  const uint64_t base = reinterpret_cast<uint64_t>(bytes.data());
  const Allocation* a = memory.adopt(bytes.data(), bytes.size());
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(memory.find(base + 2999), a);
  EXPECT_EQ(memory.adopt(bytes.data() + 100, 10), nullptr) << "visible already";
  EXPECT_TRUE(memory.free(base));
  bytes[0] = 1;  // still the program's
  EXPECT_NE(memory.adopt(bytes.data() + 100, 10), nullptr);
  EXPECT_EQ(memory.find(base), nullptr) << "the freed record gives way";
}

TEST(GlobalMemory, LargeAllocationsCostNothingUntilWritten) {
  GlobalMemory memory;
  const uint64_t size = memory.bytes_available() / 4 + (64ull << 20);
  const Allocation* a = memory.allocate(size, Kind::device);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(memory.bytes_in_use(), size);
  a->backing[size - 1] = std::byte{1};
  memory.mark_written(a->base + size - 1, 1);
  EXPECT_NE(a->written[size - 1], 0);
  EXPECT_TRUE(memory.free(a->base));
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

// Again and again: addresses are new ones, mappings must not be.
TEST(GlobalMemory, PartlyBackedHoldsWhatIsWrittenAndPoison) {
  constexpr uint64_t size = (40ull << 30) + 12345;
  for (int time = 0; time < 3; ++time) {
    GlobalMemory memory;
    const Allocation* a = memory.allocate_partly(size);
    ASSERT_NE(a, nullptr);
    EXPECT_TRUE(GlobalMemory::written_parts(*a).empty());
    for (const uint64_t at : {uint64_t{0}, uint64_t{4095}, uint64_t{4096}, uint64_t{3} << 31, size - 1}) {
      EXPECT_EQ(a->backing[at], poison);
      EXPECT_EQ(a->written[at], 0);
      memory.mark_written(a->base + at, 1);
    }
    const std::vector<std::pair<uint64_t, uint64_t>> parts = {
        {0, 1}, {4095, 4097}, {3ull << 31, (3ull << 31) + 1}, {size - 1, size}};
    EXPECT_EQ(GlobalMemory::written_parts(*a), parts);
    EXPECT_TRUE(memory.free(a->base));
  }
}

TEST(GlobalMemory, APatternIsRepeated) {
  std::vector<std::byte> pattern(3 * 4096);
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(i % 251);
  constexpr uint64_t size = (1ull << 28) + 5, most_mappings = 65530;
  GlobalMemory memory;
  for (uint64_t mapped = 0; mapped < 2 * most_mappings; mapped += size / pattern.size()) {
    const Allocation* a = memory.allocate_partly(size, pattern);
    ASSERT_NE(a, nullptr);
    EXPECT_TRUE(a->read_only);
    EXPECT_EQ(a->written, nullptr) << "counts as written";
    for (uint64_t at = 0; at < size; at += 1 + size / 997)
      ASSERT_EQ(a->backing[at], pattern[at % pattern.size()]) << at;
    EXPECT_EQ(a->backing[size - 1], pattern[(size - 1) % pattern.size()]);
    EXPECT_TRUE(memory.free(a->base));
  }
  EXPECT_EQ(memory.allocate_partly(size, std::span(pattern).first(100)), nullptr) << "no whole pages";
}

TEST(GlobalMemory, MoreThanThereIsIsRefused) {
  GlobalMemory memory;
  EXPECT_EQ(memory.allocate(0, Kind::device), nullptr);
  EXPECT_EQ(memory.allocate(device().global_bytes + 1, Kind::device), nullptr);
  EXPECT_EQ(memory.allocate(~0ull - 100, Kind::device), nullptr);
  EXPECT_EQ(memory.allocate(~0ull - 100, Kind::host), nullptr);
  EXPECT_EQ(memory.allocate(memory.bytes_available() + (1ull << 30), Kind::device), nullptr);
  EXPECT_NE(memory.allocate(1 << 20, Kind::device), nullptr) << "a refusal takes nothing";
}

TEST(GlobalMemory, ManySmallAllocations) {
  GlobalMemory memory;
  std::vector<const Allocation*> all;
  for (int i = 0; i < 100000; ++i) {
    const Allocation* a = memory.allocate(24, Kind::heap);
    ASSERT_NE(a, nullptr);
    a->backing[0] = static_cast<std::byte>(i);
    all.push_back(a);
  }
  for (int i = 0; i < 100000; ++i) {
    ASSERT_EQ(all[static_cast<size_t>(i)]->backing[0], static_cast<std::byte>(i));
    ASSERT_EQ(memory.find(all[static_cast<size_t>(i)]->base + 23), all[static_cast<size_t>(i)]);
  }
  for (const Allocation* a : all) ASSERT_TRUE(memory.free(a->base));
}

TEST(GlobalMemory, ThreadsMayShareIt) {
  GlobalMemory memory;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory] {
      for (int i = 0; i < 2000; ++i) {
        const Allocation* a = memory.allocate(100, Kind::device);
        ASSERT_EQ(memory.find(a->base + 50), a);
        memory.mark_written(a->base, 100);
        ASSERT_NE(a->written[99], 0);
        ASSERT_TRUE(memory.free(a->base));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

using GlobalMemoryDeathTest = testing::Test;

TEST(GlobalMemoryDeathTest, TheHostCannotTouchDeviceAddresses) {
  GlobalMemory memory;
  const Allocation* a = memory.allocate(64, Kind::device);
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(a->base) = 1, "");
}

TEST(GlobalMemoryDeathTest, TheHostCannotTouchFreedHostMemory) {
  GlobalMemory memory;
  const Allocation* a = memory.allocate(1 << 20, Kind::managed);
  *reinterpret_cast<volatile char*>(a->base) = 1;
  memory.free(a->base);
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(a->base) = 1, "");
}

}  // namespace
}  // namespace simulator::memory
