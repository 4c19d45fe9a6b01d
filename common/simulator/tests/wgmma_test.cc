// wgmma: when products take effect, and what is found wrong around them. What they compute:
// programs/wgmma_hopper.cu.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "common/simulator/simulator.h"
#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class Wgmma : public Execution {
 protected:
  // A is 64 × 16 ones of bf16 from s on, B 16 × 8 twos from s + 2048 on, in core matrices of 128 bytes that
  // follow each other, so D is 32 everywhere. %rd4 and %rd5 are their descriptors, %f0 … %f3 the
  // accumulators, 1 at first; %r4 the thread's 16 bytes of A.
  static constexpr const char* shared = ".shared .align 1024 .b8 s[8192];\n";
  static std::string fill() {
    return std::string(shared) + start + R"(
      .reg .b32 %a<4>;
      mov.u32 %r3, s;
      shl.b32 %r4, %r1, 4;
      add.u32 %r4, %r3, %r4;
      mov.u32 %r5, 0x3f803f80;
      mov.u32 %r6, 0x40004000;
      st.shared.v4.b32 [%r4], {%r5, %r5, %r5, %r5};
      st.shared.v4.b32 [%r4+2048], {%r6, %r6, %r6, %r6};
      shr.u32 %r7, %r3, 4;
      cvt.u64.u32 %rd4, %r7;
      or.b64 %rd4, %rd4, 0x1000080000;    // 128 bytes to the next core matrix along k, 256 along m or n
      add.u64 %rd5, %rd4, 128;
      mov.f32 %f0, 0f3f800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
      mov.b32 %a0, %r5; mov.b32 %a1, %r5; mov.b32 %a2, %r5; mov.b32 %a3, %r5;
      setp.eq.u32 %p1, 0, 0;
    )";
  }
  static constexpr const char* proxy_fence = "fence.proxy.async.shared::cta;\n";
  static constexpr const char* barrier = "bar.sync 0;\n";
  static constexpr const char* fence = "wgmma.fence.sync.aligned;\n";
  static constexpr const char* product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p1, 1, 1, 0, "
      "0;\n";
  static constexpr const char* from_registers =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, %rd5, "
      "%p1, 1, 1, 0;\n";
  static constexpr const char* commit = "wgmma.commit_group.sync.aligned;\n";
  static std::string wait(int groups) {
    return "wgmma.wait_group.sync.aligned " + std::to_string(groups) + ";\n";
  }
  static constexpr const char* store = "st.global.f32 [%rd1], %f0;\n";
  static std::string ready() { return fill() + proxy_fence + barrier + fence; }

  Result run_group(const std::string& body, uint32_t threads = 128) {
    return run_ptx(body, threads, threads);
  }
  void gives(float expected, const std::string& body) {
    for (uint64_t seed : {0, 1, 2, 3, 4, 5}) {
      settings().seed = seed;
      const Result r = run_group(body);
      ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
      for (const uint32_t word : r.words) EXPECT_EQ(std::bit_cast<float>(word), expected) << "seed " << seed;
    }
  }
  // The same finding in any order, at an instruction that begins so; the text is in it or its details.
  void finds(FindingKind kind, const std::string& instruction, const std::string& text,
             const std::string& body, uint32_t threads = 128) {
    for (uint64_t seed : {0, 1, 2, 3, 4, 5}) {
      settings().seed = seed;
      const Result r = run_group(body, threads);
      ASSERT_TRUE(r.end) << "seed " << seed << ": nothing found";
      std::string all = r.end->what;
      for (const std::string& detail : r.end->details) all += "\n" + detail;
      EXPECT_EQ(r.end->kind, kind) << all;
      EXPECT_TRUE(r.end->site.instruction.starts_with(instruction)) << r.end->site.instruction << "\n" << all;
      EXPECT_NE(all.find(text), std::string::npos) << all;
    }
  }
};

