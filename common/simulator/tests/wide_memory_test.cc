// Accesses of 32 bytes, and ranges of shared memory that one instruction zeroes.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/simulator.h"
#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class WideMemory : public Execution {
 protected:
  // %rd2: out + 32 · thread.
  const std::string begin_ = start + "mul.wide.u32 %rd2, %r1, 32; add.s64 %rd2, %rd0, %rd2;\n";
};

TEST_F(WideMemory, ThirtyTwoBytesALane) {
  reset_counters();
  const Result r = run_ptx(begin_ + R"(
      shl.b32 %r2, %r1, 3;
      add.u32 %r3, %r2, 1; add.u32 %r4, %r2, 2; add.u32 %r5, %r2, 3;
      add.u32 %r6, %r2, 4; add.u32 %r7, %r2, 5; add.u32 %r8, %r2, 6; add.u32 %r9, %r2, 7;
      st.global.L2::evict_last.v8.b32 [%rd2], {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9};
      ld.global.L1::no_allocate.L2::evict_first.L2::256B.v4.b64 {%rd3, %rd4, %rd5, %rd6}, [%rd2];
      st.global.v4.u64 [%rd2+1024], {%rd6, %rd5, %rd4, %rd3};)",
                           512, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(r.words[i], i);
    EXPECT_EQ(r.words[256 + i], i ^ 6) << "pairs of words in the opposite order";
  }
  const KernelCounts k = read_counters().at(0);
  EXPECT_EQ(k.global_load.requests, 1u);
  EXPECT_EQ(k.global_load.sectors, 32u);
  EXPECT_EQ(k.global_load.bytes, 1024u);
  EXPECT_EQ(k.global_store.requests, 2u);
  EXPECT_EQ(k.global_store.sectors, 64u);
}

TEST_F(WideMemory, TheyAreAligned) {
  const Result r =
      run_ptx(begin_ + "ld.global.v4.b64 {%rd3, %rd4, %rd5, %rd6}, [%rd2+16];\nst.global.u64 [%rd2], %rd3;\n",
              512, 32);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::misaligned);
}

TEST_F(WideMemory, ARangeOfSharedMemoryIsZeroed) {
  const std::string zero = ".shared .align 16 .b32 s[64];\n" + begin_ +
                           "shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n"
                           "st.shared.u32 [%r2], 7; st.shared.u32 [%r2+128], 7; bar.sync 0;\n"
                           "setp.eq.u32 %p1, %r1, 1; mov.u64 %rd3, SIZE;\n"
                           "@%p1 st.bulk.weak.shared::cta [%r3+8], %rd3, 0;\n"
                           "BARRIER\n"
                           "ld.shared.u32 %r4, [%r2]; ld.shared.u32 %r5, [%r2+128];\n"
                           "st.global.u32 [%rd1], %r4; st.global.u32 [%rd1+128], %r5;\n";
  const auto with = [&](const std::string& size, const std::string& barrier) {
    std::string body = zero;
    body.replace(body.find("SIZE"), 4, size);
    body.replace(body.find("BARRIER"), 7, barrier);
    return run_ptx(body, 64, 32);
  };
  const Result r = with("160", "bar.sync 0;");
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(r.words[i], i < 2 || i >= 42 ? 7u : 0u) << i;
  const Result early = with("160", "");
  ASSERT_TRUE(early.end);
  EXPECT_EQ(early.end->kind, FindingKind::race);
  const Result odd = with("12", "bar.sync 0;");
  ASSERT_TRUE(odd.end);
  EXPECT_NE(odd.end->what.find("it must be a multiple of 8"), std::string::npos);
  const Result outside = with("256", "bar.sync 0;");
  ASSERT_TRUE(outside.end);
  EXPECT_EQ(outside.end->kind, FindingKind::shared_out_of_bounds) << outside.end->what;
}

}  // namespace
}  // namespace simulator
