// Which accesses to shared memory race, and which do not.
#include "common/simulator/checks/shared_shadow.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulator::shared_shadow {
namespace {

using Kind = SharedShadow::Problem::Kind;
using Problem = SharedShadow::Problem;

constexpr uint32_t all_lanes = ~0u;

// Four warps, 4 KiB, all of it written and then a barrier passed.
class SharedShadowTest : public testing::Test {
 protected:
  void SetUp() override { start(4096, 4, 4); }

  void start(uint32_t bytes, uint32_t warps, uint32_t granule) {
    warps_ = warps;
    shadow.reset(bytes, warps, granule);
    for (uint32_t at = 0; at < bytes; at += 32 * granule) {
      EXPECT_EQ(each(0, all_lanes, at, granule, granule, true, false).kind, Kind::none);
    }
    everyone();
  }

  // Lane l accesses `bytes` bytes at first + l · stride.
  Problem each(uint32_t warp, uint32_t lanes, uint32_t first, uint32_t stride, uint32_t bytes, bool write,
               bool atomic, uint32_t pc = 0, bool same_values = false) {
    uint32_t address[32];
    std::vector<std::byte> values(32 * size_t{bytes});
    for (uint32_t lane = 0; lane < 32; ++lane) {
      address[lane] = first + lane * stride;
      values[lane * size_t{bytes}] = static_cast<std::byte>(same_values ? 7 : lane);
    }
    return shadow.access(warp, pc, address, lanes, bytes, write, atomic, values.data());
  }
  Problem read(uint32_t warp, uint32_t lane, uint32_t at, uint32_t pc = 0, uint32_t bytes = 4) {
    return each(warp, 1u << lane, at, 0, bytes, false, false, pc);
  }
  Problem write(uint32_t warp, uint32_t lane, uint32_t at, uint32_t pc = 0, uint32_t bytes = 4) {
    return each(warp, 1u << lane, at, 0, bytes, true, false, pc);
  }
  Problem load_atomic(uint32_t warp, uint32_t lane, uint32_t at) {
    return each(warp, 1u << lane, at, 0, 4, false, true);
  }
  Problem store_atomic(uint32_t warp, uint32_t lane, uint32_t at) {
    return each(warp, 1u << lane, at, 0, 4, true, true);
  }
  Problem modify(uint32_t warp, uint32_t lanes, uint32_t at, uint32_t stride = 0) {
    uint32_t address[32];
    for (uint32_t lane = 0; lane < 32; ++lane) address[lane] = at + lane * stride;
    return shadow.access(warp, 0, address, lanes, 4, true, true, nullptr);
  }
  void barrier(std::vector<uint32_t> warps) {
    shadow.barrier(warps.data(), static_cast<uint32_t>(warps.size()));
  }
  void everyone() {
    std::vector<uint32_t> warps(warps_);
    for (uint32_t w = 0; w < warps_; ++w) warps[w] = w;
    barrier(warps);
  }

  SharedShadow shadow;
  uint32_t warps_ = 0;
};

#define EXPECT_FINE(access) EXPECT_EQ((access).kind, Kind::none)
#define EXPECT_RACE(access) EXPECT_EQ((access).kind, Kind::race)

TEST_F(SharedShadowTest, ReadAfterWriteOfAnotherWarp) {
  EXPECT_FINE(write(1, 5, 64, 11));
  const Problem problem = read(2, 9, 64, 12);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.offset, 64u);
  EXPECT_EQ(problem.lane, 9u);
  EXPECT_EQ(problem.other.warp, 1u);
  EXPECT_EQ(problem.other.lane, 5u);
  EXPECT_EQ(problem.other.pc, 11u);
  EXPECT_TRUE(problem.other.write);
  EXPECT_FALSE(problem.other.atomic);
}

TEST_F(SharedShadowTest, WriteAfterReadOfAnotherWarp) {
  EXPECT_FINE(read(3, 31, 128, 21));
  const Problem problem = write(0, 2, 128, 22);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.lane, 2u);
  EXPECT_EQ(problem.other.warp, 3u);
  EXPECT_EQ(problem.other.lane, 31u);
  EXPECT_EQ(problem.other.pc, 21u);
  EXPECT_FALSE(problem.other.write);
}

