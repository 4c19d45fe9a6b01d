// Copies that end later, and the barriers that count them.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/simulator.h"
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

TEST_F(Async, ACopyThatNoThreadWaitedForHasNotHappened) {
  settings().checks = Checks::off;
  const Result r = copy("");
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[32 + i], 7u) << i;
}

TEST_F(Async, WaitingForAllButOneGroupEndsTheOlder) {
  settings().checks = Checks::off;
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
  settings().checks = Checks::off;
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
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    // The reader comes before the other warp's wait, or after it.
    const Result early = with("bar.sync 0;", "");
    ASSERT_TRUE(early.end);
    EXPECT_TRUE(early.end->kind == FindingKind::unfinished_copy || early.end->kind == FindingKind::race);
  }
}

// What the checks say of `body`, in every order: always the same kind. Thread t of 64 has the address of word
// t of s in %r4, that of word t ^ 32 in %r5; %rd1 points to a word of global memory of its own.
class Unfinished : public Async {
 protected:
  std::string reported(const std::string& body, FindingKind kind = FindingKind::unfinished_copy) {
    std::string text;
    for (uint64_t seed = 0; seed < 12; ++seed) {
      settings().seed = seed;
      const Result r = run_ptx(".shared .align 16 .b8 s[1024];\n" + start + R"(
        mov.u32 %r3, s;
        shl.b32 %r4, %r1, 2;
        add.u32 %r4, %r3, %r4;
        xor.b32 %r5, %r4, 128;
        st.shared.u32 [%r4], 7;
        st.shared.u32 [%r4+256], 7;
        bar.sync 0;
        )" + body,
                               64, 64);
      if (!r.end) {
        EXPECT_TRUE(text.empty()) << "nothing with seed " << seed;
        continue;
      }
      EXPECT_TRUE(seed == 0 || !text.empty()) << "only with seed " << seed;
      EXPECT_EQ(r.end->kind, kind) << "seed " << seed << ": " << r.end->what;
      if (!text.empty()) continue;
      text = r.end->what;
      for (const std::string& detail : r.end->details) text += "; " + detail;
    }
    return text;
  }
  const std::string copy_ = "cp.async.ca.shared.global [%r4], [%rd1], 4;\n";
  const std::string commit_ = "cp.async.commit_group;\n";
  // Long enough for a copy to land meanwhile, where it lands at random.
  const std::string linger_ =
      "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 300; @%p1 bra L;\n";
};

TEST_F(Unfinished, ReadByTheThreadThatAskedForIt) {
  EXPECT_EQ(
      reported(copy_ + commit_ + linger_ + "ld.shared.u32 %r6, [%r4];"),
      "load of 4 bytes at 0x480 of shared memory: a copy to it has not been waited for; it is the copy by "
      "thread (32,0,0) at PTX line 17 (4 bytes), in the newest group of its thread, which has not waited "
      "for "
      "any; the copy needs cp.async.wait_group 0 before this");
}

TEST_F(Unfinished, EveryKindOfAccess) {
  for (const char* access :
       {"st.shared.u32 [%r4], 1;", "atom.shared.add.u32 %r6, [%r4], 1;", "ld.volatile.shared.u32 %r6, [%r4];",
        "ld.shared.u8 %r6, [%r4+3];", "cp.async.ca.shared.global [%r4], [%rd1], 4;"}) {
    EXPECT_NE(reported(copy_ + commit_ + linger_ + access), "") << access;
  }
}

TEST_F(Unfinished, AWaitThatLeavesTheGroupUnderWay) {
  const std::string later = "cp.async.ca.shared.global [%r4+256], [%rd1], 4;\n" + commit_;
  const std::string text = reported(copy_ + commit_ + later + linger_ +
                                    "cp.async.wait_group 2; bar.sync 0; ld.shared.u32 %r6, [%r5];");
  EXPECT_NE(text.find("needs cp.async.wait_group 1 or less in that thread, then a barrier, before this"),
            std::string::npos)
      << text;
  EXPECT_EQ(reported(copy_ + commit_ + later + linger_ +
                     "cp.async.wait_group 1; bar.sync 0; ld.shared.u32 %r6, [%r5];"),
            "");
}

