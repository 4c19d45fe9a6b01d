// What reports say: of a mistake's cause, beyond its kind and its line.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class ReportWords : public Execution {
 protected:
  static std::string all_of(const Finding& found) {
    std::string text = found.what;
    for (const std::string& detail : found.details) text += "\n" + detail;
    return text;
  }
  // With each seed: the kind, and a text that has all of these.
  void says(FindingKind kind, std::initializer_list<const char*> texts, const std::string& body,
            uint32_t threads = 32, uint32_t ctas = 1, uint32_t cluster = 1) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      settings().seed = seed;
      const Result r = run_ptx(start + body, threads * ctas, threads, ctas, "", 0, cluster);
      ASSERT_TRUE(r.end) << "seed " << seed << ": nothing found";
      EXPECT_EQ(r.end->kind, kind) << all_of(*r.end);
      for (const char* text : texts)
        EXPECT_NE(all_of(*r.end).find(text), std::string::npos) << "not " << text << "\n" << all_of(*r.end);
    }
  }
};

// ---- Addresses

TEST_F(ReportWords, AnIndexOf32BitsThatWrappedAround) {
  const std::string index = "cvt.u64.u32 %rd2, %r2; shl.b64 %rd2, %rd2, 2; add.s64 %rd2, %rd1, %rd2;\n";
  const std::string load = "ld.global.u32 %r3, [%rd2];\n";
  // Lane 31's index is zero-extended, so that 2^32 elements less would be right.
  says(FindingKind::illegal_address,
       {"a 32-bit index that overflowed, or a negative one taken for unsigned?",
        "the address minus 2^32 elements of 4 bytes is byte 120 of allocation #"},
       "setp.eq.u32 %p1, %r1, 31; selp.u32 %r2, 0xffffffff, 0, %p1;\n" + index + load);
  says(FindingKind::illegal_address,
       {"the address minus 2^32 elements of 4 bytes is 4 bytes before allocation #"},
       "setp.eq.u32 %p1, %r1, 0; selp.u32 %r2, 0xffffffff, 0, %p1;\n" + index + load);
  says(FindingKind::illegal_address, {"the address plus 2^32 elements of 4 bytes is byte 0 of allocation #"},
       "mov.b64 %rd2, 0x400000000; sub.s64 %rd2, %rd1, %rd2;\n" + load);
  // Elsewhere there is nothing to explain.
  for (const char* far : {"0x3ffff0000", "4096", "0x40000000"}) {
    const Result r = run_ptx(start + "mov.b64 %rd2, " + far + "; add.s64 %rd2, %rd1, %rd2;\n" + load, 32, 32);
    ASSERT_TRUE(r.end);
    EXPECT_EQ(all_of(*r.end).find("32-bit index"), std::string::npos) << all_of(*r.end);
  }
}

TEST_F(ReportWords, BeforeTheBeginOfLocalAndSharedMemory) {
  const std::string local = ".local .align 4 .b8 a[16]; .shared .align 4 .b8 s[16];\n";
  says(FindingKind::local_out_of_bounds, {"load of 4 bytes at -4 of local memory"},
       local + "mov.u64 %rd2, a; ld.local.u32 %r2, [%rd2+-4];\n");
  says(FindingKind::local_out_of_bounds, {"load of 4 bytes at -4 of local memory"},
       local + "mov.u64 %rd2, a; cvta.local.u64 %rd2, %rd2; ld.u32 %r2, [%rd2+-4];\n");
  says(FindingKind::illegal_address, {"16 bytes before shared memory"},
       local +
           "mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; and.b64 %rd2, %rd2, 0xffffffff00000000;\n"
           "ld.u32 %r2, [%rd2+-16];\n");
}

TEST_F(ReportWords, MisalignedInWhichMemory) {
  const std::string memory =
      ".local .align 4 .b8 a[16]; .shared .align 4 .b8 s[16]; .reg .b32 %m; mov.u32 %m, s; mov.u64 %rd2, "
      "a;\n";
  says(FindingKind::misaligned, {" of global memory: not a multiple of 4"}, "ld.global.u32 %r2, [%rd0+2];\n");
  says(FindingKind::misaligned, {"at 0x401 of shared memory: not a multiple of 4"},
       memory + "ld.shared.u32 %r2, [%m+1];\n");
  says(FindingKind::misaligned, {" of local memory: not a multiple of 4"},
       memory + "st.local.u32 [%rd2+1], %r1;\n");
}

// ---- Traps

TEST_F(ReportWords, AGridSyncNeedsACooperativeLaunch) {
  const char* const grid_sync =
      "grid sync in a launch that is not cooperative: use cudaLaunchCooperativeKernel";
  says(FindingKind::trap, {grid_sync},
       "mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; or.b32 %r2, %r2, %r3; setp.eq.u32 %p1, %r2, 0; @%p1 "
       "trap;\n");
  says(FindingKind::trap, {"trap instruction"}, "trap;\n");
}