TEST_F(SharedShadowTest, WriteAfterWriteOfAnotherWarp) {
  EXPECT_FINE(write(3, 1, 128, 31));
  const Problem problem = write(2, 1, 128, 32);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.other.warp, 3u);
  EXPECT_EQ(problem.other.pc, 31u);
  EXPECT_TRUE(problem.other.write);
}

TEST_F(SharedShadowTest, ReadsDoNotRace) {
  for (uint32_t w = 0; w < 4; ++w) EXPECT_FINE(each(w, all_lanes, 0, 0, 4, false, false));
  EXPECT_RACE(write(0, 0, 0));
}

TEST_F(SharedShadowTest, ABarrierOrders) {
  EXPECT_FINE(write(1, 5, 64));
  everyone();
  for (uint32_t w = 0; w < 4; ++w) EXPECT_FINE(read(w, 9, 64));
  everyone();
  EXPECT_FINE(write(2, 1, 64));
  everyone();
  EXPECT_FINE(write(3, 1, 64));
}

TEST_F(SharedShadowTest, TheSecondBarrierOfATiledLoop) {
  for (int tile = 0; tile < 3; ++tile) {
    for (uint32_t w = 0; w < 4; ++w) EXPECT_FINE(each(w, all_lanes, w * 512, 16, 16, true, false));
    everyone();
    for (uint32_t w = 0; w < 4; ++w) {
      for (uint32_t at = 0; at < 2048; at += 128) EXPECT_FINE(each(w, all_lanes, at, 4, 4, false, false, 5));
    }
    everyone();
  }
  for (uint32_t w = 0; w < 4; ++w) EXPECT_FINE(each(w, all_lanes, w * 512, 16, 16, true, false));
  everyone();
  for (uint32_t w = 0; w < 4; ++w) EXPECT_FINE(each(w, all_lanes, 512, 4, 4, false, false, 5));
  const Problem problem = each(1, all_lanes, 512, 16, 16, true, false);  // no barrier before
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.offset, 512u);
  EXPECT_EQ(problem.other.pc, 5u);
  EXPECT_FALSE(problem.other.write);
}

TEST_F(SharedShadowTest, ABarrierOrdersOnlyThoseThatTakePart) {
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(write(2, 0, 4));
  barrier({0, 1});
  EXPECT_FINE(read(1, 0, 0));
  EXPECT_RACE(read(1, 0, 4));
  EXPECT_RACE(read(2, 0, 0));
}

TEST_F(SharedShadowTest, OrderIsTransitive) {
  EXPECT_FINE(write(0, 0, 0));
  barrier({0, 1});
  barrier({1, 2});
  EXPECT_FINE(read(2, 0, 0));
  EXPECT_RACE(read(3, 0, 0));
}

TEST_F(SharedShadowTest, AfterABarrierOfTwoTheirNewAccessesAreUnordered) {
  barrier({0, 1});
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_RACE(write(1, 0, 0));
}

TEST_F(SharedShadowTest, AWarpThatFirstAccessesLate) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_FINE(write(0, 0, 0));
    barrier({0, 1});
  }
  EXPECT_FINE(write(3, 0, 8));  // the first of warp 3: after all those barriers, but not ordered by them
  EXPECT_RACE(read(0, 0, 8));
}

TEST_F(SharedShadowTest, LanesOfAWarp) {
  EXPECT_FINE(write(0, 3, 0, 1));
  EXPECT_FINE(read(0, 3, 0));
  const Problem problem = read(0, 4, 0);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.lane, 4u);
  EXPECT_EQ(problem.other.lane, 3u);

  EXPECT_FINE(read(0, 3, 16));
  EXPECT_FINE(write(0, 3, 16));
  EXPECT_RACE(write(0, 4, 16));

  EXPECT_FINE(read(0, 3, 32));
  EXPECT_RACE(write(0, 4, 32));
}