TEST_F(Unfinished, ACopyInNoGroup) {
  const std::string text =
      reported(copy_ + linger_ + "cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r6, [%r5];");
  EXPECT_NE(text.find(", in no group; the copy needs cp.async.commit_group and cp.async.wait_group 0 "
                      "in that thread, then a barrier, before this"),
            std::string::npos)
      << text;
  EXPECT_EQ(reported(copy_ + linger_ + "cp.async.wait_all; bar.sync 0; ld.shared.u32 %r6, [%r5];"), "");
}

TEST_F(Unfinished, AThreadThatExitedWithoutWaiting) {
  const std::string text =
      reported("setp.ge.u32 %p2, %r1, 32; @!%p2 bra READ;\n" + copy_ + commit_ +
               "bar.arrive 1, 64; exit; READ: bar.sync 1, 64; ld.shared.u32 %r6, [%r5];");
  EXPECT_NE(text.find("that thread has exited"), std::string::npos) << text;
}

TEST_F(Unfinished, ACopyThatNoThreadReadsIsNotNeeded) {
  EXPECT_EQ(reported(copy_ + commit_), "");
  EXPECT_EQ(reported(copy_ + commit_ + "ld.shared.u32 %r6, [%r4+256];"), "");
}

TEST_F(Unfinished, AWaitWithoutABarrierIsARace) {
  EXPECT_NE(reported(copy_ + commit_ + "cp.async.wait_group 0; ld.shared.u32 %r6, [%r5];", FindingKind::race),
            "");
}

TEST_F(Unfinished, ARefillBeforeTheReadersBarrierIsARace) {
  const std::string text = reported(
      "ld.shared.u32 %r6, [%r5];\n" + linger_ + copy_ + commit_ + "cp.async.wait_group 0; bar.sync 0;",
      FindingKind::race);
  EXPECT_NE(text, "");
  EXPECT_EQ(reported("ld.shared.u32 %r6, [%r5]; bar.sync 0;\n" + copy_ + commit_ +
                     "cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r6, [%r5];"),
            "");
}

TEST_F(Async, IsOneRequestThatReadsSectorsAndWritesBanks) {
  // 16 bytes a thread, from its place in a row to a column of rows of 128 bytes. Only the first lanes read;
  // the others write zeros.
  const auto counts_of_copy = [&](const std::string& cache, int reading) {
    reset_counters();
    const Result r = run_ptx(".shared .align 16 .b8 s[4096];\n" + start + R"(
    mov.u32 %r3, s;
    shl.b32 %r4, %r1, 7;
    add.u32 %r4, %r3, %r4;
    shl.b32 %r5, %r1, 4;
    cvt.u64.u32 %rd2, %r5;
    add.s64 %rd2, %rd0, %rd2;
    setp.lt.u32 %p1, %r1, )" + std::to_string(reading) +
                                 R"(;
    selp.u32 %r6, 16, 0, %p1;
    cp.async.)" + cache + R"(.shared.global [%r4], [%rd2], 16, %r6;
    cp.async.wait_all;)",
                             256, 32);
    EXPECT_FALSE(r.end) << r.end->what;
    return read_counters().at(0);
  };
  const KernelCounts k = counts_of_copy("cg", 16);
  EXPECT_EQ(k.async_copy.requests, 1u);
  EXPECT_EQ(k.async_copy.bytes, 256u);   // what is read
  EXPECT_EQ(k.async_copy.sectors, 16u);  // 8, each for two rows
  EXPECT_EQ(k.async_copy.wavefronts, 4u);
  EXPECT_EQ(k.async_copy.ideal_wavefronts, 4u);
  const KernelCounts through_l1 = counts_of_copy("ca", 16);
  EXPECT_EQ(through_l1.async_copy.requests, 1u);
  EXPECT_EQ(through_l1.async_copy.sectors, 8u);
  EXPECT_EQ(through_l1.async_copy.wavefronts, 16u);
  EXPECT_EQ(through_l1.async_copy.ideal_wavefronts, 2u);
  const KernelCounts zeros = counts_of_copy("cg", 0);
  EXPECT_EQ(zeros.async_copy.requests + zeros.async_copy.sectors + zeros.async_copy.bytes, 0u);
  EXPECT_EQ(zeros.async_copy.wavefronts, 4u);
  EXPECT_EQ(k.global_load.requests + k.shared_store.requests, 0u);
  EXPECT_EQ(k.mix.at("cp.async.shared.global"), 1u);
  EXPECT_EQ(k.mix.at("cp.async.wait_all"), 1u);
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