TEST_F(Wgmma, Multiplies) {
  gives(33, ready() + product + commit + wait(0) + store);
  gives(65, ready() + product + product + commit + wait(0) + store);
  gives(33, ready() + from_registers + commit + wait(0) + store);
  gives(32, ready() + "setp.ne.u32 %p1, 0, 0;\n" + product + commit + wait(0) + store);
}

// Strict: the base offset says where the pattern of a swizzle begins that is at no multiple of its size.
TEST_F(Wgmma, ASwizzlesPatternBeginsAtAMultipleOfItsSize) {
  const auto described = [](const std::string& bits) {  // of B
    return fill() + "or.b64 %rd5, %rd5, " + bits + ";\n" + proxy_fence + barrier + fence + product + commit +
           wait(0) + store;
  };
  const std::string row = "0x8";  // 128 bytes on from a multiple of 1024
  const std::string swizzles[] = {"0x4000000000000000", "0x8000000000000000", "0xc000000000000000"};
  for (const std::string& swizzle : swizzles) {
    for (const bool strict : {false, true}) {
      settings().strict = strict;
      const auto problem = [&](const std::string& body) {
        settings().seed = 0;
        const Result r = run_group(body);
        return r.end ? r.end->what : std::string();
      };
      const std::string base = "or.b64 %rd5, %rd5, " + row + ";\n";
      const std::string what = problem(described(swizzle));
      EXPECT_EQ(what.find("in the middle of the pattern of its swizzle") != std::string::npos, false) << what;
      std::string moved = described(swizzle);
      moved.insert(moved.find("or.b64 %rd5"), base);
      const std::string wrong = problem(moved);
      EXPECT_EQ(wrong.find("in the middle of the pattern of its swizzle") != std::string::npos, strict)
          << wrong;
      moved.insert(moved.find("or.b64 %rd5"),
                   "or.b64 %rd5, %rd5, 0x2000000000000;\n");  // the base offset is 1
      const std::string right = problem(moved);
      EXPECT_EQ(right.find("in the middle of the pattern of its swizzle"), std::string::npos) << right;
    }
  }
}

TEST_F(Wgmma, TakesEffectWhenItIsWaitedFor) {
  settings().checks = Checks::off;
  const std::string two = ready() + product + commit + product + commit;
  for (const auto& [waits, expected] :
       {std::pair(std::string(), 1.f), {wait(2), 1.f}, {wait(1), 33.f}, {wait(0), 65.f}}) {
    const Result r = run_group(two + waits + store);
    ASSERT_FALSE(r.end) << r.end->what;
    for (const uint32_t word : r.words) EXPECT_EQ(std::bit_cast<float>(word), expected) << waits;
  }
}

TEST_F(Wgmma, CountsWhatItReadsOfSharedMemory) {
  const auto counted = [&](const std::string& products) {
    reset_counters();
    EXPECT_FALSE(run_group(ready() + products + commit + wait(0)).end);
    return read_counters().at(0).wgmma;
  };
  const Counts both = counted(std::string(product) + product);
  EXPECT_EQ(both.requests, 2u) << "one for the four warps";
  EXPECT_EQ(both.bytes, 2u * (64 * 16 + 16 * 8) * 2);
  EXPECT_EQ(both.wavefronts, 2u * (16 + 2));
  EXPECT_EQ(counted(from_registers).wavefronts, 2u);
}

TEST_F(Wgmma, ReadsSharedMemoryAndRegistersWhenItTakesEffect) {
  settings().checks = Checks::off;
  const std::string overwritten = "st.shared.v4.b32 [%r4+2048], {%r5, %r5, %r5, %r5};\n";
  Result r = run_group(ready() + product + commit + overwritten + barrier + wait(0) + store);
  ASSERT_FALSE(r.end) << r.end->what;
  for (const uint32_t word : r.words) EXPECT_EQ(std::bit_cast<float>(word), 17);
  r = run_group(ready() + from_registers + commit + "add.u32 %a0, %r6, 0; add.u32 %a2, %r6, 0;\n" + wait(0) +
                store);
  ASSERT_FALSE(r.end) << r.end->what;
  for (const uint32_t word : r.words) EXPECT_EQ(std::bit_cast<float>(word), 65);  // rows 0 to 7 of a warp
}