TEST_F(SharedShadowTest, TwoReadersOfAWarpBeforeOneWrites) {
  EXPECT_FINE(read(0, 3, 0, 1));
  EXPECT_FINE(read(0, 4, 0, 2));
  const Problem problem = write(0, 4, 0);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.other.lane, 3u);
}

TEST_F(SharedShadowTest, TheSecondReaderReadsAgain) {
  EXPECT_FINE(read(0, 3, 0));
  EXPECT_FINE(read(0, 7, 0));
  EXPECT_FINE(read(0, 7, 0));
  EXPECT_RACE(write(0, 7, 0));
}

// The order of two warps' reads of a word is not that of the points at which each last synchronised.
TEST_F(SharedShadowTest, AReadBetweenTheReadsOfAnotherWarp) {
  EXPECT_FINE(read(0, 0, 64));
  EXPECT_FINE(read(1, 0, 128));
  barrier({1, 2});
  EXPECT_FINE(read(1, 0, 0));
  EXPECT_FINE(read(0, 0, 0));
  barrier({0, 2});
  EXPECT_EQ(write(2, 0, 0).other.warp, 1u);
}

TEST_F(SharedShadowTest, ABroadcastBeforeOneWrites) {
  EXPECT_FINE(each(0, all_lanes, 0, 0, 4, false, false));
  const Problem problem = write(0, 31, 0);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_NE(problem.other.lane, 31u);
}

TEST_F(SharedShadowTest, SyncwarpOrdersLanes) {
  EXPECT_FINE(write(0, 3, 0));
  shadow.sync_warp(0);
  EXPECT_FINE(read(0, 4, 0));
  EXPECT_FINE(read(0, 5, 0));
  shadow.sync_warp(0);
  EXPECT_FINE(write(0, 6, 0));
  EXPECT_RACE(read(1, 6, 0));  // but not warps
}

TEST_F(SharedShadowTest, ABarrierOrdersLanes) {
  EXPECT_FINE(write(0, 3, 0));
  everyone();
  EXPECT_FINE(write(0, 4, 0));
}

TEST_F(SharedShadowTest, SyncwarpDoesNotHideALaterRaceWithAnEarlierAccess) {
  EXPECT_FINE(write(0, 3, 0));
  shadow.sync_warp(0);
  EXPECT_FINE(write(0, 4, 4));
  EXPECT_RACE(write(1, 0, 0));
  EXPECT_RACE(write(1, 0, 4));
}

TEST_F(SharedShadowTest, AWarpReductionNeedsSyncwarp) {
  for (const bool synced : {true, false}) {
    everyone();
    Kind worst = Kind::none;
    for (uint32_t step = 16; step > 0; step /= 2) {
      const uint32_t lanes = (1u << step) - 1;
      const auto note = [&](const Problem& problem) { worst = std::max(worst, problem.kind); };
      note(each(0, lanes, 4 * step, 4, 4, false, false));
      note(each(0, lanes, 0, 4, 4, false, false));
      if (synced) shadow.sync_warp(0);
      note(each(0, lanes, 0, 4, 4, true, false));
      if (synced) shadow.sync_warp(0);
    }
    EXPECT_EQ(worst, synced ? Kind::none : Kind::race);
  }
}

TEST_F(SharedShadowTest, WritesOfOneInstruction) {
  EXPECT_FINE(each(0, all_lanes, 0, 0, 4, true, false, 0, true));   // the same value
  const Problem problem = each(0, 0xF0, 64, 0, 4, true, false, 9);  // different ones
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.offset, 64u);
  EXPECT_EQ(problem.lane, 5u);
  EXPECT_EQ(problem.other.lane, 4u);
  EXPECT_EQ(problem.other.pc, 9u);
  EXPECT_TRUE(problem.other.write);
  EXPECT_FINE(each(0, all_lanes, 128, 4, 4, true, false));  // different places
}

TEST_F(SharedShadowTest, WritesOfOneInstructionOfUnknownValue) {
  const uint32_t address[32] = {};
  EXPECT_RACE(shadow.access(0, 0, address, 3, 4, true, false, nullptr));
}

