// tcgen05.alloc and .dealloc, of one CTA and of a pair.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/tcgen05_memory_fixture.h"

namespace simulator {
namespace {

TEST_F(Tcgen05MemoryTest, AllocatesColumns) {
  const std::string more =
      "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+8], 64;\n"
      "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+12], 32;\n"
      "@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" +
      barrier + "ld.shared.v2.u32 {%v0, %v1}, [s+8];\n";
  const std::string less =
      "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %v0, 64;\n"
      "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %v1, 32;\n";
  const Result r = run_body(allocated() + more + output(2) + less + freed());
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 64u);
  EXPECT_EQ(r.words[128], 128u);
}

TEST_F(Tcgen05MemoryTest, AllocationHasRules) {
  const std::string alloc64 = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+4], 64;\n";
  const FindingKind kind = FindingKind::tensor_allocation;
  finds(FindingKind::illegal_instruction,
        "48 columns: \"The operand nCols must be within the range [32, 512]\"", allocated(48));
  finds(FindingKind::illegal_instruction, "16 columns: ", allocated(16));
  finds(FindingKind::illegal_instruction, "1024 columns: ", allocated(1024));
  finds(kind, "64 columns after 32: \"The number of columns allocated should not increase",
        allocated(32) + alloc64);
  finds(kind, "it is illegal for a CTA to perform tcgen05.alloc after any",
        allocated() + "@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + alloc64);
  finds(kind, "64 columns of tensor memory at column 0 are still allocated when the CTA exits", allocated());
  finds(kind,
        "tcgen05.dealloc of 64 columns at column 0, which has been freed: \"The operand taddr must point",
        allocated() + freed() + freed());
  finds(kind, "tcgen05.dealloc of 64 columns at column 64, which has never been allocated",
        allocated() + "add.u32 %r2, %r2, 64;\n" + freed());
  finds(kind, "tcgen05.dealloc of 32 columns at column 0, where 64 were allocated", allocated() + freed(32));
  finds(FindingKind::illegal_instruction, "different nCols",
        allocated() +
            "add.u32 %r5, %r1, 32;\n@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+4], "
            "%r5;\n");
}

TEST_F(Tcgen05MemoryTest, OnlyWhatIsAllocatedIsAccessed) {
  const FindingKind kind = FindingKind::illegal_address;
  finds(kind, "column 64 has never been allocated",
        allocated() + own_values(2) + store("32x32b.x2", 2, "%r3+63"));
  finds(kind, "column 0 has been freed by the tcgen05.dealloc at PTX line ",
        allocated() + freed() + barrier + own_values(2) + store("32x32b.x2", 2));
  finds(kind, "columns 448 to 575 of lanes 0 to 31 of tensor memory, which has 512 columns",
        allocated(512) + "@%p1 tcgen05.ld.sync.aligned.32x32b.x128.b32 " + list(128) + ", [%r3+448];\n");
  const std::string unallocated = ".reg .b32 %v<4>;\n" + start + "mov.b32 %r3, 0;\n" + load("32x32b.x1", 1);
  finds(kind, "column 0 has never been allocated", unallocated);
}

TEST_F(Tcgen05MemoryTest, AnAllocationWaitsForFreeColumns) {
  // Warp 1 allocates while warp 0 has all columns, and gets some when those are freed.
  const std::string second =
      "and.b32 %r5, %r1, 96; setp.eq.u32 %p3, %r5, 32;\n"
      "@%p3 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+4], 512;\n";
  const std::string free_first = "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 512;\n";
  const std::string free_second =
      "@%p3 ld.shared.u32 %v0, [s+4];\n@%p3 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %v0, 512;\n";
  sound(allocated(512) + free_first + second + free_second);
  sound(allocated(512) + second + free_first + free_second);
  const Result r = run_body(allocated(512) + second + barrier + free_first + free_second);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::deadlock);
  std::string all;
  for (const std::string& line : r.end->details) all += line + "\n";
  EXPECT_NE(all.find("wait for free columns of tensor memory, of which are allocated 0 to 511"),
            std::string::npos)
      << all;
}

TEST_F(Tcgen05MemoryTest, OneThreadMayFreeWhatAllHaveUsed) {
  const std::string one =
      allocated() + barrier + "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;\n";
  sound(one);
  sound(one + barrier);  // where the others of its warp wait
  settings().strict = true;
  finds(FindingKind::invalid_shuffle, "but only 1 are there", one);
}

// ---- Two CTAs

