// The executor on PTX written for the purpose: control flow, warp-wide instructions, barriers, order,
// refusals.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

TEST_F(Execution, LoopsWithDifferentTripCountsJoinAgain) {
  // Each lane loops tid times; then all of the warp vote together.
  const Result r = run_ptx(start + R"(
    mov.u32 %r2, 0;
    LOOP: setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    add.u32 %r2, %r2, 1;
    bra LOOP;
    DONE: activemask.b32 %r3;
    popc.b32 %r4, %r3;
    shl.b32 %r4, %r4, 8;
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd1], %r2;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i + (32u << 8)) << i;
}

TEST_F(Execution, NestedBranches) {
  const Result r = run_ptx(start + R"(
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    and.b32 %r3, %r1, 2;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra LOW;
    mov.u32 %r4, 3;
    bra JOIN;
    LOW: mov.u32 %r4, 1;
    bra JOIN;
    EVEN: mov.u32 %r4, 2;
    JOIN: st.global.u32 [%rd1], %r4;)",
                           48, 48);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 48; ++i) EXPECT_EQ(r.words[i], i % 2 == 0 ? 2u : i & 2 ? 3u : 1u) << i;
}

TEST_F(Execution, IndexedBranchSendsEveryLaneToItsOwnTarget) {
  const Result r = run_ptx(start + R"(
    rem.u32 %r2, %r1, 3;
    T: .branchtargets A, B, C;
    setp.ne.u32 %p1, %r1, 31;
    @%p1 brx.idx %r2, T;
    mov.u32 %r3, 99;
    bra JOIN;
    A: mov.u32 %r3, 10;
    bra JOIN;
    B: mov.u32 %r3, 11;
    bra JOIN;
    C: mov.u32 %r3, 12;
    JOIN: st.global.u32 [%rd1], %r3;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 31; ++i) EXPECT_EQ(r.words[i], 10 + i % 3) << i;
  EXPECT_EQ(r.words[31], 99u);
}

TEST_F(Execution, ALaneMaySpinForAnotherLaneOfItsWarp) {
  // Lane 0 waits for what lane 1 writes after its own loop, which stands further down.
  const Result r = run_ptx(start + R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OTHERS;
    SPIN: ld.volatile.global.u32 %r2, [%rd0+4];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
    st.global.u32 [%rd0], %r2;
    bra JOIN;
    OTHERS: mov.u32 %r3, 7;
    st.volatile.global.u32 [%rd1], %r3;
    JOIN: bar.warp.sync -1;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 7u);
  EXPECT_TRUE(sensitive_);
}

TEST_F(Execution, ACtaMaySpinForALaterOne) {
  for (uint64_t seed : {0, 1, 2}) {
    settings().seed = seed;
    const Result r = run_ptx(start + R"(
      mov.u32 %r2, %ctaid.x;
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra OTHERS;
      SPIN: ld.acquire.gpu.global.u32 %r3, [%rd0];
      setp.ne.u32 %p2, %r3, 9;
      @%p2 bra SPIN;
      mov.u32 %r4, 77;
      st.global.u32 [%rd0+4], %r4;
      ret;
      OTHERS: red.global.add.u32 [%rd0], 1;)",
                             2, 1, 10);
    ASSERT_FALSE(r.end) << r.end->what;
    EXPECT_EQ(r.words[1], 77u);
  }
}

TEST_F(Execution, CallsKeepTheirFramesApart) {
  // f(n) = n < 2 ? 1 : n · f(n − 1), each lane to its own depth.
  const std::string function = R"(
    .func (.param .b32 result) factorial(.param .b32 n)
    {
      .reg .b32 %r<6>; .reg .pred %p<2>;
      ld.param.u32 %r1, [n];
      mov.u32 %r2, 1;
      setp.lt.u32 %p1, %r1, 2;
      @%p1 bra DONE;
      sub.u32 %r3, %r1, 1;
      { .param .b32 a; .param .b32 b;
        st.param.b32 [a], %r3;
        call.uni (b), factorial, (a);
        ld.param.b32 %r4, [b]; }
      mul.lo.u32 %r2, %r1, %r4;
      DONE: st.param.b32 [result], %r2;
      ret;
    })";
  const Result r = run_ptx(start + R"(
    and.b32 %r2, %r1, 7;
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %r2;
      call.uni (b), factorial, (a);
      ld.param.b32 %r3, [b]; }
    st.global.u32 [%rd1], %r3;)",
                           40, 40, 1, function);
  ASSERT_FALSE(r.end) << r.end->what;
  const uint32_t expected[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(r.words[i], expected[i % 8]) << i;
}

