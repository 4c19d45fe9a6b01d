// Conflicts of bulk copies and wgmma with accesses by threads, and with each other.
#include "common/simulator/checks/async_accesses.h"

#include <gtest/gtest.h>

#include <vector>

namespace simulator::async_accesses {
namespace {

using Kind = AsyncAccesses::Problem::Kind;
constexpr uint32_t everyone = SharedShadow::all_lanes;

// Eight warps and 4 KiB, of which nothing is written.
class AsyncAccessesTest : public testing::Test {
 protected:
  void SetUp() override {
    shadow.reset(4096, 8, 4);
    async.reset(4096, 8);
  }
  // By lanes 0 … 31, four bytes each.
  SharedShadow::Problem store(uint32_t warp, uint32_t at, uint32_t lanes = ~0u) {
    uint32_t offset[32];
    for (uint32_t lane = 0; lane < 32; ++lane) offset[lane] = at + 4 * lane;
    return shadow.access(warp, 7, offset, lanes, 4, true, false, nullptr);
  }
  Kind meet(uint32_t warp, uint32_t at, bool write) {
    const uint32_t offset[32] = {at};
    return async.meet(shadow, warp, offset, 1, write).kind;
  }
  AsyncAccesses::Id begin(uint32_t warp, uint32_t lane, bool write, Kind expected, uint32_t at = 0,
                          uint32_t bytes = 128) {
    const AsyncAccesses::Id id = async.begin(warp, lane, 9, write);
    last = async.access(shadow, id, warp, &at, 1, bytes);
    EXPECT_EQ(last.kind, expected);
    return id;
  }
  void barrier() {
    const uint32_t warps[] = {0, 1, 2, 3, 4, 5, 6, 7};
    shadow.barrier(warps, 8);
  }

  SharedShadow shadow;
  AsyncAccesses async;
  AsyncAccesses::Problem last;
};

TEST_F(AsyncAccessesTest, WritesNeedAProxyFence) {
  store(1, 0);
  barrier();
  begin(0, 0, false, Kind::unfenced);
  EXPECT_EQ(last.other.warp, 1u);
  EXPECT_EQ(last.other.pc, 7u);
  store(1, 128);
  shadow.proxy_fence(1, ~0u, true);
  barrier();
  begin(0, 0, false, Kind::none, 128);
}

TEST_F(AsyncAccessesTest, TheFenceMayComeAfterTheBarrier) {
  store(1, 0);
  barrier();
  shadow.proxy_fence(0, 1, false);
  begin(0, 0, false, Kind::none);
}

TEST_F(AsyncAccessesTest, AFenceIsNoBarrier) {
  store(1, 0);
  shadow.proxy_fence(1, ~0u, true);
  begin(0, 0, false, Kind::race);
}

TEST_F(AsyncAccessesTest, AFenceBeforeTheWriteOrByAnotherThreadIsNone) {
  shadow.proxy_fence(1, ~0u, true);
  store(1, 0);
  barrier();
  begin(0, 0, false, Kind::unfenced);
  store(1, 128);
  shadow.proxy_fence(1, 1, false);  // lane 0 for itself
  barrier();
  begin(0, 0, false, Kind::unfenced, 128, 16);
  EXPECT_EQ(last.offset, 132u);  // what lane 1 wrote
}

TEST_F(AsyncAccessesTest, ReadsOfWhatWasNeverWritten) {
  begin(0, 0, false, Kind::uninitialised);
}

TEST_F(AsyncAccessesTest, WhatIsWrittenMustBeWaitedFor) {
  const auto id = begin(0, 0, true, Kind::none);
  barrier();
  EXPECT_EQ(meet(4, 0, false), Kind::operation);
  async.seen(shadow, id, 5);
  EXPECT_EQ(meet(4, 0, false), Kind::operation);  // only warp 5 has waited …
  EXPECT_EQ(meet(5, 0, false), Kind::none);
  barrier();
  EXPECT_EQ(meet(4, 0, false), Kind::none);  // … until a barrier follows
  EXPECT_EQ(meet(4, 128, false), Kind::none);
}

TEST_F(AsyncAccessesTest, WhatIsReadMustNotBeWrittenUntilThen) {
  store(0, 0);
  shadow.proxy_fence(0, ~0u, true);
  barrier();
  const auto id = begin(4, everyone, false, Kind::none);
  EXPECT_EQ(meet(0, 0, false), Kind::none);
  EXPECT_EQ(meet(0, 0, true), Kind::operation);
  begin(0, 0, true, Kind::operation);
  async.seen(shadow, id, 4);
  barrier();
  EXPECT_EQ(meet(1, 0, true), Kind::operation);  // the write that began meanwhile
}

TEST_F(AsyncAccessesTest, ASlotIsReleasedByWhoHasWaited) {
  const auto load = begin(0, 0, true, Kind::none);
  async.seen(shadow, load, 4);
  const auto product = begin(4, everyone, false, Kind::none);
  std::vector<uint32_t> empty;
  shadow.release(4, empty);  // too early
  async.seen(shadow, product, 4);
  shadow.acquire(0, empty);
  begin(0, 0, true, Kind::operation);
}

TEST_F(AsyncAccessesTest, ManyOperationsInTurn) {
  for (int i = 0; i < 1000; ++i) {
    const auto load = begin(0, 0, true, Kind::none);
    async.seen(shadow, load, 4);
    const auto product = begin(4, everyone, false, Kind::none);
    async.seen(shadow, product, 4);
    std::vector<uint32_t> empty;
    shadow.release(4, empty);
    shadow.acquire(0, empty);
  }
}

}  // namespace
}  // namespace simulator::async_accesses