TEST_F(SharedShadowTest, AfterSameValueWritesByAWarp) {
  EXPECT_FINE(each(0, all_lanes, 0, 0, 4, true, false, 0, true));
  EXPECT_FINE(read(0, 7, 0));  // it wrote that itself
  EXPECT_RACE(read(1, 7, 0));
  EXPECT_FINE(each(0, all_lanes, 64, 0, 4, true, false, 0, true));
  EXPECT_RACE(write(0, 0, 64));  // may come before another lane's
}

TEST_F(SharedShadowTest, AtomicsDoNotRaceAmongThemselves) {
  for (uint32_t w = 0; w < 4; ++w) {
    EXPECT_FINE(modify(w, all_lanes, 0));
    EXPECT_FINE(modify(w, all_lanes, 256, 4));
    EXPECT_FINE(load_atomic(w, w, 256));
    EXPECT_FINE(store_atomic(w, w + 1, 256));
  }
}

TEST_F(SharedShadowTest, AtomicsRaceWithOthers) {
  EXPECT_FINE(modify(0, 1, 0));
  const Problem problem = read(1, 0, 0);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_TRUE(problem.other.atomic);
  EXPECT_FINE(modify(0, 1, 16));
  EXPECT_RACE(write(1, 0, 16));
  EXPECT_FINE(read(0, 0, 32));
  EXPECT_RACE(modify(1, 1, 32));
  EXPECT_FINE(write(0, 0, 48));
  EXPECT_RACE(modify(1, 1, 48));
  EXPECT_FINE(load_atomic(0, 0, 64));
  EXPECT_RACE(write(1, 0, 64));
  EXPECT_FINE(write(0, 0, 80));
  EXPECT_RACE(load_atomic(1, 0, 80));
}

TEST_F(SharedShadowTest, AfterAtomicsOfAWarpOnOnePlace) {
  EXPECT_FINE(modify(0, all_lanes, 0));
  EXPECT_RACE(read(0, 31, 0));
  EXPECT_FINE(modify(0, all_lanes, 64));
  shadow.sync_warp(0);
  EXPECT_FINE(read(0, 31, 64));
}

TEST_F(SharedShadowTest, AnAtomicFlagOrders) {
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(store_atomic(0, 0, 512));
  EXPECT_FINE(write(0, 0, 4));  // after the release: not published
  EXPECT_FINE(load_atomic(1, 3, 512));
  EXPECT_FINE(read(1, 4, 0));
  EXPECT_RACE(read(1, 4, 4));
  EXPECT_RACE(read(2, 0, 0));  // has not looked at the flag
}

TEST_F(SharedShadowTest, AnotherFlagDoesNotOrder) {
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(store_atomic(0, 0, 512));
  EXPECT_FINE(load_atomic(1, 3, 516));
  EXPECT_RACE(read(1, 4, 0));
}

TEST_F(SharedShadowTest, AFlagOfTheCtaBeforeDoesNotOrder) {
  EXPECT_FINE(store_atomic(0, 0, 512));
  start(4096, 4, 4);
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(load_atomic(1, 3, 512));
  EXPECT_RACE(read(1, 4, 0));
}

TEST_F(SharedShadowTest, ALockOrders) {
  for (uint32_t w = 0; w < 4; ++w) {
    EXPECT_FINE(modify(w, 1, 512));  // taken
    EXPECT_FINE(read(w, 0, 0));
    EXPECT_FINE(write(w, 0, 0));
    EXPECT_FINE(store_atomic(w, 0, 512));  // given back
  }
}

TEST_F(SharedShadowTest, AFlagOrdersLanesOfAWarp) {
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(store_atomic(0, 0, 512));
  EXPECT_FINE(load_atomic(0, 1, 512));
  EXPECT_FINE(read(0, 1, 0));
}

TEST_F(SharedShadowTest, LanesThatCountTogetherAreOrdered) {
  EXPECT_FINE(read(0, 0, 0));
  EXPECT_FINE(modify(0, all_lanes, 512));  // the last lane learns of all
  EXPECT_FINE(write(0, 31, 0));
  EXPECT_FINE(modify(0, all_lanes, 512, 4));  // each its own word
  EXPECT_RACE(read(0, 1, 0));
}

