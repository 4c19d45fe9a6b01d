// The executor where paths, frames, masks and CTAs meet in unusual ways.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class ExecutionReview : public Execution {};

TEST_F(ExecutionReview, WarpsThatExitWithoutWritingAreNoDeadlock) {
  // Warp 0 exits after the first barrier, which completes the second one for warp 1.
  for (uint64_t seed : {0, 1, 2, 3}) {
    settings().seed = seed;
    const Result r = run_ptx(start + R"(
      setp.lt.u32 %p1, %r1, 32;
      bar.sync 0;
      @%p1 exit;
      bar.sync 0;)",
                             1, 64);
    ASSERT_FALSE(r.end) << seed << ": " << r.end->what;
  }
}

TEST_F(ExecutionReview, ATurnThatEndsBeforeTheExitIsNoDeadlock) {
  // Turns are of 2^16 instructions; with any of these lengths of the tail one ends right before the exit.
  for (int tail = 0; tail < 3; ++tail) {
    std::string body = start + "mov.u32 %r2, 0;\n";
    for (int i = 0; i < tail; ++i) body += "mov.u32 %r4, 0;\n";
    const Result r = run_ptx(body + R"(
      LOOP: add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 21843;
      @%p1 bra LOOP;)",
                             1, 32);
    ASSERT_FALSE(r.end) << tail << ": " << r.end->what;
  }
}

TEST_F(ExecutionReview, ALaneMaySpinForALaneThatIsInALongFunction) {
  // Lane 0 waits while lane 1 is in a call that writes nothing for long.
  const std::string function = R"(
    .func (.param .b32 result) slow(.param .b32 n)
    {
      .reg .b32 %r<6>; .reg .pred %p<2>;
      ld.param.u32 %r1, [n];
      mov.u32 %r2, 0;
      LOOP: add.u32 %r2, %r2, 3;
      setp.lt.u32 %p1, %r2, 1000000;
      @%p1 bra LOOP;
      add.u32 %r1, %r1, %r2;
      st.param.b32 [result], %r1;
      ret;
    })";
  for (uint64_t seed : {0, 1}) {
    settings().seed = seed;
    const Result r = run_ptx(start + R"(
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra OTHER;
      SPIN: ld.volatile.global.u32 %r2, [%rd0+4];
      setp.eq.u32 %p2, %r2, 0;
      @%p2 bra SPIN;
      st.global.u32 [%rd0], %r2;
      bra JOIN;
      OTHER: { .param .b32 a; .param .b32 b;
        st.param.b32 [a], %r1;
        call.uni (b), slow, (a);
        ld.param.b32 %r3, [b]; }
      st.volatile.global.u32 [%rd1], %r3;
      JOIN:)",
                             2, 2, 1, function);
    ASSERT_FALSE(r.end) << seed << ": " << r.end->what;
    EXPECT_EQ(r.words[0], 1000003u);
  }
}

TEST_F(ExecutionReview, ALongLoopOfEqualCallsIsNoDeadlock) {
  // The function's own registers are the same each time.
  const std::string function = R"(
    .func same()
    {
      .reg .b32 %r<3>;
      mov.u32 %r1, 1;
      add.u32 %r2, %r1, 1;
      ret;
    })";
  for (const char* body : {"call.uni same;", "call.uni same;\ncall.uni same;"}) {
    const Result r = run_ptx(start + "mov.u32 %r2, 0;\nLOOP: " + body + R"(
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 100000;
      @%p1 bra LOOP;
      st.global.u32 [%rd0], %r2;)",
                             1, 32, 1, function);
    ASSERT_FALSE(r.end) << r.end->what;
    EXPECT_EQ(r.words[0], 100000u);
  }
}