TEST_F(Execution, FunctionPointersCallWhatEachLaneNames) {
  const std::string functions = R"(
    .func (.param .b32 result) one(.param .b32 n)
    { .reg .b32 %r<3>; ld.param.u32 %r1, [n]; add.u32 %r2, %r1, 100; st.param.b32 [result], %r2; ret; }
    .func (.param .b32 result) two(.param .b32 n)
    { .reg .b32 %r<3>; ld.param.u32 %r1, [n]; add.u32 %r2, %r1, 200; st.param.b32 [result], %r2; ret; }
    .global .align 8 .u64 table[2] = {one, two};
  )";
  const Result r = run_ptx(start + R"(
    and.b32 %r2, %r1, 1;
    mul.wide.u32 %rd2, %r2, 8;
    mov.u64 %rd3, table;
    add.s64 %rd3, %rd3, %rd2;
    ld.global.u64 %rd4, [%rd3];
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %r1;
      prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (b), %rd4, (a), prototype;
      ld.param.b32 %r3, [b]; }
    st.global.u32 [%rd1], %r3;)",
                           32, 32, 1, functions);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i + (i & 1 ? 200 : 100)) << i;
}

TEST_F(Execution, NamedBarriersLetSubsetsMeet) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; values pass through shared memory.
  const Result r = run_ptx(".shared .align 4 .b8 s[512];\n" + start + R"(
    shr.u32 %r2, %r1, 6;
    add.u32 %r3, %r2, 1;
    mov.u32 %r4, s;
    shl.b32 %r5, %r1, 2;
    add.u32 %r5, %r4, %r5;
    st.shared.u32 [%r5], %r1;
    bar.sync %r3, 64;
    xor.b32 %r6, %r1, 32;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r4, %r6;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd1], %r7;)",
                           128, 128);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(r.words[i], i ^ 32) << i;
}

TEST_F(Execution, BarrierReductions) {
  const Result r = run_ptx(start + R"(
    setp.lt.u32 %p1, %r1, 40;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, !%p1;
    selp.u32 %r3, 256, 0, %p2;
    selp.u32 %r4, 512, 0, %p3;
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd1], %r2;)",
                           100, 100);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(r.words[i], 40u + 512u) << i;
}

TEST_F(Execution, ShufflesWaitForLanesOnOtherPaths) {
  // Odd lanes take a longer way to the same shuffle.
  const Result r = run_ptx(start + R"(
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    mov.u32 %r3, %r1;
    @%p1 bra MEET;
    add.u32 %r3, %r3, 1000;
    MEET: shfl.sync.bfly.b32 %r4|%p2, %r3, 1, 31, -1;
    st.global.u32 [%rd1], %r4;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], (i ^ 1) + ((i & 1) == 0 ? 1000 : 0)) << i;
}

TEST_F(Execution, WarpBarrierJoinsDifferentInstructions) {
  const Result r = run_ptx(".shared .align 4 .b8 s[128];\n" + start + R"(
    mov.u32 %r2, s;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r2, %r3;
    st.shared.u32 [%r3], %r1;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
    bar.warp.sync -1;
    bra JOIN;
    LOW: bar.warp.sync -1;
    JOIN: xor.b32 %r4, %r1, 16;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r2, %r4;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd1], %r5;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i ^ 16) << i;
}

TEST_F(Execution, DeadlockNamesWhoWaits) {
  const Result r = run_ptx(start + "bar.sync 3, 128;", 1, 64);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::deadlock);
  ASSERT_EQ(r.end->details.size(), 1u);
  EXPECT_NE(r.end->details[0].find("warps 0-1, lanes 0-31 wait at barrier 3"), std::string::npos)
      << r.end->details[0];
  EXPECT_NE(r.end->details[0].find("64 of 128"), std::string::npos) << r.end->details[0];
}

