// Local memory of lanes that are in different calls, alloca, what of a read matters to the checks, and what
// else programs found in the wild have needed.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class ExecutionLocal : public Execution {};

TEST_F(ExecutionLocal, ACallLeavesTheMemoryOfLanesInOtherCallsAlone) {
  // Lanes 0 to 15 wait inside the function for the others, which enter it from a second call.
  const std::string function = R"(
    .func (.param .b32 result) keep(.param .b32 n)
    {
      .local .align 16 .b8 kept[32];
      .reg .b32 %r<4>;
      ld.param.u32 %r1, [n];
      st.local.u32 [kept+20], %r1;
      bar.warp.sync 0xffffffff;
      ld.local.u32 %r2, [kept+20];
      st.param.b32 [result], %r2;
      ret;
    })";
  const auto call = [](int index) {
    const std::string i = std::to_string(index);
    return "{ .param .b32 a" + i + "; .param .b32 b" + i + "; st.param.b32 [a" + i + "], %r2; call (b" + i +
           "), keep, (a" + i + "); ld.param.b32 %r3, [b" + i + "]; }\n";
  };
  const Result r = run_ptx(start + R"(
      mad.lo.u32 %r2, %r1, 3, 7;
      setp.ge.u32 %p1, %r1, 16;
      @%p1 bra HIGH;
      )" + call(1) + R"(
      bra DONE;
      HIGH:
      )" + call(2) + R"(
      DONE: st.global.u32 [%rd1], %r3;)",
                           32, 32, 1, function);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i * 3 + 7);
}

TEST_F(ExecutionLocal, LanesThatEnterOneAfterTheOtherMeetInside) {
  // Lanes 0 to 9 are in it directly, 10 to 19 through another function, with local memory of its own below,
  // 20 to 31 in a deeper activation of the same one.
  const std::string functions = R"(
    .func (.param .b32 result) total(.param .b32 n, .param .b32 deeper)
    {
      .local .align 16 .b8 kept[64];
      .reg .b32 %r<8>;
      .reg .b64 %rd<4>;
      .reg .pred %p<3>;
      ld.param.u32 %r1, [n];
      ld.param.u32 %r2, [deeper];
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra DEEPER;
      st.local.u32 [kept+4], %r1;
      mov.u64 %rd1, kept;
      mul.lo.u32 %r3, %r1, 3;
      shfl.sync.bfly.b32 %r4|%p2, %r1, 16, 31, -1;
      ld.local.u32 %r5, [kept+4];
      ld.local.u32 %r6, [%rd1+4];
      mad.lo.u32 %r4, %r4, 1000, %r3;
      add.u32 %r4, %r4, %r5;
      add.u32 %r4, %r4, %r6;
      bar.sync 0;
      st.param.b32 [result], %r4;
      ret;
      DEEPER:
      sub.u32 %r2, %r2, 1;
      { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b32 [b], %r2;
        call (c), total, (a, b); ld.param.b32 %r4, [c]; }
      st.param.b32 [result], %r4;
      ret;
    }
    .func (.param .b32 result) through(.param .b32 n)
    {
      .local .align 16 .b8 other[128];
      .reg .b32 %r<4>;
      ld.param.u32 %r1, [n];
      st.local.u32 [other+100], %r1;
      { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b32 [b], 0;
        call (c), total, (a, b); ld.param.b32 %r2, [c]; }
      ld.local.u32 %r3, [other+100];
      sub.u32 %r3, %r3, %r1;
      add.u32 %r2, %r2, %r3;
      st.param.b32 [result], %r2;
      ret;
    })";
  const std::string body = start + R"(
      add.u32 %r2, %r1, 5;
      setp.lt.u32 %p1, %r1, 10;
      @%p1 bra DIRECT;
      setp.lt.u32 %p2, %r1, 20;
      @%p2 bra THROUGH;
      { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r2; st.param.b32 [b], 2;
        call (c), total, (a, b); ld.param.b32 %r3, [c]; }
      bra DONE;
      DIRECT:
      { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r2; st.param.b32 [b], 0;
        call (c), total, (a, b); ld.param.b32 %r3, [c]; }
      bra DONE;
      THROUGH:
      { .param .b32 a; .param .b32 c; st.param.b32 [a], %r2; call (c), through, (a); ld.param.b32 %r3, [c]; }
      DONE:
      st.global.u32 [%rd1], %r3;)";
  for (uint64_t seed = 0; seed < 40; ++seed) {
    settings().seed = seed;
    const Result r = run_ptx(body, 32, 32, 1, functions);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], ((i ^ 16) + 5) * 1000 + (i + 5) * 5) << i;
  }
}