TEST_F(Async, ACopyIsPendingUntilAPhaseIsSeenComplete) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    settings().seed = seed;
    const Result r = run_ptx(with_mbarrier(32) + R"(
      shl.b32 %r4, %r1, 2;
      add.u32 %r4, %r3, %r4;
      cp.async.ca.shared.global [%r4+64], [%rd1], 4;
      cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];
      mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 300; @%p1 bra L;
      ld.shared.u32 %r6, [%r4+64];)",
                             32, 32);
    ASSERT_TRUE(r.end) << seed;
    EXPECT_EQ(r.end->kind, FindingKind::unfinished_copy);
    ASSERT_EQ(r.end->details.size(), 1u);
    EXPECT_NE(r.end->details[0].find("is counted by the mbarrier "), std::string::npos) << r.end->details[0];
  }
}

TEST_F(Async, StagesOfAPipelineOnMbarriers) {
  // Warp 0 copies, two stages ahead at most; warp 1 reads what is there and gives the stage back. 8 rounds.
  const std::string body = ".shared .align 16 .b8 s[512];\n" + start + R"(
    mov.u32 %r3, s;
    st.global.u32 [%rd1], %r1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r3], 32;
    mbarrier.init.shared.b64 [%r3+8], 32;
    mbarrier.init.shared.b64 [%r3+16], 32;
    mbarrier.init.shared.b64 [%r3+24], 32;
    READY: bar.sync 0;
    and.b32 %r4, %r1, 31;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r3, %r4;
    mov.u32 %r10, 0;
    setp.ge.u32 %p2, %r1, 32;
    ROUND: and.b32 %r11, %r10, 1;
    shl.b32 %r12, %r11, 3;
    add.u32 %r12, %r3, %r12;
    shl.b32 %r13, %r11, 7;
    add.u32 %r13, %r4, %r13;
    shr.u32 %r14, %r10, 1;
    and.b32 %r14, %r14, 1;
    @%p2 bra CONSUME;
    xor.b32 %r15, %r14, 1;
    FREE: mbarrier.try_wait.parity.shared.b64 %p3, [%r12+16], %r15;
    @!%p3 bra FREE;
    cp.async.ca.shared.global [%r13+64], [%rd1], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r12];
    bra NEXT;
    CONSUME: mbarrier.try_wait.parity.shared.b64 %p3, [%r12], %r14;
    @!%p3 bra CONSUME;
    ld.shared.u32 %r16, [%r13+64];
    st.global.u32 [%rd1], %r16;
    mbarrier.arrive.shared.b64 _, [%r12+16];
    NEXT: add.u32 %r10, %r10, 1;
    setp.lt.u32 %p4, %r10, 8;
    @%p4 bra ROUND;)";
  for (uint64_t seed = 0; seed < 12; ++seed) {
    settings().seed = seed;
    const Result r = run_ptx(body, 64, 64);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (uint32_t i = 32; i < 64; ++i) EXPECT_EQ(r.words[i], i - 32) << i;
    // Without waiting for the stage to be free again.
    std::string wrong = body;
    wrong.replace(wrong.find("@!%p3 bra FREE;"), 15, "");
    EXPECT_TRUE(run_ptx(wrong, 64, 64).end) << "seed " << seed;
  }
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