TEST_F(Execution, SpinningForWhatNoThreadWritesIsADeadlock) {
  for (uint64_t seed : {0, 3}) {
    settings().seed = seed;
    const Result r =
        run_ptx(start + "SPIN: ld.volatile.global.u32 %r2, [%rd0]; setp.eq.u32 %p1, %r2, 0; @%p1 bra SPIN;",
                1, 32, 3);
    ASSERT_TRUE(r.end) << seed;
    EXPECT_EQ(r.end->kind, FindingKind::deadlock);
  }
}

TEST_F(Execution, ALoopThatKeepsStoringTheSameIsADeadlock) {
  for (uint64_t seed : {0, 3}) {
    settings().seed = seed;
    for (const char* load :
         {"ld.volatile.global.u32", "ld.global.u32"}) {  // in turns with other CTAs, and not
      const Result r = run_ptx(start + R"(
    mov.u32 %r3, %ctaid.x;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd2, %rd0, %rd2;
    SPIN: st.global.u32 [%rd2+4], 5;)" +
                                   load + " %r2, [%rd0]; setp.eq.u32 %p1, %r2, 0; @%p1 bra SPIN;",
                               4, 32, 3);
      ASSERT_TRUE(r.end) << seed;
      EXPECT_EQ(r.end->kind, FindingKind::deadlock);
    }
  }
}

TEST_F(Execution, ALongLoopIsNoDeadlock) {
  const Result r = run_ptx(start + R"(
    mov.u32 %r2, 0;
    LOOP: add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 1000000;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r2;)",
                           1, 1);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 1000000u);
}

TEST_F(Execution, LanesAtDifferentBarriersAreTold) {
  const std::string body = start + R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
    bar.sync 0;
    bra JOIN;
    LOW: bar.sync 0;
    JOIN: st.global.u32 [%rd1], 5;)";
  const Result strict = run_ptx(body, 32, 32);
  ASSERT_TRUE(strict.end);
  EXPECT_EQ(strict.end->kind, FindingKind::divergent_barrier);
  settings().checks = Checks::off;  // then it does what a GPU does: goes on
  const Result loose = run_ptx(body, 32, 32);
  ASSERT_FALSE(loose.end);
  EXPECT_EQ(loose.words[31], 5u);
}

TEST_F(Execution, ResultsDoNotDependOnThreads) {
  // The order in which CTAs draw tickets decides what they write.
  const std::string body = start + R"(
    atom.global.add.u32 %r2, [%rd0], 1;
    mov.u32 %r3, %ctaid.x;
    add.u32 %r3, %r3, 1;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd2, %rd0, %rd2;
    st.global.u32 [%rd2], %r2;)";
  for (uint64_t seed : {0, 5}) {
    settings().seed = seed;
    settings().threads = 1;
    const Result one = run_ptx(body, 65, 1, 64);
    settings().threads = 7;
    const Result seven = run_ptx(body, 65, 1, 64);
    EXPECT_EQ(one.words, seven.words);
    EXPECT_EQ(one.words[0], 64u);
  }
}

TEST_F(Execution, CommutingAtomicsOfManyCtasAddUp) {
  const Result r = run_ptx(start + "atom.global.add.u32 %r2, [%rd0], %r1;", 1, 256, 200);
  ASSERT_FALSE(r.end);
  EXPECT_FALSE(sensitive_) << "%r2 is not read";
  EXPECT_EQ(r.words[0], 200u * 255 * 128);
}

TEST_F(Execution, GuardedInstructionsKeepTheOtherLanes) {
  const Result r = run_ptx(start + R"(
    mov.u32 %r2, 4;
    setp.gt.u32 %p1, %r1, 9;
    @%p1 mov.u32 %r2, 8;
    @!%p1 add.u32 %r2, %r2, 1;
    st.global.u32 [%rd1], %r2;)",
                           32, 32);
  ASSERT_FALSE(r.end);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i > 9 ? 8u : 5u) << i;
}

