// Clusters of several CTAs: who they are, barrier.cluster between them, each other's shared memory.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

// %r2: rank in the cluster; %rd1: out + 4 · (tid + 32 · ctaid); %r3: address of s in this CTA; %r4: %r3 + 4 ·
// tid; %r5: the same as %r4 in the CTA of rank %r6 = rank ^ 1.
const std::string cluster_start = ".shared .align 16 .b8 s[1024];\n.shared .align 8 .b64 bar;\n" + start + R"(
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r7, %ctaid.x;
    mul.wide.u32 %rd2, %r7, 128;
    add.s64 %rd1, %rd1, %rd2;
    mov.u32 %r3, s;
    shl.b32 %r4, %r1, 2;
    add.u32 %r4, %r3, %r4;
    xor.b32 %r6, %r2, 1;
    mapa.shared::cluster.u32 %r5, %r4, %r6;
)";
const std::string sync = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";

class Clusters : public Execution {
 protected:
  Result run_pair(const std::string& body, uint32_t ctas = 2, uint32_t cluster = 2, uint32_t threads = 32) {
    return run_ptx(cluster_start + body, 32 * ctas, threads, ctas, "", 0, cluster);
  }
  // The same finding with every interleaving.
  void always(const std::string& body, FindingKind kind, const std::string& what) {
    for (uint64_t seed : {0, 1, 2, 3, 4}) {
      settings().seed = seed;
      const Result r = run_pair(body);
      ASSERT_TRUE(r.end) << "seed " << seed;
      EXPECT_EQ(r.end->kind, kind) << r.end->what;
      std::string all = r.end->what;
      for (const std::string& detail : r.end->details) all += "\n" + detail;
      EXPECT_NE(all.find(what), std::string::npos) << all;
    }
  }
  void never(const std::string& body) {
    for (uint64_t seed : {0, 1, 2, 3, 4}) {
      settings().seed = seed;
      const Result r = run_pair(body);
      ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    }
  }
};

TEST_F(Clusters, ReadEachOthersSharedMemory) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    settings().seed = seed;
    const Result r = run_pair("mad.lo.u32 %r8, %r7, 100, %r1; st.shared.u32 [%r4], %r8;\n" + sync +
                                  "ld.shared::cluster.u32 %r9, [%r5]; st.global.u32 [%rd1], %r9;\n" + sync,
                              8);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 8 * 32; ++i) EXPECT_EQ(r.words[i], ((i / 32) ^ 1) * 100 + i % 32) << i;
  }
}

TEST_F(Clusters, AccessesNeedTheBarrier) {
  const std::string write = "st.shared.u32 [%r4], %r1;\n";
  const std::string read = "ld.shared::cluster.u32 %r9, [%r5];\n";
  never(write + sync + read + sync);
  always(write + sync + write + read + sync, FindingKind::race, "CTA (");
  always(write + "fence.acq_rel.cta;" + read + sync, FindingKind::absent_cta, "may not have started");
  always(write + "barrier.cluster.arrive.relaxed; barrier.cluster.wait;" + read + sync, FindingKind::race,
         "");
  never(write + "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait;" + read + sync);
}

// With SIMULATOR_SURVIVE a launch survives what ends it on hardware, which is reported whatever the checks
// are.
TEST_F(Clusters, AnAccessToWhoHasLeftIsSurvivedOnRequest) {
  const std::string late =
      "st.shared.u32 [%r4], 7;\n" + sync +
      "setp.eq.u32 %p1, %r2, 1; @%p1 bra END;\n"
      "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 100000; @%p3 bra L;\n"
      "ld.shared::cluster.u32 %r9, [%r5]; st.global.u32 [%rd1], %r9;\nEND:\n";
  settings().checks = Checks::off;
  const Result ends = run_pair(late);
  ASSERT_TRUE(ends.end);
  EXPECT_EQ(ends.end->kind, FindingKind::illegal_address);
  settings().survive = true;
  testing::internal::CaptureStderr();
  const Result goes_on = run_pair(late);
  const std::string reported = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(goes_on.end) << goes_on.end->what;
  EXPECT_EQ(goes_on.words[0], 7u);
  EXPECT_NE(reported.find("simulator: absent CTA in "), std::string::npos) << reported;
  EXPECT_NE(reported.find("which has exited"), std::string::npos) << reported;
}

TEST_F(Clusters, WhoIsReadFromMayNotLeave) {
  const std::string read = "st.shared.u32 [%r4], %r1;\n" + sync + "ld.shared::cluster.u32 %r9, [%r5];\n";
  never(read + sync);
  for (uint64_t seed : {0, 1, 2, 3, 4}) {
    settings().seed = seed;
    const Result r = run_pair(read);
    ASSERT_TRUE(r.end) << seed;
    EXPECT_TRUE(r.end->kind == FindingKind::absent_cta || r.end->kind == FindingKind::illegal_address)
        << r.end->what;
  }
}

