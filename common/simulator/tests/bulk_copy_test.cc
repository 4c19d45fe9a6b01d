// Bulk copies of bytes, their mbarriers and their groups: when they happen, and what is reported where a wait
// is missing.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/simulator.h"
#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class Bulk : public Execution {
 protected:
  // 64 threads. Thread t: %r4 is the address of word t of s, which begins as 7; %rd1 that of word t of `out`,
  // which begins as 100 + t. An mbarrier for one arrival lies at %r3 (s + 1024). %p1: thread 0.
  const std::string begin_ = ".shared .align 128 .b8 s[2048];\n" + start + R"(
      mov.u32 %r2, s;
      add.u32 %r3, %r2, 1024;
      shl.b32 %r4, %r1, 2;
      add.u32 %r4, %r2, %r4;
      add.u32 %r5, %r1, 100;
      st.global.u32 [%rd1], %r5;
      st.shared.u32 [%r4], 7;
      st.shared.u32 [%r4+512], 7;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
      fence.proxy.async.shared::cta;
      bar.sync 0;
      )";
  Result run_body(const std::string& body) { return run_ptx(begin_ + body, 256, 64); }

  // The kind that every order finds, with its text; empty: none finds anything.
  std::string reported(const std::string& body, FindingKind kind) {
    std::string text;
    const uint64_t seeds = kind == FindingKind::deadlock ? 2 : 16;  // which takes long to find
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      settings().seed = seed;
      const Result r = run_body(body);
      if (!r.end) {
        EXPECT_TRUE(text.empty()) << "nothing with seed " << seed;
        continue;
      }
      EXPECT_TRUE(seed == 0 || !text.empty()) << "only with seed " << seed << ": " << r.end->what;
      EXPECT_EQ(r.end->kind, kind) << "seed " << seed << ": " << r.end->what;
      text = r.end->what;
      for (const std::string& detail : r.end->details) text += "; " + detail;
    }
    return text;
  }
  void sound(const std::string& body) { EXPECT_EQ(reported(body, FindingKind::race), "") << body; }

  const std::string expect_ = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;\n";
  const std::string load_ =
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 256, [%r3];\n";
  const std::string wait_ =
      "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;\n";
  const std::string read_ = "ld.shared.u32 %r6, [%r4];\nst.global.u32 [%rd1+512], %r6;\n";
  const std::string linger_ =
      "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 300; @%p3 bra L;\n";
  const std::string store_ = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 256;\n";
  const std::string commit_ = "@%p1 cp.async.bulk.commit_group;\n";
};

TEST_F(Bulk, ALoadEndsWhenItIsWaitedFor) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    settings().seed = seed;
    const Result r = run_body(expect_ + load_ + wait_ + read_);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(r.words[128 + t], 100 + t) << t;
  }
}

TEST_F(Bulk, ALoadThatNoThreadWaitedForHasNotHappened) {
  settings().checks = Checks::off;
  const Result r = run_body(expect_ + load_ + linger_ + read_);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(r.words[128 + t], 7u) << t;
}

TEST_F(Bulk, SeedsEndLoadsEarlyAtTimes) {
  settings().checks = Checks::off;
  int early = 0;
  for (uint64_t seed = 1; seed < 20; ++seed) {
    settings().seed = seed;
    early += run_body(expect_ + load_ + linger_ + read_).words[128 + 63] == 163;
  }
  EXPECT_GT(early, 0);
  EXPECT_LT(early, 19);
}