TEST_F(ExecutionLocal, WhatADebugBuildCopiesIsNotUninitialised) {
  const std::string body = start + R"(
      .local .align 16 .b8 kept[16];
      ld.local.u8 %r2, [kept];
      and.b32 %r2, %r2, 1;
      st.global.u32 [%rd1], %r1;)";
  const Result plain = run_ptx(body, 32, 32);
  ASSERT_TRUE(plain.end);
  EXPECT_EQ(plain.end->kind, FindingKind::uninitialised);
  const Result debug =
      run_ptx(body, 32, 32, 1, "", 0, 1, "", ".version 9.0\n.target sm_90a, debug\n.address_size 64\n");
  ASSERT_FALSE(debug.end) << debug.end->what;
}

TEST_F(ExecutionLocal, AllocaGivesEachLaneItsOwnArray) {
  // An array of 1 + lane % 5 words, then a second one, which a restored stack puts where it was before.
  const Result r = run_ptx(start + R"(
      stacksave.u64 %rd6;
      rem.u32 %r2, %r1, 5;
      add.u32 %r2, %r2, 1;
      mul.wide.u32 %rd2, %r2, 4;
      alloca.u64 %rd3, %rd2, 8;
      cvta.local.u64 %rd3, %rd3;
      mov.u32 %r3, 0;
      FILL: mul.wide.u32 %rd4, %r3, 4;
      add.u64 %rd4, %rd3, %rd4;
      add.u32 %r4, %r3, %r1;
      st.u32 [%rd4], %r4;
      add.u32 %r3, %r3, 1;
      setp.lt.u32 %p1, %r3, %r2;
      @%p1 bra FILL;
      alloca.u64 %rd5, 256;
      st.local.u32 [%rd5+252], %r1;
      sub.u64 %rd7, %rd5, %rd6;
      ld.u32 %r5, [%rd4];
      stackrestore.u64 %rd6;
      alloca.u64 %rd8, 4;
      setp.eq.u64 %p2, %rd8, %rd6;
      selp.u32 %r6, 1000, 0, %p2;
      add.u32 %r5, %r5, %r6;
      st.global.u32 [%rd1], %r5;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], 1000 + i + i % 5);
}

TEST_F(ExecutionLocal, BeyondWhatAllocaGaveIsOutOfBounds) {
  const Result r = run_ptx(start + "alloca.u64 %rd2, 32; st.local.u32 [%rd2+32], %r1;", 1, 32);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::local_out_of_bounds);
}

TEST_F(ExecutionLocal, AllocaOfTooMuchIsAStackOverflow) {
  const Result r = run_ptx(start + "mov.u64 %rd2, 0x7fffffffffffffff; alloca.u64 %rd3, %rd2, 16;", 1, 1);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::stack_overflow);
}

TEST_F(ExecutionLocal, PaddingMayBeCopiedUnwritten) {
  // struct { char; double } and struct { float[3]; padding }, copied as the compiler does.
  const Result r = run_ptx(R"(.local .align 16 .b8 from[32];)" + start + R"(
      st.local.u8 [from], %r1;
      st.local.u64 [from+8], %rd1;
      ld.local.v2.u64 {%rd2, %rd3}, [from];
      st.local.u32 [from+16], %r1;
      .pragma "used_bytes_mask 15";
      ld.local.v2.u32 {%r2, %r3}, [from+16];
      .pragma "used_bytes_mask 0xf0f";
      ld.local.v4.u32 {%r4, %r5, %r6, %r7}, [from];
      st.global.u32 [%rd1], %r2;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i);
}

TEST_F(ExecutionLocal, AValueOfWhichNothingWasWrittenIsTold) {
  for (const char* load : {"ld.local.v2.u64 {%rd2, %rd3}, [from];", "ld.local.u32 %r2, [from+8];",
                           ".pragma \"used_bytes_mask 65280\"; ld.local.v2.u64 {%rd2, %rd3}, [from];"}) {
    const Result r =
        run_ptx(".local .align 16 .b8 from[16];" + start + "st.local.u8 [from], %r1;" + load, 1, 1);
    ASSERT_TRUE(r.end) << load;
    EXPECT_EQ(r.end->kind, FindingKind::uninitialised);
  }
  // The pragma is about one instruction only.
  const Result r = run_ptx(".local .align 16 .b8 from[16];" + start + R"(
      st.local.u32 [from], %r1;
      .pragma "used_bytes_mask 15";
      ld.local.v2.u32 {%r2, %r3}, [from];
      ld.local.v2.u32 {%r2, %r3}, [from];)",
                           1, 1);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::uninitialised);
}

