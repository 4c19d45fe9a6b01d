// Copies that end later, and the barriers that count them.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class Async : public Execution {
 protected:
  // Words 0–31 of `out` hold 100 + i; they go to shared memory s (4 bytes a thread) by cp.async, and what a
  // thread finds there after `wait` goes to words 32–63.
  Result copy(const std::string& wait) {
    return run_ptx(".shared .align 16 .b8 s[256];\n" + start + R"(
      add.u32 %r2, %r1, 100;
      st.global.u32 [%rd1], %r2;
      mov.u32 %r3, s;
      shl.b32 %r4, %r1, 2;
      add.u32 %r4, %r3, %r4;
      st.shared.u32 [%r4], 7;
      st.shared.u32 [%r4+128], 7;
      cp.async.ca.shared.global [%r4], [%rd1], 4;
      cp.async.commit_group;
      cp.async.ca.shared.global [%r4+128], [%rd1], 4, 2;
      cp.async.commit_group;
      )" + wait + R"(
      ld.shared.u32 %r5, [%r4];
      ld.shared.u32 %r6, [%r4+128];
      st.global.u32 [%rd1+128], %r5;
      st.global.u32 [%rd1+256], %r6;)",
                   96, 32);
  }
};

TEST_F(Async, ACopyThatNobodyWaitedForHasNotHappened) {
  const Result r = copy("");
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[32 + i], 7u) << i;
}

TEST_F(Async, WaitingForAllButOneGroupEndsTheOlder) {
  const Result r = copy("cp.async.wait_group 1;");
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(r.words[32 + i], 100 + i) << i;
    EXPECT_EQ(r.words[64 + i], 7u) << i;
  }
}

TEST_F(Async, WhatIsNotReadBecomesZero) {
  for (const char* wait : {"cp.async.wait_group 0;", "cp.async.wait_all;"}) {
    const Result r = copy(wait);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(r.words[32 + i], 100 + i) << i;
      EXPECT_EQ(r.words[64 + i], (100 + i) & 0xffff) << i;
    }
  }
}

TEST_F(Async, SeedsEndCopiesEarlyAtTimes) {
  int early = 0;
  for (uint64_t seed = 1; seed < 40; ++seed) {
    settings().seed = seed;
    const Result r = copy("mov.u32 %r7, 0; L: add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 300; @%p1 bra L;");
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 32; ++i) early += r.words[32 + i] == 100 + i;
  }
  EXPECT_GT(early, 0);
}

TEST_F(Async, AnotherThreadMayReadOnlyAfterABarrierBehindTheWait) {
  const std::string body = ".shared .align 16 .b8 s[256];\n" + start + R"(
    st.global.u32 [%rd1], %r1;
    mov.u32 %r3, s;
    shl.b32 %r4, %r1, 2;
    add.u32 %r4, %r3, %r4;
    cp.async.ca.shared.global [%r4], [%rd1], 4;
    cp.async.commit_group;
    BEFORE
    cp.async.wait_group 0;
    AFTER
    xor.b32 %r5, %r4, 128;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd1], %r6;)";
  const auto with = [&](const std::string& before, const std::string& after) {
    std::string text = body;
    text.replace(text.find("BEFORE"), 6, before);
    text.replace(text.find("AFTER"), 5, after);
    return run_ptx(text, 64, 64);
  };
  const Result right = with("", "bar.sync 0;");
  ASSERT_FALSE(right.end) << right.end->what;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(right.words[i], i ^ 32) << i;
  const Result wrong = with("bar.sync 0;", "");
  ASSERT_TRUE(wrong.end);
  EXPECT_EQ(wrong.end->kind, FindingKind::race);
}

// Thread 0 makes an mbarrier for `count` arrivals at s, a barrier follows.
std::string with_mbarrier(uint32_t count) {
  return ".shared .align 16 .b8 s[512];\n" + start +
         "mov.u32 %r3, s;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READY;\n"
         "mbarrier.init.shared.b64 [%r3], " +
         std::to_string(count) + ";\nREADY: bar.sync 0;\n";
}