TEST_F(Bulk, AReadThatDoesNotWaitIsTold) {
  const std::string text =
      reported(expect_ + load_ + "bar.sync 0;\n" + linger_ + read_, FindingKind::unfinished_async);
  EXPECT_NE(text.find("of shared memory: an asynchronous operation that writes it has not been waited for"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("cp.async.bulk by thread (0,0,0)"), std::string::npos) << text;
}

TEST_F(Bulk, AThreadThatDoesNotWaitIsToldWhateverOthersDo) {
  // Warp 0 waits, warp 1 does not: it only synchronises with the thread that issued the copy, before and
  // after.
  const std::string body = expect_ + load_ +
                           "setp.ge.u32 %p4, %r1, 32;\n"
                           "@%p4 bra READ;\n" +
                           wait_ + "bra DONE;\nREAD:\n" + linger_ + read_ + "DONE: mov.u32 %r6, 0;\n";
  for (uint64_t seed = 0; seed < 16; ++seed) {
    settings().seed = seed;
    const Result r = run_body(body);
    ASSERT_TRUE(r.end) << seed;
    EXPECT_TRUE(r.end->kind == FindingKind::unfinished_async || r.end->kind == FindingKind::race)
        << r.end->what;
  }
  sound(expect_ + load_ + "setp.ge.u32 %p4, %r1, 32;\n@%p4 bra READ;\n" + wait_ + "READ: bar.sync 0;\n" +
        read_);
}

TEST_F(Bulk, AWaitForThePhaseBeforeIsNone) {
  std::string other = wait_;
  other.replace(other.find(", 0;"), 4, ", 1;");
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_body(expect_ + load_ + "bar.sync 0;\n" + other + read_);
    ASSERT_TRUE(r.end) << seed;
    // Where the copy has ended already, that phase is the one to come.
    EXPECT_TRUE(r.end->kind == FindingKind::unfinished_async ||
                (seed && r.end->kind == FindingKind::deadlock))
        << r.end->what;
  }
}

TEST_F(Bulk, ALoadIntoAStageThatIsStillReadIsARace) {
  const std::string text =
      reported("@!%p1 ld.shared.u32 %r7, [%r4];\n" + linger_ + expect_ + load_ + wait_, FindingKind::race);
  EXPECT_NE(text, "");
  sound("ld.shared.u32 %r7, [%r4];\nbar.sync 0;\n" + expect_ + load_ + wait_);
}

TEST_F(Bulk, AnAccessToWhatALoadWritesIsTold) {
  for (const char* access :
       {"st.shared.u32 [%r4], 1;", "atom.shared.add.u32 %r6, [%r4], 1;",
        "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0+512], [%r2], 256;",
        "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], "
        "16, [%r3];"}) {
    EXPECT_NE(reported(expect_ + load_ + "bar.sync 0;\n" + linger_ + access, FindingKind::unfinished_async),
              "")
        << access;
  }
}

TEST_F(Bulk, OfEverySixteenBytesThoseOfTheMaskAreStored) {
  const Result r = run_body(
      ".reg .b16 %rs1;\nmov.u16 %rs1, 0x1ef0;\n"
      "@%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [%r2], 64, %rs1;\n" +
      commit_ + "@%p1 cp.async.bulk.wait_group 0;\n");
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t t = 0; t < 16; ++t) EXPECT_EQ(r.words[t], t % 2 == 1 ? 7 : 100 + t) << t;
}