TEST_F(Wgmma, SeedsLetItTakeEffectEarlyAtTimes) {
  settings().checks = Checks::off;
  int early = 0;
  for (uint64_t seed = 1; seed < 40; ++seed) {
    settings().seed = seed;
    const Result r =
        run_group(ready() + product + commit +
                  "mov.u32 %r7, 0; L: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 900; @%p2 bra L;\n" + store);
    ASSERT_FALSE(r.end) << r.end->what;
    for (const uint32_t word : r.words) early += std::bit_cast<float>(word) == 33;
  }
  EXPECT_GT(early, 0);
}

TEST_F(Wgmma, RegistersAreNotTouchedBeforeTheWait) {
  const FindingKind kind = FindingKind::unfinished_async;
  finds(kind, "st.global", "it needs wgmma.wait_group 0 before this",
        ready() + product + commit + store + wait(0));
  finds(kind, "st.global", "it needs wgmma.wait_group 0 before this",
        ready() + product + commit + product + commit + wait(1) + store + wait(0));
  finds(kind, "st.global", "wgmma.commit_group and wgmma.wait_group 0",
        ready() + product + wait(0) + store + commit + wait(0));
  finds(kind, "add.f32", "holds D", ready() + product + commit + "add.f32 %f1, %f1, %f1;\n" + wait(0));
  finds(kind, "add.u32", "holds A", ready() + from_registers + commit + "add.u32 %a3, %r5, 1;\n" + wait(0));
  // A product may go on with the accumulators of another of its shape, not with the elements of A.
  finds(kind, "wgmma.mma_async", "holds D",
        ready() + product + commit + fence +
            "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, "
            "%rd4, %rd5, %p1, 1, 1, 0, 0;\n" +
            commit + wait(0));
}

// As ptxas makes it wait.
TEST_F(Wgmma, MovesWait) {
  gives(33, ready() + product + commit + "mov.f32 %f5, %f0;\n" + wait(0) + "st.global.f32 [%rd1], %f5;\n");
}

// A debug build stores every register right behind the instruction that writes it.
TEST_F(Wgmma, RegistersOfADebugBuildWait) {
  const std::string debug = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n";
  for (uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    settings().seed = seed;
    const Result r = run_ptx(ready() + product + store + commit + wait(0), 128, 128, 1, "", 0, 1, "", debug);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (const uint32_t word : r.words) EXPECT_EQ(std::bit_cast<float>(word), 33.0f) << "seed " << seed;
  }
}

TEST_F(Wgmma, RegistersNeedAFence) {
  const FindingKind kind = FindingKind::missing_fence;
  finds(kind, "wgmma.mma_async", "no wgmma.fence comes before the first",
        fill() + proxy_fence + barrier + product + commit + wait(0));
  finds(kind, "wgmma.mma_async", "no wgmma.fence since",
        ready() + "add.f32 %f2, %f2, %f2;\n" + product + commit + wait(0));
  finds(kind, "wgmma.mma_async", "no wgmma.fence since",
        ready() + "add.u32 %a1, %r5, 0;\n" + from_registers + commit + wait(0));
  finds(kind, "wgmma.mma_async", "no wgmma.fence since",
        ready() + product + commit + wait(0) + store + product + commit + wait(0));
  gives(65, ready() + product + commit + wait(0) + store + fence + product + commit + wait(0) + store);
}

