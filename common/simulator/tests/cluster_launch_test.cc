// Cluster launch control: clusters that take over the work of others, and what is reported where they do it
// wrong.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/simulator/simulator.h"
#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

// 32 threads a CTA. %r2: 16 bytes for the response; %r3: an mbarrier for one arrival; %r5: its phase; %r4:
// the tile, %ctaid.x at first; %p1: thread 0. `out`: word 0: clusters launched; from word 1 on: how often the
// tile was worked on.
class ClusterLaunch : public Execution {
 protected:
  const std::string begin_ = ".shared .align 16 .b8 s[64];\n.reg .b128 %q;\n" + start + R"(
      mov.u32 %r2, s;
      add.u32 %r3, %r2, 32;
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
      @%p1 fence.mbarrier_init.release.cluster;
      @%p1 atom.global.add.u32 %r9, [%rd0], 1;
      bar.sync 0;
      barrier.cluster.arrive;
      barrier.cluster.wait;
      mov.u32 %r4, %ctaid.x;
      mov.u32 %r5, 0;
  )";
  const std::string expect_ = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;\n";
  const std::string ask_ =
      "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], "
      "[%r3];\n";
  const std::string ask_all_ =
      "mov.u32 %r10, %cluster_ctarank;\nsetp.eq.and.u32 %p4, %r10, 0, %p1;\n"
      "@%p4 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
      "[%rd5], [%rd6];\n";
  const std::string work_ = R"(
      mul.wide.u32 %rd2, %r4, 4;
      add.s64 %rd2, %rd0, %rd2;
      @%p1 red.global.add.u32 [%rd2+4], 1;
  )";
  const std::string wait_ =
      "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], %r5;\n@!%p2 bra WAIT;\n";
  const std::string read_ = R"(
      ld.shared.b128 %q, [%r2];
      clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
      @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r6, %r7, _}, %q;
  )";
  const std::string next_ = "xor.b32 %r5, %r5, 1;\nbar.sync 0;\n@%p3 bra LOOP;\n";

  Result run_tiles(const std::string& body, uint32_t tiles, uint32_t cluster = 1) {
    return run_ptx(begin_ + body, tiles + 1, 32, tiles, "", 0, cluster);
  }
};

TEST_F(ClusterLaunch, EveryTileIsWorkedOnOnce) {
  for (const uint32_t tiles : {1u, 2u, 3u, 4u, 17u, 600u}) {
    std::set<uint32_t> launched;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      settings().seed = seed;
      const Result r = run_tiles("LOOP:\n" + expect_ + ask_ + work_ + wait_ + read_ + next_, tiles);
      ASSERT_FALSE(r.end) << r.end->what;
      for (uint32_t t = 0; t < tiles; ++t) EXPECT_EQ(r.words[1 + t], 1u) << t << " seed " << seed;
      if (seed == 0) {
        EXPECT_EQ(r.words[0], (tiles + 2) / 3);
      }
      launched.insert(r.words[0]);
    }
    EXPECT_EQ(launched.size() > 1, tiles > 1) << "orders that differ, of " << tiles;
  }
}

TEST_F(ClusterLaunch, ThreadsOfTheCpuDoNotMatter) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    settings().seed = seed;
    std::set<uint32_t> launched;
    for (const int threads : {1, 2, 5}) {
      settings().threads = threads;
      // The number of the launch is part of the seed.
      const Result r = run_tiles("LOOP:\n" + expect_ + ask_ + work_ + wait_ + read_ + next_, 64);
      ASSERT_FALSE(r.end) << r.end->what;
      if (seed == 0) launched.insert(r.words[0]);
    }
    EXPECT_LE(launched.size(), 1u);
  }
}

TEST_F(ClusterLaunch, WhereClustersRunInOrderTheyAreCanceledToo) {
  // An atomic whose result is used makes the order of the clusters matter.
  const std::string ordered = "@%p1 atom.global.add.u32 %r9, [%rd0], 0;\n@%p1 st.shared.u32 [%r2+48], %r9;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_tiles("LOOP:\n" + expect_ + ask_ + work_ + ordered + wait_ + read_ + next_, 40);
    ASSERT_TRUE(sensitive_);
    ASSERT_FALSE(r.end) << r.end->what;
    EXPECT_LT(r.words[0], 40u);
    for (uint32_t t = 0; t < 40; ++t) EXPECT_EQ(r.words[1 + t], 1u) << t << " seed " << seed;
  }
}