TEST_F(Bulk, TooFewBytesExpected) {
  const std::string few = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 240;\n";
  const std::string text = reported(few + load_ + wait_, FindingKind::deadlock);
  EXPECT_NE(
      text.find(
          "phase 0 of the mbarrier at 0x800 (short + 1024, initialised at PTX line 19) is not complete: "
          "0 of 1 arrivals are missing, and 16 bytes "
          "have arrived that were not expected"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("it has counted 256 bytes of the copy by thread (0,0,0)"), std::string::npos) << text;
}

TEST_F(Bulk, TooManyBytesExpected) {
  const std::string many = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;\n";
  const std::string text = reported(many + load_ + wait_, FindingKind::deadlock);
  EXPECT_NE(text.find("and 256 bytes that are expected"), std::string::npos) << text;
}

TEST_F(Bulk, BytesMayBeExpectedAfterTheyCame) {
  sound(load_ + "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], 256;\n" + linger_ +
        "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r3];\n" + wait_ + read_);
}

TEST_F(Bulk, AnMbarrierCountsBytesUpToALimit) {
  const Result r = run_body(
      "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], 1048575;\n"
      "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], 1;");
  ASSERT_TRUE(r.end);
  EXPECT_NE(r.end->what.find("at most 2^20 - 1 bytes"), std::string::npos) << r.end->what;
}

TEST_F(Bulk, TheCtaMustNotEndBeforeItsLoads) {
  const std::string text = reported(expect_ + load_, FindingKind::unfinished_async);
  EXPECT_NE(text.find("may still be in flight when the CTA ends"), std::string::npos) << text;
}

TEST_F(Bulk, AStoreWritesWhenItsThreadHasWaited) {
  settings().checks = Checks::off;
  // Word 64 of `out` says what word 0 was after the wait.
  const auto after = [&](const std::string& wait) {
    return run_body(store_ + commit_ + wait +
                    "@%p1 ld.global.u32 %r6, [%rd0];\n@%p1 st.shared.u32 [%r2], 9;\n@%p1 st.global.u32 "
                    "[%rd0+512], %r6;")
        .words;
  };
  EXPECT_EQ(after("")[128], 100u);
  EXPECT_EQ(after("")[0], 9u) << "what lies there when it is read at last";
  EXPECT_EQ(after("@%p1 cp.async.bulk.wait_group.read 0;")[128], 100u);
  EXPECT_EQ(after("@%p1 cp.async.bulk.wait_group.read 0;")[0], 7u);
  EXPECT_EQ(after("@%p1 cp.async.bulk.wait_group 0;")[128], 7u);
  EXPECT_EQ(after("@%p1 cp.async.bulk.wait_group 1;")[128], 100u);
}

TEST_F(Bulk, WaitingForAllButOneGroup) {
  settings().checks = Checks::off;
  const Result r =
      run_body(store_ + commit_ +
               "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0+512], [%r2], 256;\n" + commit_ +
               "@%p1 cp.async.bulk.wait_group 1;\n"
               "@%p1 ld.global.u32 %r6, [%rd0];\n@%p1 ld.global.u32 %r7, [%rd0+512];\n"
               "@%p1 st.global.u32 [%rd0+256], %r6;\n@%p1 st.global.u32 [%rd0+260], %r7;\n");
  EXPECT_EQ(r.words[64], 7u);
  EXPECT_EQ(r.words[65], 0u);
  EXPECT_EQ(r.words[128], 7u) << "the CTA's end ends it";
}

TEST_F(Bulk, AStoreNeedsAProxyFenceAfterWhatThreadsWrote) {
  const std::string text =
      reported("st.shared.u32 [%r4], 8;\nbar.sync 0;\n" + store_ + commit_, FindingKind::missing_fence);
  EXPECT_NE(text.find("fence.proxy.async"), std::string::npos) << text;
  sound("st.shared.u32 [%r4], 8;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n" + store_ + commit_);
}

TEST_F(Bulk, WhatAStoreReadsMustNotChangeBeforeItHas) {
  EXPECT_NE(
      reported(store_ + commit_ + linger_ + "@%p1 st.shared.u32 [%r4], 8;", FindingKind::unfinished_async),
      "");
  sound(store_ + commit_ + linger_ + "ld.shared.u32 %r6, [%r4];");
  sound(store_ + commit_ + "@%p1 cp.async.bulk.wait_group.read 0;\n@%p1 st.shared.u32 [%r4], 8;");
  sound(store_ + commit_ + "@%p1 cp.async.bulk.wait_group.read 0;\nbar.sync 0;\nst.shared.u32 [%r4], 8;");
  // A wait in other threads is of no use, and without a commit there is nothing to wait for.
  EXPECT_NE(reported(store_ + commit_ + linger_ +
                         "@!%p1 cp.async.bulk.wait_group.read 0;\nbar.sync 0;\nst.shared.u32 [%r4], 8;",
                     FindingKind::unfinished_async),
            "");
  EXPECT_NE(reported(store_ + linger_ +
                         "@%p1 cp.async.bulk.wait_group.read 0;\nbar.sync 0;\nst.shared.u32 [%r4], 8;",
                     FindingKind::unfinished_async),
            "");
}

TEST_F(Bulk, AWaitWithoutABarrierIsARaceForOtherWarps) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    settings().seed = seed;
    const Result r =
        run_body(store_ + commit_ + "@%p1 cp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r4], 8;");
    ASSERT_TRUE(r.end) << seed;
    EXPECT_TRUE(r.end->kind == FindingKind::race || r.end->kind == FindingKind::unfinished_async)
        << r.end->what;
  }
}

TEST_F(Bulk, AStoreOfWhatWasNeverWritten) {
  EXPECT_NE(reported("@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2+768], 16;",
                     FindingKind::uninitialised),
            "");
}

