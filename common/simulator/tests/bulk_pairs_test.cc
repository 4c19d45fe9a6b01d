// Copies of boxes with .cta_group::2, which an mbarrier of the CTA's peer may count, and rows that are
// gathered and scattered.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"
#include "common/simulator/units/tma_map.h"

namespace simulator {
namespace {

// Four CTAs of 32 threads are a cluster. The tensor: rows of 32 words, 8 of them, word w is 100 + w; boxes of
// 4 × 4. Behind it `out` has 32 words for each CTA, at %rd4 for this thread. %r2: rank; %r3: 256 bytes; %r4:
// an mbarrier for one arrival, %r5: that of the even CTA of the pair; %rd3: the tensor map; %p1: thread 0;
// %p4: that of rank 0; %p5: that of an even CTA.
class BulkPairs : public Execution {
 protected:
  static TmaMap map_of(uint16_t rows) {
    TmaMap map;
    map.rank = 2;
    map.type = TmaType::u32;
    map.last[0] = 31;
    map.last[1] = 7;
    map.stride[0] = 128;
    map.box[0] = 4;
    map.box[1] = rows;
    map.step[0] = map.step[1] = 1;
    return map;
  }
  Result run_body(const std::string& body, const TmaMap& map) {
    std::byte bytes[tma_map_bytes];
    map.store(bytes);
    std::string variable = ".global .align 128 .b8 map[128] = {";
    for (uint32_t i = 0; i < tma_map_bytes; ++i)
      variable += (i ? "," : "") + std::to_string(static_cast<uint32_t>(bytes[i]));
    return run_ptx(".shared .align 1024 .b8 s[2048];\n.reg .b16 %rs<4>;\n" + start + R"(
      mov.u64 %rd3, map;
      mov.u32 %r2, %cluster_ctarank;
      mov.u32 %r3, s;
      add.u32 %r4, %r3, 1024;
      and.b32 %r5, %r4, 0xfeffffff;
      setp.eq.u32 %p1, %r1, 0;
      setp.eq.and.u32 %p4, %r2, 0, %p1;
      and.b32 %r6, %r2, 1;
      setp.eq.and.u32 %p5, %r6, 0, %p1;
      mul.wide.u32 %rd4, %r2, 256;
      add.s64 %rd4, %rd1, %rd4;
      shl.b32 %r6, %r2, 6; add.u32 %r6, %r6, %r1;
      add.u32 %r6, %r6, 100; st.global.u32 [%rd4], %r6;
      add.u32 %r6, %r6, 32; st.global.u32 [%rd4+128], %r6;
      mul.wide.u32 %rd4, %r2, 128;
      add.s64 %rd4, %rd1, %rd4;
      add.s64 %rd4, %rd4, 1024;
      @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
      @%p1 fence.mbarrier_init.release.cluster;
      @%p4 tensormap.replace.tile.global_address.global.b1024.b64 [%rd3], %rd0;
      @%p4 fence.proxy.tensormap::generic.release.gpu;
      barrier.cluster.arrive; barrier.cluster.wait;
      fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
      mov.u32 %r6, 4; mov.u32 %r7, %r2;
      )" + body,
                   512, 32, 4, variable + "};\n", 0, 4);
  }
  Result run_pairs(const std::string& body) { return run_body(body, map_of(4)); }
  static uint32_t word(uint32_t x, uint32_t y) { return 100 + y * 32 + x; }

  const std::string sync_ = "barrier.cluster.arrive; barrier.cluster.wait;\n";
  const std::string expect_ = "@%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;\n";
  const std::string load_ =
      "@%p1 cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], "
      "[%rd3, "
      "{%r6, %r7}], [%r5];\n";
  // Even CTAs wait, their peers learn of it at the cluster's barrier.
  const std::string wait_ =
      "@!%p5 bra DONE;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;\n@!%p2 bra "
      "WAIT;\nDONE:\n";
  // The first 16 words of each tile.
  const std::string read_ =
      "shl.b32 %r8, %r1, 2; add.u32 %r8, %r3, %r8;\nsetp.lt.u32 %p6, %r1, 16;\n"
      "@%p6 ld.shared.u32 %r9, [%r8];\n@%p6 st.global.u32 [%rd4], %r9;\n";
};

TEST_F(BulkPairs, TheEvenCtaCountsForBoth) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_pairs(expect_ + load_ + wait_ + sync_ + read_);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t cta = 0; cta < 4; ++cta) {
      for (uint32_t i = 0; i < 16; ++i)
        EXPECT_EQ(r.words[256 + cta * 32 + i], word(4 + i % 4, cta + i / 4)) << cta << ' ' << i;
    }
  }
}

