// tcgen05.mma of two CTAs.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "common/simulator/tests/tcgen05_mma_fixture.h"

namespace simulator {
namespace {

// Two CTAs: A is 256 rows, half of them in each; B 16 columns, half of them in each. Rank 0 issues.
class Tcgen05MmaPairTest : public Tcgen05MmaTest {
 protected:
  static inline const std::string both = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  static std::string of_pair(std::string text) {
    for (size_t at; (at = text.find("cta_group::1")) != std::string::npos;)
      text.replace(at, 12, "cta_group::2");
    // The peer must have been launched before the allocation.
    if (const size_t at = text.find("@%p1 tcgen05.alloc"); at != std::string::npos) text.insert(at, both);
    return text;
  }
  // %p2: thread 0 of rank 0. %p5: thread 0 of rank 1. A of rank 1 is threes.
  static std::string begun(uint32_t b_of_peer = two, const std::string& fence = proxy_fence) {
    return of_pair(fill()) +
           "mov.u32 %r14, %cluster_ctarank; setp.ne.u32 %p7, %r14, 0; and.pred %p5, %p2, %p7; not.pred %p7, "
           "%p7;\n"
           "and.pred %p2, %p2, %p7; mul.wide.u32 %rd2, %r14, 512; add.s64 %rd1, %rd1, %rd2;\n"
           "mov.u32 %r5, " +
           number(1u << 4 | 1u << 7 | 1u << 10 | 16u / 8 << 17 | 256u / 16 << 24) +
           ";\n@%p7 bra B; mov.u32 %r9, " + number(b_of_peer) +
           ";\n@%p4 st.shared.v4.b32 [%r7+4096], {%r9, %r9, %r9, %r9};\nB: " + "add.u32 %r3, %r3, 8;\n" +
           store_d + "sub.u32 %r3, %r3, 8;\nfence.mbarrier_init.release.cluster;\n" + fence + both +
           "tcgen05.fence::after_thread_sync;\n";
  }
  static std::string pair_commit(uint32_t mask = 3) {
    return "mov.u16 %rs0, " + number(mask) +
           ";\n@%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
           "[bar], "
           "%rs0;\n";
  }
  // Column 7, then 15.
  static inline const std::string second =
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13}, [%r3+15]; tcgen05.wait::ld.sync.aligned;\n"
      "st.global.u32 [%rd1+1024], %r13; tcgen05.fence::before_thread_sync;\n";
  static inline const std::string end =
      output + second + both + "@%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r2, 64;\n";
  Result run_both(const std::string& body, uint32_t cluster = 2) {
    return run_ptx(".reg .b16 %rs<2>;\n" + body, 512, 128, cluster, "", 0, cluster);
  }
  void finds_both(FindingKind kind, const std::string& text, const std::string& body) {
    for (uint64_t seed = 0; seed < (kind == FindingKind::deadlock ? 1 : 6); ++seed) {
      settings().seed = seed;
      const Result r = run_both(body);
      ASSERT_TRUE(r.end) << "seed " << seed << ": nothing found; wanted " << text;
      std::string all = r.end->what;
      for (const std::string& detail : r.end->details) all += "\n" + detail;
      // With a seed the others may have waited already for what it reads of shared memory.
      const bool waited = kind == FindingKind::unfinished_async && r.end->kind == FindingKind::race &&
                          all.find("of shared memory") != std::string::npos;
      EXPECT_TRUE(waited || r.end->kind == kind) << all;
      EXPECT_NE(all.find(text), std::string::npos) << "not " << text << "\n" << all;
    }
  }
};

TEST_F(Tcgen05MmaPairTest, MultipliesWhatBothHave) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_both(begun(0x40804080) + of_pair(mma()) + pair_commit() + wait() + end);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (uint32_t i = 0; i < 512; ++i) EXPECT_EQ(std::bit_cast<float>(r.words[i]), i < 256 ? 33 : 65) << i;
  }
}

TEST_F(Tcgen05MmaPairTest, EachCtaWaits) {
  // The commit goes to rank 0 only: a cluster barrier passes it on, or rank 1 waits for ever.
  finds_both(FindingKind::deadlock, "1 of 1 arrivals are missing",
             begun() + of_pair(mma()) + pair_commit(1) + wait() + end);
  finds_both(FindingKind::unfinished_async, "tcgen05.mma by thread (0,0,0) of CTA (0,0,0)",
             begun() + of_pair(mma()) + pair_commit(1) + both + "@%p7 bra X;\n" + end + "X: " + wait() + end);
  const Result r =
      run_both(begun() + of_pair(mma()) + pair_commit(1) + "@!%p7 bra X;\n" + wait() + "X: " + both + end);
  EXPECT_FALSE(r.end) << r.end->what;
  finds_both(
      FindingKind::unfinished_async, "tcgen05.mma by thread (0,0,0) of CTA (0,0,0)",
      begun() + of_pair(mma()) + both + "@%p5 st.shared.b32 [%r4], 0;\n" + pair_commit() + wait() + end);
}

TEST_F(Tcgen05MmaPairTest, ThePeersOperandsNeedAProxyFenceToo) {
  finds_both(
      FindingKind::missing_fence, "no fence.proxy.async follows a write",
      begun(two, "@%p7 fence.proxy.async.shared::cta;\n") + of_pair(mma()) + pair_commit() + wait() + end);
}

TEST_F(Tcgen05MmaPairTest, ThePeerIsThere) {
  const Result alone = run_both(begun() + of_pair(mma()) + pair_commit(1) + wait() + end, 1);
  ASSERT_TRUE(alone.end);
  // Rank 1 ends without having waited.
  settings().seed = 0;
  const Result r = run_both(begun() + of_pair(mma()) + pair_commit(1) + "@!%p7 bra X;\n" + wait() +
                            "X:\n@%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r2, 64;\n");
  ASSERT_TRUE(r.end);
  EXPECT_TRUE(r.end->what.starts_with("tcgen05.dealloc of columns 0 to 63")) << r.end->what;
  finds_both(FindingKind::illegal_address, "the cluster has no CTA of that rank",
             begun() + of_pair(mma()) + pair_commit(5) + wait() + end);
}

}  // namespace
}  // namespace simulator