TEST_F(Clusters, AddressesNameTheCta) {
  const Result r = run_pair(R"(
    mov.u64 %rd4, s;
    cvta.shared.u64 %rd3, %rd4;
    mapa.u64 %rd5, %rd3, %r6;
    isspacep.shared::cta %p1, %rd3;
    isspacep.shared::cta %p2, %rd5;
    isspacep.shared::cluster %p3, %rd5;
    getctarank.u64 %r8, %rd5;
    getctarank.shared::cluster.u32 %r9, %r3;
    selp.u32 %r10, 1, 0, %p1;
    selp.u32 %r11, 2, 0, %p2;
    selp.u32 %r12, 4, 0, %p3;
    add.u32 %r10, %r10, %r11;
    add.u32 %r10, %r10, %r12;
    mad.lo.u32 %r10, %r8, 16, %r10;
    mad.lo.u32 %r10, %r9, 256, %r10;
    st.global.u32 [%rd1], %r10;)");
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 1 + 4 + 16u);
  EXPECT_EQ(r.words[32], 1 + 4 + 256u);
}

TEST_F(Clusters, AnAddressOfTheOtherIsNoneOfOnesOwn) {
  always("st.shared.u32 [%r4], %r1;\n" + sync + "ld.shared::cta.u32 %r9, [%r5];\n" + sync,
         FindingKind::shared_out_of_bounds, ".shared::cluster");
  always("add.u32 %r5, %r5, 0x2000000; " + sync + "ld.shared::cluster.u32 %r9, [%r5];\n" + sync,
         FindingKind::shared_out_of_bounds, "of shared memory");
}

TEST_F(Clusters, AtomicsReachTheOtherCta) {
  const Result r = run_pair("st.shared.u32 [%r4], %r1;\n" + sync + R"(
    mapa.shared::cluster.u32 %r9, %r3, 0;
    atom.shared::cluster.add.u32 %r10, [%r9], 5;
    mapa.shared::cluster.u32 %r9, %r3, 1;
    red.relaxed.cluster.shared::cluster.max.u32 [%r9], %r1;)" +
                            sync + "ld.shared.u32 %r9, [%r3]; st.global.u32 [%rd1], %r9;");
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 5 * 64u);
  EXPECT_EQ(r.words[32], 31u);
}

TEST_F(Clusters, ArriveAtEachOthersMbarriers) {
  const std::string init = R"(
    mov.u32 %r12, bar;
    mapa.shared::cluster.u32 %r13, %r12, %r6;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r12], 32;
    st.shared.u32 [%r4], 0;)";
  const std::string exchange = "add.u32 %r8, %r1, %r2; st.shared::cluster.u32 [%r5], %r8;\n";
  const std::string wait = R"(
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r12], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r9, [%r4];
    st.global.u32 [%rd1], %r9;)";
  const std::string body = init + "fence.mbarrier_init.release.cluster;" + sync + exchange +
                           "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];" + wait;
  never(body + sync);
  never(body);  // who has seen all arrivals may leave, as they were the others' last accesses
  const Result r = run_pair(body);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], i % 32 + (i / 32 ^ 1)) << i;
  always(
      init + sync + exchange + "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r13];" + wait + sync,
      FindingKind::race, "CTA (");
  never(init + sync + exchange +
        "fence.acq_rel.cluster; mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r13];" + wait +
        sync);
}

TEST_F(Clusters, InitialisationComesFirst) {
  const std::string init =
      "mov.u32 %r12, bar; mapa.shared::cluster.u32 %r13, %r12, %r6; setp.eq.u32 %p1, %r1, 0;\n" + sync +
      "@%p1 mbarrier.init.shared.b64 [%r12], 32;\n";
  const std::string use = "mbarrier.arrive.shared::cluster.b64 _, [%r13];\n" + sync;
  const std::string relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n";
  never(init + sync + use);
  never(init + "fence.mbarrier_init.release.cluster;" + relaxed + use);
  always(init + relaxed + use, FindingKind::race, "mbarrier.init is by thread (0,0,0) of CTA");
}

TEST_F(Clusters, WhoExitsMustKnowOfTheLastAccess) {
  // CTA 0 stays long after CTA 1 has read from it, but only by chance.
  const std::string read = "st.shared.u32 [%r4], %r1;\n" + sync + R"(
    setp.eq.u32 %p1, %r2, 1;
    @%p1 ld.shared::cluster.u32 %r9, [%r5];
    mov.u32 %r8, 0;
    @%p1 bra DONE;
    LOOP: add.u32 %r8, %r8, 1;
    setp.lt.u32 %p2, %r8, 4000;
    @%p2 bra LOOP;
    DONE:
  )";
  always(read, FindingKind::absent_cta, "the read is by thread (0,0,0) of CTA (1,0,0)");
}