TEST_F(ClusterLaunch, WhoDoesNotAskLeavesTheRestToBeLaunched) {
  const Result r = run_tiles(expect_ + ask_ + work_ + wait_ + read_ + "@%p3 bra MORE;\nbra END;\nMORE:\n" +
                                 work_ + "END: mov.u32 %r6, 0;\n",
                             12);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t t = 0; t < 12; ++t) EXPECT_EQ(r.words[1 + t], 1u) << t;
  EXPECT_EQ(r.words[0], 8u) << "four queues of three: the third of each is launched";
}

TEST_F(ClusterLaunch, AllCtasOfAClusterGetTheResponse) {
  const std::string addresses =
      "cvt.u64.u32 %rd5, %r2;\ncvta.shared.u64 %rd5, %rd5;\ncvt.u64.u32 %rd6, %r3;\ncvta.shared.u64 %rd6, "
      "%rd6;\n";
  const std::string coordinate =
      "ld.shared.b128 %q, [%r2];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r4, %q;\n"
      "mov.u32 %r11, %cluster_ctaid.x;\nadd.u32 %r4, %r4, %r11;\n";
  const auto loop = [&](const std::string& release, const std::string& acquire) {
    return run_tiles(addresses + "LOOP:\n" + expect_ + ask_all_ + work_ + wait_ + coordinate +
                         "xor.b32 %r5, %r5, 1;\n" + release + "barrier.cluster.arrive.relaxed;\n" +
                         "barrier.cluster.wait;\n" + acquire + "@%p3 bra LOOP;\n",
                     28, 2);
  };
  const std::string release = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n",
                    acquire = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = loop(release, acquire);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t t = 0; t < 28; ++t) EXPECT_EQ(r.words[1 + t], 1u) << t << " seed " << seed;
  }
  settings().seed = 0;
  const Result wrong = loop("", acquire);
  ASSERT_TRUE(wrong.end) << "a relaxed barrier orders nothing";
  EXPECT_EQ(wrong.end->kind, FindingKind::race) << wrong.end->what;
}

TEST_F(ClusterLaunch, CoordinatesHaveThreeDimensions) {
  Module module(header + ".visible .entry k(.param .u64 out)\n{\n" + begin_ +
                "mov.u32 %r10, %cluster_ctarank; setp.ne.u32 %p6, %r10, 0; @%p6 ret;\n" + expect_ + ask_ +
                wait_ +
                "ld.shared.b128 %q, [%r2];\n"
                "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {_, %r6, %r7, %r8}, %q;\n"
                "mov.u32 %r12, %ctaid.x; mov.u32 %r13, %ctaid.y; mov.u32 %r14, %ctaid.z;\n"
                "or.b32 %r12, %r12, %r13; or.b32 %r12, %r12, %r14; setp.eq.and.u32 %p5, %r12, 0, %p1;\n"
                "@%p5 st.global.v2.u32 [%rd0+8], {%r6, %r7};\nret;\n}\n");
  const Allocation* out = global_memory().allocate(64, Allocation::Kind::device);
  std::memset(out->backing, 0, 64);
  global_memory().mark_written(out->base, 64);
  Launch launch;
  launch.grid = {1, 4, 6};
  launch.cluster = {1, 2, 1};
  launch.block = {32, 1, 1};
  // Twelve clusters, four queues: after the first, (0,0,0), comes the fifth, (0,0,2).
  EXPECT_FALSE(run(*module.kernel("k"), launch, reinterpret_cast<const std::byte*>(&out->base)));
  uint32_t words[4];
  std::memcpy(words, out->backing, sizeof words);
  EXPECT_EQ(words[2], 0u);
  EXPECT_EQ(words[3], 2u);
  global_memory().free(out->base);
}

TEST_F(ClusterLaunch, WhoDoesNotWaitIsTold) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_tiles(expect_ + ask_ + "bar.sync 0;\nld.shared.b128 %q, [%r2];\n", 4);
    ASSERT_TRUE(r.end) << seed;
    EXPECT_EQ(r.end->kind, FindingKind::unfinished_async) << r.end->what;
  }
}

TEST_F(ClusterLaunch, AResponseThatIsStillReadIsARace) {
  // No barrier between the reading of one response and the request for the next.
  const std::string next = "xor.b32 %r5, %r5, 1;\n@%p3 bra LOOP;\n";
  const Result r = run_ptx(begin_ + "LOOP:\n" + expect_ + ask_ + wait_ + read_ + next, 16, 64, 12);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::race) << r.end->what;
}