TEST_F(Bulk, Reductions) {
  const auto first = [&](const std::string& operation, const std::string& size = "256") {
    const Result r =
        run_body("@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group." + operation + " [%rd0], [%r2], " +
                 size + ";\n" + commit_ + "@%p1 cp.async.bulk.wait_group 0;");
    EXPECT_FALSE(r.end) << operation << ": " << r.end->what;
    return r.words;
  };
  EXPECT_EQ(first("add.u32")[63], 170u);
  EXPECT_EQ(first("min.s32")[63], 7u);
  EXPECT_EQ(first("max.u32")[63], 163u);
  EXPECT_EQ(first("inc.u32")[1], 0u);
  EXPECT_EQ(first("dec.u32")[1], 7u);
  EXPECT_EQ(first("and.b32")[3], 103u & 7);
  EXPECT_EQ(first("or.b32")[3], 103u | 7);
  EXPECT_EQ(first("xor.b64")[3], 103u ^ 7);
  EXPECT_EQ(first("add.u64")[2], 109u);
  EXPECT_EQ(first("min.u64")[2], 7u);
  EXPECT_EQ(first("max.s64")[2], 102u);
  EXPECT_EQ(first("add.f32")[2], 109u) << "subnormals are kept";
  EXPECT_EQ(first("add.noftz.f16")[2], 109u) << "subnormals are kept";
  EXPECT_EQ(first("max.bf16")[2], 102u);
  EXPECT_EQ(first("add.u32", "16")[4], 104u);
}

TEST_F(Bulk, WhatTheHardwareRefuses) {
  const auto kind = [&](const std::string& body) {
    const Result r = run_body(body);
    return r.end ? r.end->kind : FindingKind::race;
  };
  const std::string load = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  EXPECT_EQ(kind(load + "[%r2+8], [%rd0], 16, [%r3];"), FindingKind::misaligned);
  EXPECT_EQ(kind(load + "[%r2], [%rd0+4], 16, [%r3];"), FindingKind::misaligned);
  EXPECT_EQ(kind(load + "[%r2], [%rd0], 20, [%r3];"), FindingKind::misaligned);
  EXPECT_EQ(kind(load + "[%r2], [%rd0], 16, [%r3+4];"), FindingKind::misaligned);
  EXPECT_EQ(kind(load + "[%r2+2032], [%rd0], 32, [%r3];"), FindingKind::shared_out_of_bounds);
  EXPECT_EQ(kind(load + "[%r2], [%rd0+1008], 32, [%r3];"), FindingKind::illegal_address);
  EXPECT_EQ(kind(load + "[%r2], [%rd0], 16, [%r3+8];"), FindingKind::illegal_instruction);
}

TEST_F(Bulk, PrefetchesAndHintsChangeNothing) {
  sound(
      "mov.u64 %rd5, 0;\n@%p1 cp.async.bulk.prefetch.L2.global [%rd0], 256;\n"
      "@%p1 cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd0], 256, %rd5;\n" +
      expect_ +
      "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r2], [%rd0], 256, "
      "[%r3], "
      "%rd5;\n" +
      wait_ + read_);
  const auto kind = [&](const std::string& operands) {
    const Result r = run_body("@%p1 cp.async.bulk.prefetch.L2.global " + operands + ";");
    return r.end ? r.end->kind : FindingKind::race;
  };
  EXPECT_EQ(kind("[%rd0+4], 16"), FindingKind::misaligned);
  EXPECT_EQ(kind("[%rd0], 20"), FindingKind::misaligned);
  EXPECT_EQ(kind("[%rd0+1008], 32"), FindingKind::illegal_address);
}