TEST_F(ExecutionReview, WarpBarriersOfTilesWaitForTheirOwnLanes) {
  // Tiles of 16 lanes. Lanes 24 to 31 come to the barrier from a block that stands behind it, so that lanes 0
  // to 23 are there first: tile 0 may pass, lanes 16 to 23 must not.
  const Result r = run_ptx(".shared .align 4 .b8 s[128];\n" + start + R"(
    mov.u32 %r2, s;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r2, %r3;
    setp.lt.u32 %p1, %r1, 16;
    selp.b32 %r8, 0xffff, 0xffff0000, %p1;
    setp.ge.u32 %p2, %r1, 24;
    @%p2 bra LATE;
    st.shared.u32 [%r3], %r1;
    MEET: bar.warp.sync %r8;
    xor.b32 %r4, %r1, 8;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r2, %r4;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd1], %r5;
    ret;
    LATE: add.u32 %r6, %r1, 100;
    st.shared.u32 [%r3], %r6;
    bra MEET;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], (i ^ 8) + (i >= 16 && i < 24 ? 100 : 0)) << i;
}

TEST_F(ExecutionReview, WarpBarriersOfTilesMeetAcrossInstructions) {
  // Each tile's halves arrive at different instructions.
  const Result r = run_ptx(".shared .align 4 .b8 s[128];\n" + start + R"(
    mov.u32 %r2, s;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r2, %r3;
    st.shared.u32 [%r3], %r1;
    setp.lt.u32 %p1, %r1, 16;
    selp.b32 %r8, 0xffff, 0xffff0000, %p1;
    and.b32 %r9, %r1, 8;
    setp.eq.u32 %p2, %r9, 0;
    @%p2 bra LOW;
    bar.warp.sync %r8;
    bra JOIN;
    LOW: bar.warp.sync %r8;
    JOIN: xor.b32 %r4, %r1, 8;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r2, %r4;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd1], %r5;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i ^ 8) << i;
}

TEST_F(ExecutionReview, AddressesBeyondAllWindowsAreIllegal) {
  // One lane's generic address is wild; then all lanes' are a good address with a bit too many.
  const Result one = run_ptx(start + R"(
    setp.eq.u32 %p1, %r1, 5;
    mov.b64 %rd2, 0xfffffffffffffff0;
    selp.b64 %rd1, %rd2, %rd1, %p1;
    ld.u32 %r2, [%rd1];
    st.global.u32 [%rd0], %r2;)",
                             32, 32);
  ASSERT_TRUE(one.end);
  EXPECT_EQ(one.end->kind, FindingKind::illegal_address);
  EXPECT_EQ(one.end->site.thread[0], 5u);
  EXPECT_NE(one.end->what.find("0xfffffffffffffff0"), std::string::npos) << one.end->what;
  const Result all = run_ptx(start + R"(
    mov.b64 %rd2, 0x8000000000000000;
    add.s64 %rd1, %rd1, %rd2;
    ld.u32 %r2, [%rd1];)",
                             32, 32);
  ASSERT_TRUE(all.end);
  EXPECT_EQ(all.end->kind, FindingKind::illegal_address);
}

TEST_F(ExecutionReview, MoreLocalMemoryThanAThreadHasIsToldNotFatal) {
  const Result r = run_ptx(".local .align 16 .b8 depot[600000];\n" + start + "mov.u64 %rd2, depot;", 1, 32);
  ASSERT_TRUE(r.end);
}

TEST_F(ExecutionReview, DynamicSharedArraysBeginAtOneAddress) {
  // CUDA C++ Programming Guide, "__shared__": all begin at the same address, whatever their alignment.
  const Result r = run_ptx(
      ".shared .align 4 .b8 fixed[20];\n" + start + R"(
    mov.u32 %r2, fixed;
    st.shared.u32 [%r2], 1;
    mov.u32 %r3, narrow;
    mov.u32 %r4, wide;
    sub.u32 %r5, %r4, %r3;
    and.b32 %r6, %r4, 127;
    st.global.u32 [%rd0], %r5;
    st.global.u32 [%rd0+4], %r6;
    add.u32 %r4, %r4, 60;
    st.shared.u32 [%r4], 7;)",
      2, 1, 1, ".extern .shared .align 128 .b8 wide[];\n.extern .shared .align 4 .b8 narrow[];\n", 64);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 0u);
  EXPECT_EQ(r.words[1], 0u);
}