TEST_F(ClusterLaunch, StrictlyAFenceComesBeforeAResponseIsOverwritten) {
  settings().strict = true;
  const auto loop = [&](const std::string& fence) {
    return run_tiles("LOOP:\n" + expect_ + ask_ + wait_ + read_ + fence + next_, 12);
  };
  EXPECT_FALSE(loop("fence.proxy.async.shared::cta;\n").end);
  const Result r = loop("");
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::missing_fence) << r.end->what;
  EXPECT_NE(r.end->what.find("follows a read of it by a thread"), std::string::npos) << r.end->what;
  settings().strict = false;
  EXPECT_FALSE(loop("").end);
}

TEST_F(ClusterLaunch, NothingIsAskedForAfterAFailure) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_tiles("mov.u32 %r8, 0;\nLOOP:\n" + expect_ + ask_ + wait_ + read_ +
                                   "xor.b32 %r5, %r5, 1;\nbar.sync 0;\nadd.u32 %r8, %r8, 1;\n"
                                   "setp.lt.u32 %p5, %r8, 5;\n@%p5 bra LOOP;\n",
                               4);
    ASSERT_TRUE(r.end) << seed;
    EXPECT_NE(r.end->what.find("that has seen one fail"), std::string::npos) << r.end->what;
  }
}

TEST_F(ClusterLaunch, OnlyResponsesAreQueried) {
  const Result r = run_tiles(
      "mov.b128 %q, {%rd0, %rd0};\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;\n",
      1);
  ASSERT_TRUE(r.end);
  EXPECT_NE(r.end->what.find("is no response"), std::string::npos) << r.end->what;
}

TEST_F(ClusterLaunch, AddressesAreThisCtasAndAligned) {
  const auto what = [&](const std::string& change) {
    const Result r = run_tiles(change + expect_ + ask_, 2, 2);
    return r.end ? r.end->what : "nothing";
  };
  EXPECT_NE(what("add.u32 %r2, %r2, 8;\n").find("not a multiple of 16"), std::string::npos);
  EXPECT_NE(what("xor.b32 %r2, %r2, 16777216;\n").find("not in the shared memory of this CTA"),
            std::string::npos);
}

// Settings::ctas. A CTA notes in its word that it ran.
class FewCtas : public Execution {
 protected:
  const std::string note_ = start + R"(
      mov.u32 %r4, %ctaid.x;
      mul.wide.u32 %rd2, %r4, 4;
      add.s64 %rd2, %rd0, %rd2;
  )";
  std::set<uint32_t> that_ran(const std::string& body, uint32_t ctas, uint32_t cluster = 1) {
    const Result r = run_ptx(note_ + body, ctas, 1, ctas, "", 0, cluster);
    EXPECT_FALSE(r.end);
    std::set<uint32_t> ran;
    for (uint32_t i = 0; i < ctas; ++i) {
      if (r.words[i] != 0) ran.insert(i);
    }
    return ran;
  }
};

TEST_F(FewCtas, TheFirstTheLastAndSomeBetween) {
  settings().tell_ctas = false;
  std::set<std::set<uint32_t>> choices;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    settings().seed = seed;
    for (const uint64_t most : {1u, 2u, 3u, 7u, 99u}) {
      settings().ctas = most;
      const std::set<uint32_t> ran = that_ran("st.global.u32 [%rd2], 1;", 100);
      EXPECT_EQ(ran.size(), most);
      EXPECT_TRUE(ran.contains(0));
      EXPECT_EQ(ran.contains(99), most > 1);
      if (most == 7) choices.insert(ran);
    }
  }
  EXPECT_GT(choices.size(), 10u);
  settings().ctas = 100;
  EXPECT_EQ(that_ran("st.global.u32 [%rd2], 1;", 100).size(), 100u);
}

TEST_F(FewCtas, ClustersAreWhole) {
  settings().tell_ctas = false;
  settings().ctas = 3;
  const std::set<uint32_t> ran = that_ran("st.global.u32 [%rd2], 1;", 400, 4);
  EXPECT_EQ(ran.size(), 12u);
  for (const uint32_t cta : ran) EXPECT_TRUE(ran.contains(cta / 4 * 4) && ran.contains(cta / 4 * 4 + 3));
}

TEST_F(FewCtas, AreAnnounced) {
  settings().ctas = 3;
  testing::internal::CaptureStderr();
  that_ran("st.global.u32 [%rd2], 1;", 400, 4);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "simulator: of k only 12 of 400 CTAs run\n");
}

TEST_F(FewCtas, AllRunWhereTheyMayWaitForEachOther) {
  settings().ctas = 3;
  testing::internal::CaptureStderr();
  EXPECT_EQ(that_ran("atom.global.exch.b32 %r5, [%rd2], 1;", 100).size(), 100u);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "simulator: of k all 100 CTAs run, since they may wait for each other\n");
}

}  // namespace
}  // namespace simulator