// Two CTAs of 32 threads. %r2: rank; %r3: s; %r4: an mbarrier for one arrival; %r5, %r6: the same in the
// other CTA; %p1: thread 0; %p2: thread 0 of CTA 0. Thread t of CTA c writes 100 · c + t to s[t], and at last
// s[t + 32] to word 32 · c + t of `out`, whose words are 500 + their number.
class BulkInClusters : public Execution {
 protected:
  Result run_body(const std::string& body) {
    return run_after("@%p1 fence.mbarrier_init.release.cluster;\n" + sync_, body);
  }
  // between: the initialisation and the first use of the mbarriers.
  Result run_after(const std::string& between, const std::string& body) {
    return run_ptx(".shared .align 128 .b8 s[1024];\n" + start + R"(
      mov.u32 %r2, %cluster_ctarank;
      mul.wide.u32 %rd2, %r2, 128;
      add.s64 %rd1, %rd1, %rd2;
      mad.lo.u32 %r7, %r2, 32, %r1; add.u32 %r7, %r7, 500; st.global.u32 [%rd1], %r7;
      mov.u32 %r3, s;
      add.u32 %r4, %r3, 512;
      xor.b32 %r7, %r2, 1;
      mapa.shared::cluster.u32 %r5, %r3, %r7;
      mapa.shared::cluster.u32 %r6, %r4, %r7;
      shl.b32 %r8, %r1, 2;
      add.u32 %r8, %r3, %r8;
      mad.lo.u32 %r7, %r2, 100, %r1; st.shared.u32 [%r8], %r7;
      fence.proxy.async.shared::cta;
      setp.eq.u32 %p1, %r1, 0;
      setp.eq.and.u32 %p2, %r2, 0, %p1;
      @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
      )" + between + "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;\n" +
                       body,
                   64, 32, 2, "", 0, 2);
  }
  void always(const std::string& body, FindingKind kind) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      settings().seed = seed;
      const Result r = run_body(body);
      ASSERT_TRUE(r.end) << "seed " << seed;
      EXPECT_EQ(r.end->kind, kind) << r.end->what;
    }
  }
  const std::string sync_ = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  const std::string wait_ =
      "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0;\n@!%p3 bra WAIT;\n";
  const std::string read_ = "ld.shared.u32 %r9, [%r8+128];\nst.global.u32 [%rd1], %r9;\n";
  const std::string send_ =
      "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+128], [%r3], 128, "
      "[%r6];\n";
  const std::string multicast_ =
      "mov.u16 %rs1, 3;\n@%p2 "
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3+128], "
      "[%rd0], 128, "
      "[%r4], %rs1;\n";
  const std::string halves_ = ".reg .b16 %rs<4>;\n";
};

TEST_F(BulkInClusters, OneLoadForAllCtas) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_body(halves_ + multicast_ + wait_ + read_);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], 500 + i % 32) << i;
  }
  always(halves_ + multicast_ + sync_ + "@%p2 mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r4], 0;\n" +
             read_ + sync_,
         FindingKind::unfinished_async);
}

TEST_F(BulkInClusters, FromOneSharedMemoryToAnother) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_body(send_ + wait_ + read_ + sync_);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], (i < 32 ? 100 : 0) + i % 32) << i;
  }
  always(send_ + sync_ + read_ + sync_, FindingKind::unfinished_async);
  // What is read must stay until the other CTA has seen the copy end, and said so.
  always(send_ + "st.shared.u32 [%r8], 1;\n" + wait_ + read_ + sync_, FindingKind::unfinished_async);
  const Result after = run_body(send_ + wait_ + read_ + sync_ + "st.shared.u32 [%r8], 1;\n");
  EXPECT_FALSE(after.end) << after.end->what;
}

// The copy is the first use of the other CTA's mbarrier that this one makes.
TEST_F(BulkInClusters, InitialisationComesBeforeCopies) {
  const std::string relaxed =
      "bar.sync 0; barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n";
  const std::string fence = "@%p1 fence.mbarrier_init.release.cluster;\n";
  for (const std::string& copy : {send_, halves_ + multicast_}) {
    const Result sound = run_after(fence + relaxed, copy + wait_ + sync_);
    EXPECT_FALSE(sound.end) << sound.end->what;
    const Result r = run_after(relaxed, copy + wait_ + sync_);
    ASSERT_TRUE(r.end);
    EXPECT_EQ(r.end->kind, FindingKind::race);
    EXPECT_NE(r.end->what.find("orders its initialisation"), std::string::npos) << r.end->what;
  }
}

TEST_F(BulkInClusters, ReductionsInAnotherSharedMemory) {
  const Result r =
      run_body("st.shared.u32 [%r8+128], 7;\nfence.proxy.async.shared::cta;\n" + sync_ +
               "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
               "[%r5+128], [%r3], 128, [%r6];\n" +
               wait_ + read_ + sync_);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], (i < 32 ? 107 : 7) + i % 32) << i;
}