TEST_F(Wgmma, SharedMemoryNeedsAProxyFence) {
  const FindingKind kind = FindingKind::missing_fence;
  finds(kind, "wgmma.mma_async", "the other write is by thread",
        fill() + barrier + fence + product + commit + wait(0));
  // By a thread that has written nothing, before the barrier.
  finds(kind, "wgmma.mma_async", "fence.proxy.async",
        fill() + "setp.eq.u32 %p2, %r1, 0;\n@%p2 fence.proxy.async;\n" + barrier + fence + product + commit +
            wait(0));
  // Of global memory only.
  finds(kind, "wgmma.mma_async", "fence.proxy.async",
        fill() + "fence.proxy.async.global;\n" + barrier + fence + product + commit + wait(0));
  // Too early.
  finds(kind, "wgmma.mma_async", "fence.proxy.async",
        fill() + proxy_fence + "st.shared.b32 [%r4], %r5;\n" + barrier + fence + product + commit + wait(0));
  gives(33,
        fill() + barrier + proxy_fence + fence + product + commit + wait(0) + store);  // after it: as well
}

TEST_F(Wgmma, SharedMemoryNeedsABarrier) {
  // One thread writes, and its warp is the first to get on.
  finds(FindingKind::race, "wgmma.mma_async", "the other write is by thread (0,0,0)",
        fill() + barrier + "setp.eq.u32 %p2, %r1, 0;\n@%p2 st.shared.b32 [%r4+2048], %r6;\n" + proxy_fence +
            fence +
            "mov.u32 %r7, 0; setp.lt.u32 %p3, %r1, 32;\n@%p3 bra M;\n"
            "L: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 100000;\n@%p3 bra L;\nM:\n" +
            product + commit + wait(0));
}

TEST_F(Wgmma, SharedMemoryIsNotOverwrittenBeforeTheWait) {
  const std::string overwrite = "st.shared.b32 [%r4+2048], %r5;\n";
  finds(FindingKind::unfinished_async, "st.shared", "wgmma.mma_async of warp",
        ready() + product + commit + barrier + overwrite + barrier + wait(0));
  finds(FindingKind::unfinished_async, "st.shared", "wgmma.mma_async of warp",
        ready() + product + commit + product + commit + wait(1) + barrier + overwrite + barrier + wait(0));
  gives(33, ready() + product + commit + wait(0) + barrier + overwrite + store);
  gives(33, ready() + product + commit + barrier + "ld.shared.b32 %r9, [%r4];\n" + wait(0) + store);
}

TEST_F(Wgmma, SharedMemoryIsNotOverwrittenByWhoHasNotHeardOfTheWait) {
  // Threads 128 to 255 write, without a barrier.
  finds(FindingKind::race, "st.shared", "nothing orders it",
        std::string(fill()) + proxy_fence + barrier + fence + "setp.ge.u32 %p2, %r1, 128;\n@%p2 bra W;\n" +
            product + commit + wait(0) +
            "bar.arrive 1, 128;\nbra.uni E;\nW:\nmov.u32 %r7, 0;\nL: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, "
            "%r7, " +
            "100000; @%p3 bra L;\nst.shared.b32 [%r4], %r5;\nE:\n",
        256);
}

TEST_F(Wgmma, WhatWasNeverWritten) {
  finds(FindingKind::uninitialised, "wgmma.mma_async", "never written",
        ready() + "add.u64 %rd5, %rd5, 128;\n" + product + commit + wait(0));
}

TEST_F(Wgmma, OutOfBounds) {
  finds(FindingKind::shared_out_of_bounds, "wgmma.mma_async", "16 bytes of B at 0x",
        ready() + "or.b64 %rd5, %rd5, 0x3ff0;\n" + product + commit + wait(0));
}