TEST_F(Async, APhaseEndsWithTheLastArrivalAndOrdersMemory) {
  // Warp 0 writes and arrives; warp 1 waits for phase 0 and reads.
  const Result r = run_ptx(with_mbarrier(32) + R"(
    and.b32 %r4, %r1, 31;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r3, %r4;
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra CONSUMER;
    st.shared.u32 [%r4+64], %r1;
    mbarrier.arrive.shared.b64 _, [%r3];
    bra DONE;
    CONSUMER: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;
    @!%p3 bra CONSUMER;
    ld.shared.u32 %r5, [%r4+64];
    st.global.u32 [%rd1], %r5;
    DONE: mov.u32 %r6, 0;)",
                           64, 64);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 32; i < 64; ++i) EXPECT_EQ(r.words[i], i - 32) << i;
}

TEST_F(Async, TokensTellPhasesApart) {
  const Result r = run_ptx(with_mbarrier(1) + R"(
    mbarrier.arrive.shared.b64 %rd2, [%r3];
    mbarrier.test_wait.shared.b64 %p2, [%r3], %rd2;
    mbarrier.arrive.noComplete.shared.b64 %rd3, [%r3], 0;
    mbarrier.test_wait.shared.b64 %p3, [%r3], %rd3;
    selp.u32 %r4, 1, 0, %p2;
    selp.u32 %r5, 2, 0, %p3;
    add.u32 %r4, %r4, %r5;
    st.global.u32 [%rd1], %r4;)",
                           1, 1);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 1u) << "the first phase is complete, the second is not";
}

TEST_F(Async, BytesUnderWayHoldAPhaseBack) {
  const Result r = run_ptx(with_mbarrier(1) + R"(
    mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r3], 48;
    mbarrier.test_wait.shared.b64 %p2, [%r3], %rd2;
    mbarrier.complete_tx.shared.b64 [%r3], 48;
    mbarrier.test_wait.shared.b64 %p3, [%r3], %rd2;
    selp.u32 %r4, 1, 0, %p2;
    selp.u32 %r5, 2, 0, %p3;
    add.u32 %r4, %r4, %r5;
    st.global.u32 [%rd1], %r4;)",
                           1, 1);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 2u);
}

TEST_F(Async, CopiesArriveWhenTheyHaveEnded) {
  const Result r = run_ptx(with_mbarrier(32) + R"(
    st.global.u32 [%rd1], %r1;
    shl.b32 %r4, %r1, 2;
    add.u32 %r4, %r3, %r4;
    cp.async.ca.shared.global [%r4+64], [%rd1], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
    xor.b32 %r5, %r1, 31;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r3, %r5;
    ld.shared.u32 %r6, [%r5+64];
    st.global.u32 [%rd1], %r6;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i ^ 31) << i;
}

TEST_F(Async, AWaitForTheWrongPhaseIsADeadlock) {
  const Result r = run_ptx(with_mbarrier(1) + R"(
    mbarrier.arrive.shared.b64 _, [%r3];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 1;
    @!%p2 bra WAIT;)",
                           1, 1);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::deadlock);
}

TEST_F(Async, MisuseOfAnMbarrierIsAFault) {
  const Result many = run_ptx(with_mbarrier(1) + "bar.sync 0; mbarrier.arrive.shared.b64 _, [%r3], 2;", 1, 1);
  ASSERT_TRUE(many.end);
  EXPECT_NE(many.end->what.find("expects 1 more"), std::string::npos) << many.end->what;
  const Result none = run_ptx(with_mbarrier(1) + "mbarrier.arrive.shared.b64 _, [%r3+16];", 1, 1);
  ASSERT_TRUE(none.end);
  EXPECT_NE(none.end->what.find("not been initialised"), std::string::npos) << none.end->what;
}

}  // namespace
}  // namespace simulator