TEST_F(ExecutionReview, UnalignedBarriersMayBeReachedOnSeveralPaths) {
  const std::string head = start + R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
    )";
  const std::string tail = "JOIN: st.global.u32 [%rd1], 5;";
  const Result r = run_ptx(head + "barrier.sync 0;\nbra JOIN;\nLOW: barrier.sync 0;\n" + tail, 64, 64);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[63], 5u);
}

TEST_F(ExecutionReview, ACountOfAllThreadsIsTheSameAsNone) {
  const Result r = run_ptx(start + R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra LOW;
    bar.sync 0;
    bra JOIN;
    LOW: bar.sync 0, 64;
    JOIN: st.global.u32 [%rd1], 5;)",
                           64, 64);
  ASSERT_FALSE(r.end) << r.end->what;
}

TEST_F(ExecutionReview, ReductionsOnSeveralPathsCountEveryLane) {
  settings().checks = Checks::off;
  const Result r = run_ptx(start + R"(
    setp.lt.u32 %p1, %r1, 16;
    setp.ge.u32 %p2, %r1, 0;
    setp.eq.u32 %p3, %r1, 0;
    @%p1 bra LOW;
    barrier.red.popc.u32 %r2, 0, %p2;
    bra JOIN;
    LOW: barrier.red.popc.u32 %r2, 0, %p3;
    JOIN: st.global.u32 [%rd1], %r2;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], 17u) << i;
}

TEST_F(ExecutionReview, FloatAtomicsFlushSubnormalsInGlobalMemoryOnly) {
  // PTX ISA 9.7.13.5 and 9.7.13.6.
  const Result r = run_ptx(".shared .align 4 .b8 s[4];\n" + start + R"(
    mov.u32 %r2, s;
    st.shared.u32 [%r2], 0x00000003;
    mov.b32 %f1, 0x00000005;
    mov.b32 %f2, 0x80000005;
    st.global.u32 [%rd0], 0x00000003;
    st.global.u32 [%rd0+4], 0x80000003;
    st.global.u32 [%rd0+8], 0x00000003;
    atom.shared.add.f32 %f3, [%r2], %f1;
    red.global.add.f32 [%rd0], %f1;
    red.global.add.f32 [%rd0+4], %f2;
    red.add.f32 [%rd0+8], %f1;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%rd0+12], %r3;
    cvta.shared.u64 %rd2, 0;
    cvt.u64.u32 %rd3, %r2;
    add.s64 %rd2, %rd2, %rd3;
    red.add.f32 [%rd2], %f1;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%rd0+16], %r3;)",
                           5, 1);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 0u);
  EXPECT_EQ(r.words[1], 0x80000000u);
  EXPECT_EQ(r.words[2], 0u);
  EXPECT_EQ(r.words[3], 8u);
  EXPECT_EQ(r.words[4], 13u);
}

TEST_F(ExecutionReview, ACtaMayWaitForALaterOneWithFencesOnly) {
  // As older programs do: no volatile, but a fence in the loop. And with loads that bypass the caches.
  for (const char* spin : {"ld.global.u32 %r3, [%rd0]; membar.gl;", "ld.global.cv.u32 %r3, [%rd0];",
                           "ld.global.u32 %r3, [%rd0]; fence.acq_rel.gpu;"}) {
    const Result r = run_ptx(start + R"(
      mov.u32 %r2, %ctaid.x;
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra OTHERS;
      SPIN: )" + spin + R"(
      setp.eq.u32 %p2, %r3, 0;
      @%p2 bra SPIN;
      st.global.u32 [%rd0+4], %r3;
      ret;
      OTHERS: st.global.u32 [%rd0], 9;)",
                             2, 1, 3);
    ASSERT_FALSE(r.end) << spin << r.end->what;
    EXPECT_EQ(r.words[1], 9u);
    EXPECT_TRUE(sensitive_) << spin;
  }
}