// ---- Barriers

TEST_F(ReportWords, WarpsMeetAtDifferentLinesOfABarrier) {
  const std::string part =
      ".shared .align 4 .b8 s[512]; .reg .b32 %m<2>; mov.u32 %m0, s; shl.b32 %m1, %r1, 2;\n"
      "add.u32 %m1, %m0, %m1; setp.lt.u32 %p1, %r1, 64; st.shared.u32 [%m1], %r1;\n";
  // Warps 0 and 1 have one barrier more.
  const std::string extra = "@!%p1 bra A; bar.sync 0;\nst.shared.u32 [%m1], %m0;\nA: bar.sync 0;\n";
  says(FindingKind::race,
       {"warps met at different lines of barrier 0: warps 0-1 at PTX line ", ", warps 2-3 at PTX line "},
       part + extra + "@!%p1 ld.shared.u32 %r2, [%m1+-256];\n", 128);
  says(FindingKind::deadlock, {"barrier 0 was last passed together by warps 0-1 at PTX line "},
       part + extra + "@%p1 bra B; bar.sync 1;\nB: bar.sync 2, 128;\n", 128);
  says(FindingKind::illegal_instruction,
       {"more threads arrive at barrier 1 than the 64 it is for", "there are already warp"},
       "setp.lt.u32 %p1, %r1, 128; @!%p1 bra A; bar.arrive 1, 64; bra E;\nA: bar.sync 1, 64;\nE:\n", 160);
  says(FindingKind::deadlock, {"of them warp 0 at PTX line ", " without waiting"},
       "setp.lt.u32 %p1, %r1, 32; @!%p1 bra A; bar.arrive 1, 96; bra E;\nA: bar.sync 1, 96;\nE:\n", 64);
}

// A race may come first: what its CTA does later explains it.
TEST_F(ReportWords, ABarrierThatSomeWarpsExecuteExplainsARace) {
  settings().checks = Checks::report;
  testing::internal::CaptureStderr();
  const Result r = run_ptx(start + R"(
      .shared .align 4 .b8 s[512]; .reg .b32 %m<2>; mov.u32 %m0, s; shl.b32 %m1, %r1, 2; add.u32 %m1, %m0, %m1;
      setp.lt.u32 %p1, %r1, 64; mov.u32 %r2, 0;
      ROUND: st.shared.u32 [%m1], %r1;
      bar.sync 0;
      @!%p1 bra NEXT;
      ld.shared.u32 %r3, [%m1+256];
      bar.sync 0;
      NEXT: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 6; @%p2 bra ROUND;)",
                           128, 128);
  const std::string reported = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(r.end);
  EXPECT_NE(reported.find("race in "), std::string::npos) << reported;
  EXPECT_NE(reported.find("warps met at different lines of barrier 0: warps 0-1 at PTX line "),
            std::string::npos)
      << reported;
}

// ---- Copies

TEST_F(ReportWords, ATensorMapInLocalMemory) {
  says(FindingKind::illegal_address, {"the tensor map is in local memory", "__grid_constant__"}, R"(
      .local .align 128 .b8 map[128]; .shared .align 128 .b8 s[512]; .shared .align 8 .b64 bar; .reg .b32 %m<2>;
      mov.u32 %m0, s; mov.u32 %m1, bar; mov.u64 %rd2, map; cvta.local.u64 %rd2, %rd2; mov.u32 %r2, 0;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared::cta.b64 [%m1], 1;
      @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%m0], [%rd2, {%r2, %r2}], [%m1];
  )");
}

TEST_F(ReportWords, ACopyWhoseBytesNothingExpected) {
  settings().seed = 0;
  const Result r = run_ptx(start + R"(
      .shared .align 128 .b8 s[512]; .shared .align 8 .b64 bar; .reg .b32 %m<2>; mov.u32 %m0, s; mov.u32 %m1, bar;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared::cta.b64 [%m1], 1;
      fence.proxy.async.shared::cta;
      bar.sync 0;
      @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%m0], [%rd0], 64, [%m1];
      @%p1 mbarrier.arrive.shared::cta.b64 _, [%m1];
      WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%m1], 0;
      @!%p2 bra WAIT;
      ld.shared.u32 %r2, [%m0];)",
                           32, 32);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::unfinished_async) << all_of(*r.end);
  EXPECT_NE(all_of(*r.end).find("nothing expected its 64 bytes: phase 0 of the mbarrier bar (0x"),
            std::string::npos)
      << all_of(*r.end);
}