TEST_F(Clusters, WhoNeverArrivesIsNamed) {
  const Result r = run_pair("setp.eq.u32 %p1, %r2, 0; @%p1 bra WAIT; OTHER: bra OTHER; WAIT: " + sync);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::deadlock);
  ASSERT_EQ(r.end->details.size(), 2u);
  EXPECT_NE(r.end->details[0].find("barrier.cluster"), std::string::npos) << r.end->details[0];
  EXPECT_NE(r.end->details[0].find("32 of 64 threads have arrived"), std::string::npos) << r.end->details[0];
  EXPECT_NE(r.end->details[1].find("CTA (1,0,0)"), std::string::npos) << r.end->details[1];
}

TEST_F(Clusters, TheExitedAreNotWaitedFor) {
  const Result r =
      run_pair("setp.eq.u32 %p1, %r2, 0; @%p1 bra DONE; " + sync + "DONE: st.global.u32 [%rd1], 7;");
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 7u);
  EXPECT_EQ(r.words[32], 7u);
}

TEST_F(Clusters, CopiesOfTheOtherCtaAreKnown) {
  const std::string copy =
      "st.shared.u32 [%r4], 1; and.b64 %rd3, %rd1, -128; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd3, "
      "%rd2;" +
      sync + "cp.async.ca.shared.global [%r4], [%rd3], 4;\n";
  const std::string read = "ld.shared::cluster.u32 %r9, [%r5];\n" + sync;
  never(copy + "cp.async.wait_all;" + sync + read);
  always(copy + sync + read + "cp.async.wait_all;", FindingKind::unfinished_copy, "the copy by thread");
}

// Thread 0 of CTA 1 expects 128 bytes, four from each thread of CTA 0.
const std::string begin_async = R"(
    mov.u32 %r12, bar;
    mapa.shared::cluster.u32 %r13, %r12, %r6;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p3, %r2, 0;
    @%p1 mbarrier.init.shared.b64 [%r12], 1;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r12], 128;
    add.u32 %r8, %r1, 100;)";
const std::string init_async = begin_async + "st.shared.u32 [%r4], 5;\n" + sync;
const std::string send =
    "@%p3 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r8, [%r13];\n";
const std::string wait_async = R"(
    @%p3 bra SENT;
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r12], 0;
    @!%p2 bra WAIT;
    SENT: )";
const std::string read_own = "ld.shared.u32 %r9, [%r4]; st.global.u32 [%rd1], %r9;\n";

TEST_F(Clusters, AsynchronousStoresAreCounted) {
  const std::string body = init_async + send + wait_async + read_own + sync;
  never(body);
  const Result r = run_pair(body);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[32 + i], i + 100) << i;
  always(init_async + send + read_own + sync, FindingKind::race, "PTX line");
  // A barrier of the cluster does not wait for them.
  always(init_async + send + sync + read_own + sync, FindingKind::unfinished_copy,
         "the asynchronous store by thread");
  // Some of them never come: no warp goes on.
  settings().seed = 0;
  const Result fewer = run_pair(init_async + "setp.eq.and.u32 %p3, %r1, 3, %p3;" + send +
                                "setp.eq.u32 %p3, %r2, 0;" + wait_async + sync);
  ASSERT_TRUE(fewer.end);
  EXPECT_EQ(fewer.end->kind, FindingKind::deadlock);
}

// No thread of the CTA has used the mbarrier before.
TEST_F(Clusters, InitialisationComesBeforeAsynchronousStores) {
  const std::string relaxed = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n";
  const std::string read = "@!%p3 ld.shared.u32 %r9, [%r4]; @!%p3 st.global.u32 [%rd1], %r9;\n";
  const std::string use = send + wait_async + read + sync;
  never(begin_async + "fence.mbarrier_init.release.cluster;" + relaxed + use);
  always(begin_async + relaxed + use, FindingKind::race, "mbarrier.init is by thread (0,0,0) of CTA (1,0,0)");
}

TEST_F(Clusters, AsynchronousStoresLandLate) {
  settings().checks = Checks::off;
  const Result r = run_pair(init_async + send + sync + read_own + sync);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[32 + i], 5u) << i;
}