TEST_F(ExecutionReview, TheClockNeverShowsTheSameTimeTwice) {
  const Result r = run_ptx(start + R"(
    mov.u64 %rd2, %clock64;
    mov.u32 %r2, %clock;
    mov.u64 %rd3, %clock64;
    setp.lt.u64 %p1, %rd2, %rd3;
    selp.u32 %r3, 1, 0, %p1;
    mov.u32 %r4, %clock;
    sub.u32 %r5, %r4, %r2;
    st.global.u32 [%rd0], %r3;
    st.global.u32 [%rd0+4], %r5;)",
                           2, 1);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 1u);
  EXPECT_GT(r.words[1], 0u);
}

// Four warps count to 1000 each, as though at the same time: an instruction takes 1, and so does a reading
// by any of them.
TEST_F(ExecutionReview, TheClockTellsInstructionsOfWarpsThatRunAtTheSameTime) {
  const Result r = run_ptx(start + R"(
    mov.u32 %r2, %clock; mov.u32 %r3, 0;
    LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 1000; @%p1 bra LOOP;
    mov.u32 %r4, %clock; bar.sync 0; mov.u32 %r5, %clock;
    sub.u32 %r6, %r4, %r2; st.global.u32 [%rd1], %r6; sub.u32 %r6, %r5, %r4; st.global.u32 [%rd1+512], %r6;)",
                           256, 128);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t t = 0; t < 128; ++t) {
    EXPECT_GE(r.words[t], 3000u);
    EXPECT_LE(r.words[t], 3020u);
    EXPECT_LE(r.words[128 + t], 60u) << "a barrier that all come to at the same time";
  }
}

TEST_F(ExecutionReview, WhatOtherCtasReduceDoesNotChangeTheOrderOfWarps) {
  // No thread waits for a reduction without a result, so it must not end a warp's turn: whether it changed
  // memory depends on the other CTAs. The warps draw tickets from a counter in shared memory.
  const std::string body = ".shared .align 4 .b8 s[4];\n" + start + R"(
    mov.u32 %r2, s;
    mov.u32 %r3, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [%r2], 0;
    bar.sync 0;
    setp.ge.u32 %p3, %r1, 32;
    mov.u32 %r6, 0;
    LOOP: @%p3 red.global.max.u32 [%rd0], %r3;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 2;
    @%p2 bra LOOP;
    atom.shared.add.u32 %r4, [%r2], 1;
    mad.lo.u32 %r7, %r3, 64, %r1;
    add.u32 %r7, %r7, 1;
    mul.wide.u32 %rd2, %r7, 4;
    add.s64 %rd2, %rd0, %rd2;
    st.global.u32 [%rd2], %r4;)";
  settings().threads = 1;
  const uint32_t ctas = 50;
  const Result r = run_ptx(body, 1 + 64 * ctas, 64, ctas);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_FALSE(sensitive_);
  // CTA 0 changes nothing, the others do: all the same, the warps come in one order.
  for (uint32_t i = 0; i < 64 * ctas; ++i) EXPECT_EQ(r.words[1 + i], r.words[1 + i % 64]) << i;
}

// However long: a deadlock is looked for every 8 million instructions, and the clock goes on meanwhile.
TEST_F(ExecutionReview, ASpinOnTheClockIsNoDeadlock) {
  const Result r = run_ptx(start + R"(
      mov.u64 %rd2, %clock64;
      LOOP: mov.u64 %rd3, %clock64;
      sub.u64 %rd3, %rd3, %rd2;
      setp.lt.u64 %p1, %rd3, 12000000;
      @%p1 bra LOOP;
      st.global.u32 [%rd1], 1;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 1u);
}

}  // namespace
}  // namespace simulator