TEST_F(Execution, LocalMemoryIsEachThreadsOwn) {
  const Result r = run_ptx(".local .align 16 .b8 depot[64];\n" + start + R"(
    mov.u64 %rd2, depot;
    cvta.local.u64 %rd3, %rd2;
    mul.wide.u32 %rd4, %r1, 4;
    and.b64 %rd4, %rd4, 63;
    add.s64 %rd5, %rd3, %rd4;
    st.u32 [%rd5], %r1;
    add.s64 %rd6, %rd2, %rd4;
    ld.local.u32 %r2, [%rd6];
    st.global.u32 [%rd1], %r2;)",
                           64, 64);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], i) << i;
}

TEST_F(Execution, WhatTheSimulatorHasNotIsNamedAndStopsTheLaunch) {
  const Result r =
      run_ptx(start + "add.u32 %r2, %r1, 1;\nfrobnicate.u32 %r2, %r1;\nadd.sideways.u32 %r2, %r1, 1;", 1, 32);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::not_supported);
  EXPECT_NE(r.end->what.find("PTX line 9: frobnicate"), std::string::npos) << r.end->what;
}

TEST_F(Execution, InstructionsThatDifferInTheirOperandsOnlyAreRefusedInOneLine) {
  std::string body = start;
  for (int i = 0; i < 100; ++i) body += "frobnicate.u32 %r2, " + std::to_string(i) + ";\n";
  Module module(header + ".visible .entry k(.param .u64 out)\n{\n" + body +
                "frobnicate.s32 %r2, %r1;\nret;\n}\n");
  testing::internal::CaptureStderr();
  const KernelInfo& kernel = info(*module.kernel("k"));
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(kernel.unsupported.size(), 2u);
  EXPECT_EQ(
      kernel.unsupported[0],
      "PTX line 8: frobnicate.u32 %r2, 0: this simulator has no such instruction (and 99 more like it)");
  EXPECT_EQ(kernel.unsupported[1],
            "PTX line 108: frobnicate.s32 %r2, %r1: this simulator has no such instruction");
}

TEST_F(Execution, ALaunchFromTheDeviceIsRefusedByItsName) {
  Module module(header + ".extern .func __cudaCDP2LaunchDeviceV2;\n.visible .entry k(.param .u64 out)\n{\n" +
                start + "call.uni __cudaCDP2LaunchDeviceV2;\nret;\n}\n");
  testing::internal::CaptureStderr();
  const KernelInfo& kernel = info(*module.kernel("k"));
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(kernel.unsupported.size(), 1u);
  EXPECT_NE(kernel.unsupported[0].find("launches from the device"), std::string::npos)
      << kernel.unsupported[0];
}

TEST_F(Execution, RegistersShareStorageWhenTheyAreNotAliveTogether) {
  std::string body = start + ".reg .f32 %g<1001>;\nmov.f32 %g0, 0f3F800000;\n";
  for (int i = 1; i <= 1000; ++i) {
    body += "add.f32 %g" + std::to_string(i) + ", %g" + std::to_string(i - 1) + ", %g" +
            std::to_string(i - 1) + ";\n";
  }
  Module module(header + ".visible .entry k(.param .u64 out)\n{\n" + body +
                "st.global.f32 [%rd1], %g1000;\nret;\n}\n");
  EXPECT_LT(module.kernel("k")->entry->frame_bytes, 4096u);
}

TEST_F(Execution, RegistersAliveAroundALoopKeepTheirStorage) {
  // %r3 is written before the loop and read in it; temporaries of the loop body must not take its place.
  const Result r = run_ptx(start + R"(
    add.u32 %r3, %r1, 5;
    mov.u32 %r2, 0;
    mov.u32 %r4, 0;
    LOOP: add.u32 %r4, %r4, %r3;
    mul.lo.u32 %r5, %r4, 3;
    add.u32 %r6, %r5, 1;
    xor.b32 %r7, %r6, %r5;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 4;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r4;)",
                           32, 32);
  ASSERT_FALSE(r.end);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], 4 * (i + 5)) << i;
}

}  // namespace
}  // namespace simulator
