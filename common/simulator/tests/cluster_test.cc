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

}  // namespace
}  // namespace simulator