TEST_F(BulkInClusters, ACtaMustNotEndBeforeWhatItReceives) {
  always(send_, FindingKind::unfinished_async);
}

TEST_F(BulkInClusters, AMaskOfCtasThatAreNotThere) {
  const Result r = run_body(halves_ + "mov.u16 %rs1, 5;\n" + multicast_.substr(multicast_.find('@')));
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::illegal_address);
}

TEST_F(Bulk, EachIsOneRequestForTheSectorsOfItsBytes) {
  reset_counters();
  const Result r = run_body(expect_ + load_ + wait_ +
                            "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0+528], [%r2], 16;\n" +
                            commit_ + "@%p1 cp.async.bulk.wait_group 0;");
  ASSERT_FALSE(r.end) << r.end->what;
  const KernelCounts k = read_counters().at(0);
  EXPECT_EQ(k.bulk_copy.requests, 2u);
  EXPECT_EQ(k.bulk_copy.bytes, 272u);
  EXPECT_EQ(k.bulk_copy.sectors, 9u);
  EXPECT_EQ(k.bulk_copy.wavefronts, 0u);
}

TEST_F(Bulk, StagesOfAPipeline) {
  // Thread 0 loads, two stages ahead at most; warp 1 reads and gives the stage back. Mbarriers: full 0, 1;
  // empty 0, 1.
  const std::string body = ".shared .align 128 .b8 s[512];\n" + start + R"(
    mov.u32 %r3, s;
    st.global.u32 [%rd1], %r1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared.b64 [%r3], 1;
    mbarrier.init.shared.b64 [%r3+8], 1;
    mbarrier.init.shared.b64 [%r3+16], 32;
    mbarrier.init.shared.b64 [%r3+24], 32;
    READY: bar.sync 0;
    and.b32 %r4, %r1, 31;
    shl.b32 %r4, %r4, 2;
    mov.u32 %r10, 0;
    setp.ge.u32 %p2, %r1, 32;
    setp.ge.u32 %p5, %r1, 1;
    ROUND: and.b32 %r11, %r10, 1;
    shl.b32 %r12, %r11, 3;
    add.u32 %r12, %r3, %r12;
    shl.b32 %r13, %r11, 7;
    add.u32 %r13, %r3, %r13;
    shr.u32 %r14, %r10, 1;
    and.b32 %r14, %r14, 1;
    @%p2 bra CONSUME;
    @%p5 bra NEXT;
    xor.b32 %r15, %r14, 1;
    FREE: mbarrier.try_wait.parity.shared.b64 %p3, [%r12+16], %r15;
    @!%p3 bra FREE;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r12], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13+128], [%rd0], 128, [%r12];
    bra NEXT;
    CONSUME: mbarrier.try_wait.parity.shared.b64 %p3, [%r12], %r14;
    @!%p3 bra CONSUME;
    add.u32 %r16, %r13, %r4;
    ld.shared.u32 %r17, [%r16+128];
    st.global.u32 [%rd1], %r17;
    mbarrier.arrive.shared.b64 _, [%r12+16];
    NEXT: add.u32 %r10, %r10, 1;
    setp.lt.u32 %p4, %r10, 8;
    @%p4 bra ROUND;)";
  const auto without = [&](const std::string& text) {
    std::string wrong = body;
    const size_t at = wrong.find(text);
    EXPECT_NE(at, std::string::npos);
    return wrong.erase(at, text.size());
  };
  for (uint64_t seed = 0; seed < 12; ++seed) {
    settings().seed = seed;
    const Result r = run_ptx(body, 64, 64);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (uint32_t i = 32; i < 64; ++i) EXPECT_EQ(r.words[i], i - 32) << i;
    EXPECT_TRUE(
        run_ptx(without("mbarrier.try_wait.parity.shared.b64 %p3, [%r12+16], %r15;\n    @!%p3 bra FREE;"), 64,
                64)
            .end)
        << "a stage that is not free, seed " << seed;
    EXPECT_TRUE(
        run_ptx(without("mbarrier.try_wait.parity.shared.b64 %p3, [%r12], %r14;\n    @!%p3 bra CONSUME;"), 64,
                64)
            .end)
        << "a stage that is not full, seed " << seed;
  }
}

}  // namespace
}  // namespace simulator