TEST_F(SharedShadowTest, ReleaseAndAcquire) {
  std::vector<uint32_t> full, empty;
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(write(1, 0, 4));
  shadow.release(0, full);
  shadow.release(1, full);
  EXPECT_FINE(write(0, 0, 8));
  shadow.acquire(2, full);
  EXPECT_FINE(read(2, 0, 0));
  EXPECT_FINE(read(2, 0, 4));
  EXPECT_RACE(read(2, 0, 8));
  shadow.release(2, empty);
  shadow.acquire(0, empty);
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_RACE(write(3, 0, 4));
}

TEST_F(SharedShadowTest, ReleaseDoesNotOrderLanes) {
  std::vector<uint32_t> clock;
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(read(0, 0, 4));
  shadow.release(0, clock);
  EXPECT_RACE(read(0, 1, 0));
  EXPECT_FINE(read(0, 1, 4));
  EXPECT_RACE(write(0, 1, 4));
}

TEST_F(SharedShadowTest, AClockOfTheCtaBeforeMeansNothing) {
  std::vector<uint32_t> clock;
  EXPECT_FINE(write(0, 0, 0));
  shadow.release(0, clock);
  start(4096, 4, 4);
  EXPECT_FINE(write(0, 0, 0));
  EXPECT_FINE(write(0, 0, 4));
  shadow.acquire(1, clock);
  EXPECT_RACE(read(1, 0, 0));
  shadow.acquire(1, {});
  EXPECT_RACE(read(1, 0, 4));
}

TEST_F(SharedShadowTest, NeverWritten) {
  shadow.reset(1024, 4, 4);
  EXPECT_FINE(write(0, 0, 4));
  const Problem problem = each(0, 1, 0, 0, 16, false, false);
  EXPECT_EQ(problem.kind, Kind::uninitialised);
  EXPECT_EQ(problem.offset, 0u);
  EXPECT_FINE(read(0, 0, 4));
  EXPECT_FINE(read(0, 0, 0));  // reported once
  EXPECT_EQ(modify(0, 1, 64).kind, Kind::uninitialised);
  EXPECT_FINE(modify(0, 1, 64));
  EXPECT_FINE(store_atomic(0, 0, 128));  // writes only
  EXPECT_EQ(load_atomic(0, 0, 132).kind, Kind::uninitialised);

  EXPECT_FINE(each(0, all_lanes & ~(1u << 20), 256, 4, 4, true, false));
  const Problem hole = each(0, all_lanes, 256, 4, 4, false, false);
  EXPECT_EQ(hole.kind, Kind::uninitialised);
  EXPECT_EQ(hole.lane, 20u);
  EXPECT_EQ(hole.offset, 256u + 80);
}

TEST_F(SharedShadowTest, WrittenByTheCtaBeforeIsNeverWritten) {
  shadow.reset(4096, 4, 4);
  EXPECT_EQ(read(0, 0, 0).kind, Kind::uninitialised);
}

TEST_F(SharedShadowTest, Bytes) {
  start(1024, 4, 1);
  EXPECT_FINE(write(0, 0, 0, 0, 1));
  EXPECT_FINE(write(1, 0, 1, 0, 1));
  EXPECT_FINE(read(2, 0, 2, 0, 2));
  const Problem problem = read(2, 0, 0, 0, 4);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.offset, 0u);
  EXPECT_EQ(problem.other.warp, 0u);
  EXPECT_EQ(write(3, 0, 2, 0, 2).other.warp, 2u);
}

TEST_F(SharedShadowTest, WideAccessesName) {
  EXPECT_FINE(write(1, 7, 1024 + 16 * 9 + 8, 77));
  const Problem problem = each(0, all_lanes, 1024, 16, 16, true, false);
  EXPECT_EQ(problem.kind, Kind::race);
  EXPECT_EQ(problem.lane, 9u);
  EXPECT_EQ(problem.offset, 1024u + 16 * 9 + 8);
  EXPECT_EQ(problem.other.lane, 7u);
  EXPECT_EQ(problem.other.pc, 77u);
}