class Tcgen05AllocationPairTest : public Tcgen05MemoryTest {
 protected:
  static inline const std::string both = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  static inline const std::string relaxed =
      "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n";
  static std::string pair_alloc(int columns) {
    return "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [s], " + std::to_string(columns) + ";\n";
  }
  static std::string pair_free(int columns) {
    return "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r2, " + std::to_string(columns) + ";\n";
  }
  static inline const std::string begin = ".shared .align 16 .b8 s[64];\n" + start +
                                          "mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p3, %r7, 0;\n"
                                          "mul.wide.u32 %rd2, %r7, 128; add.s64 %rd1, %rd1, %rd2;\n" +
                                          both;
  Result run_pair(const std::string& body, uint32_t ctas = 2) {
    return run_ptx(begin + body, 64, 32, ctas, "", 0, ctas);
  }
  static inline const std::string address = "ld.shared.u32 %r2, [s];\n";
};

TEST_F(Tcgen05AllocationPairTest, AllocatesTogether) {
  for (const bool strict : {false, true}) {
    settings().strict = strict;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      settings().seed = seed;
      const Result r =
          run_pair(pair_alloc(128) + address + both + "st.global.u32 [%rd1], %r2;\n" + pair_free(128));
      ASSERT_FALSE(r.end) << r.end->what;
      EXPECT_EQ(r.words[0], strict && seed ? 384u : 0u)
          << "strict: a seed puts it where a constant 0 is wrong";
      EXPECT_EQ(r.words[32], r.words[0]);
    }
  }
}

TEST_F(Tcgen05AllocationPairTest, HasRules) {
  const auto end = [&](const std::string& body, uint32_t ctas = 2) {
    const Result r = run_pair(body, ctas);
    if (!r.end) return std::string();
    std::string text = std::string(name_of(r.end->kind)) + ": " + r.end->what;
    for (const std::string& line : r.end->details) text += "\n" + line;
    return text;
  };
  EXPECT_NE(end("mov.u32 %r5, 64; @%p3 mov.u32 %r5, 128;\n"
                "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [s], %r5;\n")
                .find("alloc of 128 columns"),
            std::string::npos);
  EXPECT_NE(end(pair_alloc(64), 1).find("a CTA that has no peer: its cluster has 1 CTA"), std::string::npos);
  EXPECT_NE(
      end("@%p3 " + pair_alloc(64) + both).find("wait for the peer CTA to execute the same tcgen05.alloc"),
      std::string::npos);
  // Table 48: dealloc "may or may not block".
  const std::string one_sided =
      pair_alloc(64) + address + "@!%p3 " + pair_free(64) + both + "@%p3 " + pair_free(64);
  EXPECT_EQ(end(one_sided), "");
  settings().strict = true;
  EXPECT_NE(end(one_sided).find("wait for the peer CTA to execute the same tcgen05.dealloc"),
            std::string::npos);
}

TEST_F(Tcgen05AllocationPairTest, ThePeerMustHaveBeenLaunched) {
  std::string unordered = begin;
  unordered.resize(unordered.size() - both.size());
  const std::string rest = pair_alloc(64) + address + both + pair_free(64);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_ptx(unordered + rest, 64, 32, 2, "", 0, 2);
    ASSERT_TRUE(r.end) << "seed " << seed;
    EXPECT_EQ(r.end->kind, FindingKind::absent_cta) << r.end->what;
    EXPECT_NE(r.end->what.find("the issuing warp must make sure that peer CTA is launched"),
              std::string::npos)
        << r.end->what;
    for (const std::string* between : {&both, &relaxed}) {
      const Result sound = run_ptx(unordered + *between + rest, 64, 32, 2, "", 0, 2);
      EXPECT_FALSE(sound.end) << sound.end->what;
    }
  }
}

TEST_F(Tcgen05AllocationPairTest, TheLastBarrierMayBeRelaxed) {
  // Warp 0 frees what warp 1 has used.
  const std::string body =
      begin + "setp.lt.u32 %p4, %r1, 32; setp.ge.u32 %p5, %r1, 32; mov.b32 %r4, 1;\n@%p4 " + pair_alloc(64) +
      barrier + address + "@%p5 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2+2097152], {%r4};\n" + wait_store +
      relaxed + "@%p4 " + pair_free(64);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    settings().strict = false;
    Result r = run_ptx(body, 128, 64, 2, "", 0, 2);
    EXPECT_FALSE(r.end) << r.end->what;
    settings().strict = true;
    r = run_ptx(body, 128, 64, 2, "", 0, 2);
    ASSERT_TRUE(r.end);
    EXPECT_EQ(r.end->kind, FindingKind::race) << r.end->what;
  }
}

TEST_F(Tcgen05AllocationPairTest, ACtaGroupIsTheSameInAllOfAKernel) {
  const Result r =
      run_pair(pair_alloc(64) + address + both + "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;\n");
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::not_supported);
  EXPECT_NE(r.end->what.find("must specify the same value for the .cta_group qualifier"), std::string::npos)
      << r.end->what;
}

}  // namespace
}  // namespace simulator