// Each thread writes its number to global memory. s: 2 x 64 words, of which %r4 is the thread's own of the
// first 64, %r5 that of a thread of the other warp.
const std::string copies_begin =
    ".shared .align 16 .b8 s[512]; st.global.u32 [%rd1], %r1; mov.u32 %r3, s; shl.b32 %r4, %r1, 2;\n"
    "xor.b32 %r5, %r4, 128; add.u32 %r4, %r3, %r4; add.u32 %r5, %r3, %r5;\n";
const std::string commit = "cp.async.commit_group;\n";
const std::string copy = "cp.async.ca.shared.global [%r4], [%rd1], 4;\n";
const std::string next_copy = "cp.async.ca.shared.global [%r4+256], [%rd1], 4;\n";

TEST_F(ReportWords, TwoLanesWithOneDestination) {
  const std::string half = "shr.u32 %r6, %r1, 1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6;\n";
  const char* lanes = "lanes 0 and 1 of this instruction write different values there";
  says(FindingKind::race,
       {"store of 4 bytes at 0x400 of shared memory: ", lanes, "one destination was computed for two copies"},
       copies_begin + half + "cp.async.ca.shared.global [%r6], [%rd1], 4;");
  says(FindingKind::race, {lanes, "one address was computed for two stores"},
       copies_begin + half + "st.shared.u32 [%r6], %r1;");
}

TEST_F(ReportWords, TwoWarpsWithOneDestination) {
  const std::string one = "and.b32 %r6, %r1, 31; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6;\n";
  const char* two = "two threads write there by this line, and nothing orders the two";
  const char* other = "the other write is by thread (";
  const char* or_else = "or they belong to different iterations, and a barrier must come between";
  says(FindingKind::race, {two, other, "likely one destination was computed for two copies; ", or_else},
       copies_begin + one + "cp.async.ca.shared.global [%r6], [%rd1], 4;", 64);
  says(FindingKind::race, {two, other, "likely one address was computed for two stores; ", or_else},
       copies_begin + one + "st.shared.u32 [%r6], %r1;", 64);
  // By another line it may be as it should.
  says(FindingKind::race, {"nothing orders it after another thread's access", other},
       copies_begin + one +
           "setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u32 [%r6], 1;\n@!%p1 st.shared.u32 [%r6], 2;",
       64);
}

TEST_F(ReportWords, AnAddressInTheNextStage) {
  says(FindingKind::unfinished_copy,
       {"load of 4 bytes at 0x504 of shared memory: a copy to it has not been waited for",
        "it is the copy by thread (1,0,0) at PTX line ",
        " (4 bytes), in the newest group of its thread: the last wait there, cp.async.wait_group 1 at PTX "
        "line ",
        ", leaves it in flight",
        "31 of the 32 lanes of this load read bytes that are complete; the nearest such bytes end 4 bytes "
        "before "
        "this address",
        "likely the address is wrong and should be among the bytes that are complete; or the copy needs "
        "cp.async.wait_group 0 in that thread, then a barrier, before this"},
       copies_begin + copy + commit + next_copy + commit + "cp.async.wait_group 1; bar.sync 0;\n" +
           "setp.eq.u32 %p1, %r1, 36; @%p1 add.u32 %r5, %r3, 260; ld.shared.u32 %r6, [%r5]; bar.sync 0;",
       64);
}

TEST_F(ReportWords, AStageThatIsNotWaitedFor) {
  says(FindingKind::unfinished_copy,
       {"in the newest group of its thread: the last wait there, cp.async.wait_group 1 at PTX line ",
        "0 of the 32 lanes of this load read bytes that are complete",
        "the copy needs cp.async.wait_group 0 in that thread, then a barrier, before this; or the address is "
        "wrong"},
       copies_begin + copy + commit + next_copy + commit + "cp.async.wait_group 1; bar.sync 0;\n" +
           "ld.shared.u32 %r6, [%r5+256]; bar.sync 0;",
       64);
  says(FindingKind::unfinished_copy,
       {"in the second newest group of its thread, which has not waited for any",
        "the copy needs cp.async.wait_group 1 or less in that thread, then a barrier, before this"},
       copies_begin + copy + commit + commit + "bar.sync 0; ld.shared.u32 %r6, [%r5]; bar.sync 0;", 64);
}

TEST_F(ReportWords, AWaitBehindTheBarrier) {
  settings().seed = 0;
  const Result r = run_ptx(
      start + copies_begin + copy + commit + "bar.sync 0; cp.async.wait_group 0; ld.shared.u32 %r6, [%r5];",
      64, 64);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::unfinished_copy);
  EXPECT_NE(all_of(*r.end).find("this thread has waited for its own copies of that group, thread ("),
            std::string::npos)
      << all_of(*r.end);
  EXPECT_NE(all_of(*r.end).find(" has not yet: a barrier must come between the wait and this"),
            std::string::npos)
      << all_of(*r.end);
}