TEST_F(BulkPairs, AMulticastIsCountedByTheParityOfTheMbarrier) {
  const std::string all =
      "mov.u16 %rs1, 15;\n@%p4 "
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.multicast::cluster [%r3], [%rd3, {%r6, %r7}], [%r5], %rs1;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_pairs(expect_ + all + wait_ + sync_ + read_);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t cta = 0; cta < 4; ++cta) {
      for (uint32_t i = 0; i < 16; ++i)
        EXPECT_EQ(r.words[256 + cta * 32 + i], word(4 + i % 4, i / 4)) << cta << ' ' << i;
    }
  }
}

TEST_F(BulkPairs, WhoWaitsForItsOwnHalfOnlyIsTold) {
  const std::string half = "@%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 64;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_pairs(half + load_ + wait_ + sync_ + read_);
    ASSERT_TRUE(r.end) << seed;
  }
}

TEST_F(BulkPairs, WithNoWaitThePeersCopyIsUnfinished) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_pairs(expect_ + load_ + sync_ + read_ + sync_);
    ASSERT_TRUE(r.end) << seed;
    EXPECT_EQ(r.end->kind, FindingKind::unfinished_async) << r.end->what;
    const Result end = run_pairs(expect_ + load_ + sync_);
    ASSERT_TRUE(end.end) << seed;
    EXPECT_NE(end.end->what.find(" ends: no thread has waited for it"), std::string::npos) << end.end->what;
  }
}

TEST_F(BulkPairs, OnlyAPeerCounts) {
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = load_;
    changed.replace(changed.find(from), from.size(), to);
    const Result r = run_pairs("xor.b32 %r10, %r4, 0x2000000;\n" + expect_ + changed + wait_ + sync_ + read_);
    return r.end ? r.end->what : "nothing";
  };
  EXPECT_NE(with("[%r5]", "[%r10]").find("neither in the CTA whose shared memory is written nor in its peer"),
            std::string::npos);
  EXPECT_NE(with(".cta_group::2", "").find("the mbarrier is not in the CTA"), std::string::npos);
  EXPECT_NE(with(".cta_group::2", ".cta_group::1").find("the mbarrier is not in the CTA"), std::string::npos);
}

TEST_F(BulkPairs, RowsAreGatheredAndScattered) {
  const std::string gather =
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 64;\nmov.u32 %r10, 7; mov.u32 %r11, 9; "
      "mov.u32 "
      "%r12, -1;\n"
      "@%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r3], "
      "[%rd3, "
      "{%r6, %r10, %r7, %r11, %r12}], [%r4];\n"
      "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;\n@!%p2 bra WAIT;\n";
  const std::string scatter =
      "fence.proxy.async.shared::cta;\nmov.u32 %r13, 8;\nmov.u32 %r14, 2;\nadd.u32 %r14, %r14, %r2;\n"
      "@%p4 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd3, {%r13, %r14, %r12, "
      "%r7, "
      "%r11}], [%r3];\n@%p4 cp.async.bulk.commit_group;\n@%p4 cp.async.bulk.wait_group 0;\n";
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_body(gather + read_ + sync_ + scatter, map_of(1));
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t cta = 0; cta < 4; ++cta) {
      const uint32_t rows[] = {7, cta};
      for (uint32_t i = 0; i < 16; ++i)
        EXPECT_EQ(r.words[256 + cta * 32 + i], i < 8 ? word(4 + i % 4, rows[i / 4]) : 0) << cta << ' ' << i;
    }
    for (uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(r.words[2 * 32 + 8 + i], word(4 + i, 7)) << "row 0 of rank 0's to row 2";
      EXPECT_EQ(r.words[8 + i], 0u) << "row 2 of it, which is outside, to row 0";
      EXPECT_EQ(r.words[32 + 8 + i], word(8 + i, 1)) << "and nothing to row 1";
    }
  }
  const Result wrong = run_body(gather + read_, map_of(4));
  ASSERT_TRUE(wrong.end);
  EXPECT_NE(wrong.end->what.find("boxDim[1] is 4"), std::string::npos) << wrong.end->what;
}

}  // namespace
}  // namespace simulator