TEST_F(Clusters, AsynchronousReductionsOfAllKinds) {
  struct Case {
    const char* operation;
    uint32_t expected;  // of 5 and 100
  };
  for (const Case& each : {Case{"add.u32", 105},
                           {"add.s32", 105},
                           {"min.u32", 5},
                           {"max.u32", 100},
                           {"min.s32", 5},
                           {"max.s32", 100},
                           {"and.b32", 4},
                           {"or.b32", 101},
                           {"xor.b32", 97},
                           {"inc.u32", 6},
                           {"dec.u32", 4}}) {
    const Result r =
        run_pair(init_async + "@%p3 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." +
                 each.operation + " [%r5], %r8, [%r13];\n" + wait_async + read_own + sync);
    ASSERT_FALSE(r.end) << r.end->what;
    EXPECT_EQ(r.words[32], each.expected) << each.operation;
  }
}

TEST_F(Clusters, AsynchronousStoresGoWhereTheyAreCounted) {
  always(init_async + "@%p3 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], %r8, [%r12];\n" +
             sync,
         FindingKind::illegal_instruction, "it must be of the same CTA");
  always(init_async +
             "sub.u32 %r13, %r13, 8; @%p3 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], "
             "%r8, [%r13];\n" +
             sync,
         FindingKind::illegal_instruction, "not been initialised");
  const Result alone = run_ptx(
      cluster_start + "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4], %r1, [%r3+512];", 32,
      32);
  ASSERT_TRUE(alone.end);
}

class RegisterPools : public Execution {
 protected:
  // Three warpgroups, 168 registers each.
  Result run_groups(const std::string& first, const std::string& others,
                    const std::string& directives = ".maxntid 384, 1, 1 .minnctapersm 1") {
    return run_ptx(
        start +
            "shr.u32 %r2, %r1, 7; setp.eq.u32 %p1, %r2, 0; shr.u32 %r3, %r1, 5; and.b32 %r3, %r3, 3;\n"
            "@%p1 bra FIRST;\n" +
            others + "bra DONE;\nFIRST:\n" + first + "DONE: st.global.u32 [%rd1], 1;",
        384, 384, 1, "", 0, 1, directives);
  }
  void gives(const Result& r, FindingKind kind, const std::string& what) {
    ASSERT_TRUE(r.end);
    EXPECT_EQ(r.end->kind, kind);
    std::string all = r.end->what;
    for (const std::string& detail : r.end->details) all += "\n" + detail;
    EXPECT_NE(all.find(what), std::string::npos) << all;
  }
};

const std::string release_most = "setmaxnreg.dec.sync.aligned.u32 24;\n";

TEST_F(RegisterPools, WhatOneWarpgroupReleasesOthersGet) {
  const Result r = run_groups(release_most, "setmaxnreg.inc.sync.aligned.u32 240;\n");
  EXPECT_FALSE(r.end) << r.end->what;
  gives(run_groups("setmaxnreg.dec.sync.aligned.u32 40;\n", "setmaxnreg.inc.sync.aligned.u32 240;\n"),
        FindingKind::deadlock, "wait for registers");
  // Without a directive ptxas ignores it.
  const Result none = run_groups(release_most, "setmaxnreg.inc.sync.aligned.u32 256;\n", "");
  EXPECT_FALSE(none.end) << none.end->what;
}

TEST_F(RegisterPools, MisuseIsAFault) {
  const std::string more = "setmaxnreg.inc.sync.aligned.u32 240;\n";
  gives(run_groups("setmaxnreg.dec.sync.aligned.u32 176;\n", more), FindingKind::illegal_instruction,
        "by a warp that has 168");
  gives(run_groups("setp.eq.u32 %p2, %r3, 0; @%p2 setmaxnreg.dec.sync.aligned.u32 24;\n", ""),
        FindingKind::illegal_instruction, "was not executed by warp 1");
  gives(run_groups(release_most + "setmaxnreg.inc.sync.aligned.u32 32;\n", more),
        FindingKind::illegal_instruction, "without a barrier");
  const std::string each =
      "setp.eq.u32 %p2, %r3, 0; @%p2 bra ONE;\n" + release_most + "bra.uni DONE;\nONE: " + release_most;
  settings().strict = true;
  gives(run_groups(each, more), FindingKind::illegal_instruction, "while others execute the one at");
  settings().strict = false;
  const Result lenient = run_groups(each, more);
  EXPECT_FALSE(lenient.end) << lenient.end->what;
  const Result synchronised =
      run_groups(release_most + "bar.sync 1, 128; setmaxnreg.inc.sync.aligned.u32 24;\n", more);
  EXPECT_FALSE(synchronised.end) << synchronised.end->what;
}

TEST_F(RegisterPools, NumbersAreChecked) {
  for (const char* number : {"20", "16", "100", "264"}) {
    const Result r = run_ptx("setmaxnreg.dec.sync.aligned.u32 " + std::string(number) + ";", 1, 128);
    gives(r, FindingKind::not_supported, "multiple of 8");
  }
}

}  // namespace
}  // namespace simulator