TEST_F(SharedShadowTest, ARaceIsNotToldForEver) {
  EXPECT_FINE(write(1, 0, 0));
  EXPECT_RACE(read(2, 0, 0));
  EXPECT_FINE(read(2, 0, 0));
  EXPECT_FINE(read(3, 0, 0));
  EXPECT_FINE(write(1, 0, 64));
  EXPECT_RACE(write(2, 0, 64));
  EXPECT_FINE(write(2, 0, 64));
  EXPECT_FINE(read(1, 0, 128));
  EXPECT_RACE(write(2, 0, 128));
  EXPECT_FINE(write(2, 0, 128));
}

TEST_F(SharedShadowTest, ExitedWarpsMayBeNamedAtABarrier) {
  EXPECT_FINE(write(3, 0, 0));  // and exits
  barrier({0, 1, 2, 3});
  barrier({0, 1, 2, 3});
  EXPECT_FINE(read(0, 0, 0));
}

TEST_F(SharedShadowTest, NoLanes) {
  EXPECT_FINE(each(0, 0, 0, 4, 4, true, false));
}

TEST_F(SharedShadowTest, TheClockRunsOutInOneCta) {
  std::vector<uint32_t> clock;
  shadow.release(1, clock);
  EXPECT_FINE(write(0, 0, 0));
  shadow.reset(4096, 4, 4);
  EXPECT_FINE(write(0, 0, 4));
  everyone();
  uint64_t problems = 0;
  const uint32_t address[32] = {512};
  for (uint32_t i = 0; i < 9'000'000; ++i) {
    problems += shadow.access(0, 0, address, 1, 4, true, false, nullptr).kind != Kind::none;
    shadow.sync_warp(0);
  }
  EXPECT_EQ(problems, 0u);
  EXPECT_FINE(read(1, 0, 4));                          // stays written
  EXPECT_EQ(read(1, 0, 0).kind, Kind::uninitialised);  // stays not written
  EXPECT_FINE(write(2, 0, 8));
  EXPECT_RACE(read(1, 0, 8));
  everyone();
  EXPECT_FINE(write(1, 0, 8));
}

// A large cluster leaves a read by warp 63 where a small one, of four warps, keeps those of warp 0.
TEST_F(SharedShadowTest, ReadsOfAnEarlierClusterAreForgotten) {
  for (const bool by_async_proxy : {false, true}) {
    shadow.reset(64, 4, 4, 16);
    const uint32_t granule = 63 * (64 * 16 / 4 + 40), at = granule * 4;
    EXPECT_FINE(write(63, 0, 0));
    EXPECT_FINE(read(63, 0, 0));
    start(128 * 1024, 4, 4);
    EXPECT_FINE(read(1, 0, at));
    EXPECT_FINE(read(2, 0, at));
    EXPECT_FINE(read(0, 0, 0));  // nothing orders it before what warp 3 does
    std::vector<uint32_t> clock;
    shadow.release(1, clock);
    shadow.release(2, clock);
    shadow.acquire(3, clock);
    if (by_async_proxy) {
      shadow.proxy_fence(3, all_lanes, true);
      EXPECT_FINE(shadow.async_access(3, 0, &at, 1, 16, true));
    } else {
      EXPECT_FINE(write(3, 0, at));
    }
  }
}

TEST_F(SharedShadowTest, TheClockRunsOutOverManyCtas) {
  const uint32_t address[32] = {512};
  for (uint32_t cta = 0; cta < 300'000; ++cta) {
    shadow.reset(2048, 2, 4);
    for (uint32_t i = 0; i < 20; ++i) {
      shadow.access(i & 1, 0, address, 1, 4, true, true, nullptr);
      shadow.sync_warp(i & 1);
    }
    if (cta % 50'000 == 0) {
      EXPECT_EQ(read(0, 0, 64).kind, Kind::uninitialised);
    }
  }
  start(4096, 4, 4);
  EXPECT_FINE(write(1, 0, 0));
  EXPECT_RACE(read(0, 0, 0));
}

}  // namespace
}  // namespace simulator::shared_shadow