TEST_F(ReportWords, ABulkCopyThatIsNotWaitedForNamesItsMbarrier) {
  const std::string two = R"(
      .shared .align 128 .b8 s[128]; .shared .align 8 .b64 full[2]; .reg .b32 %m<3>; mov.u32 %m0, s; mov.u32 %m1, full;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared::cta.b64 [%m1], 1;
      @%p1 mbarrier.init.shared::cta.b64 [%m1+8], 1;
      fence.proxy.async.shared::cta;
      bar.sync 0;
      @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m1], 64;
      @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%m0], [%rd0], 64, [%m1];
      add.u32 %m2, %m1, 8;
      @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m2], 64;
      @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%m0+64], [%rd0], 64, [%m2];
      WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%m1], 0;
      @!%p2 bra WAIT;
  )";
  says(FindingKind::unfinished_async,
       {"a wait for the phase of its mbarrier, full[1] (0x488), must come before this",
        "or the address is wrong: the nearest bytes that are complete end 16 bytes before this address"},
       two + "ld.shared.u32 %r2, [%m0+80];");
  says(FindingKind::unfinished_async,
       {"or the address is wrong: the nearest bytes that are complete end right before this address"},
       two + "ld.shared.u32 %r2, [%m0+64];");
}

class ReportWordsOfClusters : public ReportWords {
 protected:
  // Two CTAs of 32 threads. %m0: 128 bytes of shared memory, %m1 an mbarrier.
  static inline const std::string begin = R"(
      .shared .align 128 .b8 s[128]; .shared .align 8 .b64 bar; .reg .b32 %m<4>; .reg .b16 %rs<2>;
      mov.u32 %m0, s; mov.u32 %m1, bar; mov.u32 %m2, %cluster_ctarank;
      setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %m2, 1; mov.u16 %rs1, 3;
      @%p1 mbarrier.init.shared::cta.b64 [%m1], 1;
      @%p1 fence.mbarrier_init.release.cluster;
      fence.proxy.async.shared::cta;
  )";
  static inline const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  static inline const std::string linger =
      "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 200000; @%p3 bra L;\n";
  static inline const std::string multicast =
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m1], 64;\n"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%m0], "
      "[%rd0], "
      "64, [%m1], %rs1;\n";
};

TEST_F(ReportWordsOfClusters, AMulticastNamesTheCtaThatIsAbsent) {
  settings().checks = Checks::off;
  settings().seed = 0;
  const Result gone =
      run_ptx(start + begin + sync + "@%p2 exit;\n" + linger + multicast, 64, 32, 2, "", 0, 2);
  ASSERT_TRUE(gone.end);
  EXPECT_EQ(gone.end->kind, FindingKind::illegal_address);
  EXPECT_NE(gone.end->what.find("CTA (1,0,0), which has exited"), std::string::npos) << gone.end->what;
  settings().checks = Checks::fail;
  const Result not_yet =
      run_ptx(start + begin + "@%p2 bra END;\n" + multicast + "END:\n" + sync, 64, 32, 2, "", 0, 2);
  ASSERT_TRUE(not_yet.end);
  EXPECT_EQ(not_yet.end->kind, FindingKind::absent_cta) << all_of(*not_yet.end);
  EXPECT_NE(not_yet.end->what.find("CTA (1,0,0), which may not have started"), std::string::npos)
      << not_yet.end->what;
}

TEST_F(ReportWordsOfClusters, ACopyNamesTheCtaThatEndsBeforeIt) {
  settings().seed = 0;
  const Result r =
      run_ptx(start + begin + sync + "@%p2 bra END;\n" + multicast + linger +
                  "W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%m1], 0; @!%p4 bra W;\nEND:\n",
              64, 32, 2, "", 0, 2);
  ASSERT_TRUE(r.end);
  EXPECT_TRUE(r.end->kind == FindingKind::unfinished_async || r.end->kind == FindingKind::absent_cta ||
              r.end->kind == FindingKind::illegal_address)
      << all_of(*r.end);
  EXPECT_NE(all_of(*r.end).find("CTA (1,0,0)"), std::string::npos) << all_of(*r.end);
}

TEST_F(ReportWordsOfClusters, AnMbarrierThatTheOtherCtaHasNotInitialised) {
  const std::string other = "@%p2 bra END; mapa.shared::cluster.u32 %m3, %m0, 1;\n";
  settings().seed = 0;
  const Result r = run_ptx(
      start + begin + sync + other + "@%p1 mbarrier.arrive.shared::cluster.b64 _, [%m3];\nEND:\n" + sync, 64,
      32, 2, "", 0, 2);
  ASSERT_TRUE(r.end);
  EXPECT_NE(r.end->what.find(" of CTA (1,0,0): it has not been initialised"), std::string::npos)
      << r.end->what;
}

}  // namespace
}  // namespace simulator