TEST_F(Wgmma, FourWarpsDoTheSame) {
  const FindingKind kind = FindingKind::illegal_instruction;
  const std::string by_warp = "shr.u32 %r8, %r1, 5; cvt.u64.u32 %rd6, %r8; setp.eq.u32 %p2, %r8, 2;\n";
  finds(kind, "wgmma.mma_async", "another descriptor of B",
        ready() + by_warp + "sub.u64 %rd5, %rd5, %rd6;\n" + product + commit + wait(0));
  finds(kind, "wgmma.mma_async", "another scale-d",
        ready() + by_warp + "setp.ne.u32 %p1, %r8, 3;\n" + product + commit + wait(0));
  finds(kind, "wgmma.mma_async", "another wgmma.mma_async",
        ready() + by_warp + "@%p2 bra X;\n" + product + "bra.uni Y;\nX:\n" + from_registers + "Y:\n" +
            commit + wait(0));
  finds(kind, "wgmma.mma_async", "fewer than four warps", ready() + product + commit + wait(0), 96);
  finds(FindingKind::deadlock, "wgmma.wait_group", "which warps 2 of their warpgroup have not executed",
        ready() + by_warp + "@%p2 bra X;\n" + product + "X:\n" + commit + wait(0));
}

// Of each four neighbours in a row of A two are there, so k is 32; B is twos there, too.
TEST_F(Wgmma, SparseMetadata) {
  const auto sparse = [](const std::string& metadata, const char* selector) {
    return ready() + "mov.b32 %r9, " + metadata +
           ";\nwgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, "
           "%a3}, "
           "%rd5, %r9, " +
           selector + ", %p1, 1, 1, 0;\n" + commit + wait(0) + store;
  };
  gives(33, sparse("0x4e9d8c4e", "0"));
  const FindingKind kind = FindingKind::illegal_instruction;
  finds(kind, "wgmma.wait_group", "sparsity metadata", sparse("0x4e9d8c40", "0"));
  finds(kind, "wgmma.wait_group", "sparsity metadata", sparse("0xfe9d8c4e", "1"));
  const std::string zeros = "mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 %a3, 0;\n";
  std::string of_zeros = sparse("0", "0");
  gives(1, of_zeros.insert(of_zeros.find("mov.b32 %r9"), zeros));
  finds(FindingKind::not_supported, "", "no such sparsity selector", sparse("0x4e9d8c4e", "2"));
}

// Hardware reads the metadata when the product is made: nothing may be loaded into their register before.
TEST_F(Wgmma, MetadataStayInTheirRegister) {
  const std::string begun =
      ready() + "mov.b32 %r9, 0x4e9d8c4e; st.shared.b32 [%r4+4096], %r9; mov.b32 %r8, %r9;\n" +
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, "
      "%rd5, %r9, 0, %p1, 1, 1, 0;\n" +
      commit;
  const std::string load = "ld.shared.b32 %r9, [%r4+4096];\n";
  finds(FindingKind::unfinished_async, "ld.shared", "that has not been waited for",
        begun + load + wait(0) + store);
  gives(33, begun + wait(0) + load + store);
  gives(33, begun + "ld.shared.b32 %r8, [%r4+4096];\n" + wait(0) + store);
  gives(33, begun + "mov.b32 %r9, %r8;\n" + wait(0) + store);
}

TEST_F(Wgmma, OfADivergentWarp) {
  finds(FindingKind::deadlock, "wgmma", "",
        ready() + "and.b32 %r8, %r1, 1; setp.eq.u32 %p2, %r8, 0;\n@%p2 bra X;\n" + product +
            "bra.uni Y;\nX:\n" + from_registers + "Y:\n" + commit + wait(0));
}

TEST_F(Wgmma, UnknownFormsAreRefused) {
  for (const char* text :
       {"wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p1, 1, 1, "
        "0, 0;\n",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p1, 1, 1, 0, "
        "0;\n",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%a0, %a1}, %rd4, %rd5, %p1, 1, 1, 0, 0;\n",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.f16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p1, 1, 1, 0, "
        "0;\n",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p1, 2, 1, 0, "
        "0;\n",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p1, 1, 1, 0, "
        "0;\n",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1}, %rd4, %rd5, %p1, 1, 1, 0, 0;\n",
        "wgmma.mma_async.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p1, 1, 1, 0, 0;\n"}) {
    const Result r = run_group(fill() + text);
    ASSERT_TRUE(r.end) << text;
    EXPECT_EQ(r.end->kind, FindingKind::not_supported) << text;
  }
}

}  // namespace
}  // namespace simulator