TEST_F(ExecutionLocal, PaddingInSharedMemory) {
  const std::string shared = ".shared .align 16 .b8 s[2048];";
  const std::string address = "mul.lo.u32 %r2, %r1, 16; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n";
  const Result fine = run_ptx(start + address + R"(
      st.shared.u8 [%r2], %r1;
      st.shared.u64 [%r2+8], %rd1;
      ld.shared.v2.u64 {%rd2, %rd3}, [%r2];
      .pragma "used_bytes_mask 0xff0f";
      ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];
      st.global.u32 [%rd1], %r6;)",
                              64, 64, 1, shared);
  ASSERT_FALSE(fine.end) << fine.end->what;
  const Result reported = run_ptx(start + address + R"(
      st.shared.u8 [%r2], %r1;
      ld.shared.v2.u64 {%rd2, %rd3}, [%r2];)",
                                  64, 64, 1, shared);
  ASSERT_TRUE(reported.end);
  EXPECT_EQ(reported.end->kind, FindingKind::uninitialised);
}

// Of a register of 64 bits the lower half: a generic address works, too.
TEST_F(ExecutionLocal, ASharedAddressHas32Bits) {
  const Result r = run_ptx(start + R"(
      mov.u64 %rd2, s; cvta.shared.u64 %rd3, %rd2; st.shared.u32 [%rd3], 7; ld.shared.u32 %r2, [%rd2];
      st.global.u32 [%rd1], %r2;)",
                           1, 1, 1, ".shared .align 16 .b8 s[16];");
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 7u);
}

TEST_F(ExecutionLocal, DependentLaunchesNeedNoWaiting) {
  const Result r = run_ptx(start + R"(
      griddepcontrol.launch_dependents;
      griddepcontrol.wait;
      st.global.u32 [%rd1], %r1;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[31], 31u);
}

TEST_F(ExecutionLocal, GroupsOfSeveralWarpsHaveScratchMemory) {
  // Where the toolkit's headers find it; the kernel's own array stays its own. What they do with it, here a
  // race, is not checked.
  const Result r = run_ptx(start + R"(
      mov.u32 %r2, %reserved_smem_offset_1;
      mov.u32 %r3, s;
      add.u32 %r3, %r3, %r1;
      add.u32 %r2, %r2, %r1;
      st.shared.u8 [%r3], 1;
      st.shared.u8 [%r2], 2;
      ld.shared.u8 %r4, [%r3];
      ld.shared.u8 %r5, [%r2];
      xor.b32 %r6, %r1, 1;
      sub.u32 %r6, %r6, %r1;
      add.u32 %r6, %r2, %r6;
      ld.shared.u8 %r7, [%r6];
      mad.lo.u32 %r4, %r4, 10, %r5;
      st.global.u32 [%rd1], %r4;)",
                           288, 288, 1, ".shared .align 4 .b8 s[288];");
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 288; ++i) EXPECT_EQ(r.words[i], 12u);
}

TEST_F(ExecutionLocal, NullAndHostPointersAreSaidToBeSuch) {
  const Result null = run_ptx(start + "mov.u64 %rd2, 16; ld.global.u32 %r2, [%rd2];", 1, 1);
  ASSERT_TRUE(null.end);
  EXPECT_NE(null.end->what.find("a null pointer"), std::string::npos) << null.end->what;
  const Result host = run_ptx(start + "mov.u64 %rd2, 0x7ffee9bdc6c0; ld.global.u32 %r2, [%rd2];", 1, 1);
  ASSERT_TRUE(host.end);
  EXPECT_NE(host.end->what.find("host memory"), std::string::npos) << host.end->what;
}

TEST_F(ExecutionLocal, WithoutClustersEachCtaIsOneOfItsOwn) {
  const Result r = run_ptx(start + R"(
      mov.u32 %r2, %cluster_nctarank;
      mov.u32 %r3, %cluster_ctarank;
      mov.u32 %r4, %clusterid.x;
      mov.u32 %r5, %nclusterid.x;
      mad.lo.u32 %r2, %r3, 10, %r2;
      mad.lo.u32 %r2, %r4, 100, %r2;
      mad.lo.u32 %r2, %r5, 1000, %r2;
      mul.wide.u32 %rd2, %r4, 4;
      add.s64 %rd2, %rd0, %rd2;
      st.global.u32 [%rd2], %r2;)",
                           3, 1, 3);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words, (std::vector<uint32_t>{3001, 3101, 3201}));
}

}  // namespace
}  // namespace simulator
