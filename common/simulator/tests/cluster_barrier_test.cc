// barrier.cluster in a cluster of one CTA.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

using ClusterBarrier = Execution;

// Every thread writes its number to shared memory and reads that of the thread 32 further, two warps.
std::string exchange(const std::string& arrive, const std::string& wait) {
  return ".shared .align 16 .b8 s[256];\n" + start + R"(
    mov.u32 %r3, s;
    shl.b32 %r4, %r1, 2;
    add.u32 %r4, %r3, %r4;
    st.shared.u32 [%r4], 7;
    bar.sync 0;
    st.shared.u32 [%r4], %r1;
    )" + arrive +
         "\n" + wait + R"(
    xor.b32 %r5, %r1, 32;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r3, %r5;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd1], %r6;)";
}

TEST_F(ClusterBarrier, OrdersTheThreadsOfTheCta) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    settings().seed = seed;
    const Result r = run_ptx(
        exchange("barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;"), 64, 64);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], i ^ 32) << i;
  }
}

TEST_F(ClusterBarrier, ArrivingIsNotWaiting) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    settings().seed = seed;
    const Result r = run_ptx(exchange("barrier.cluster.arrive;", ""), 64, 64);
    ASSERT_TRUE(r.end);
    EXPECT_EQ(r.end->kind, FindingKind::race);
  }
}

TEST_F(ClusterBarrier, PhasesFollowEachOtherAndTheExitedAreNotWaitedFor) {
  const Result r = run_ptx(start + R"(
    mov.u32 %r2, 0;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra DONE;
    LOOP: barrier.cluster.arrive;
    barrier.cluster.wait;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 5;
    @%p2 bra LOOP;
    DONE: st.global.u32 [%rd1], %r2;)",
                           64, 64);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 5u);
  EXPECT_EQ(r.words[32], 0u);
}

TEST_F(ClusterBarrier, OneWhoNeverArrivesIsADeadlock) {
  const Result r = run_ptx(start + R"(
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra OTHER;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    OTHER: bar.sync 0;)",
                           64, 64);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::deadlock);
}

TEST_F(ClusterBarrier, MisuseIsAFault) {
  const Result twice = run_ptx("barrier.cluster.arrive; barrier.cluster.arrive;", 1, 32);
  ASSERT_TRUE(twice.end);
  EXPECT_NE(twice.end->what.find("arrives twice"), std::string::npos) << twice.end->what;
  const Result never = run_ptx("barrier.cluster.wait;", 1, 32);
  ASSERT_TRUE(never.end);
  EXPECT_NE(never.end->what.find("has not arrived"), std::string::npos) << never.end->what;
}

}  // namespace
}  // namespace simulator
