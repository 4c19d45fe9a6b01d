// tcgen05.mma and .commit: when products take effect, what their descriptors may say, and what is reported
// where a wait is missing. What they compute in every kind and layout: programs/tcgen05_blackwell.cu.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "common/simulator/simulator.h"
#include "common/simulator/tests/tcgen05_mma_fixture.h"

namespace simulator {
namespace {

TEST_F(Tcgen05MmaTest, Multiplies) {
  gives(33, fill() + ready + mma() + commit + done);
  gives(65, fill() + ready + mma() + mma() + commit + done);
  gives(32, fill() + ready + "setp.ne.u32 %p3, 0, 0;\n" + mma() + commit + done);
  gives(33, fill() + ready + mma("kind::f16", "%rd4, %rd5, %r5, !%p5") + "setp.eq.u32 %p5, 0, 0;\n" + commit +
                done);
  gives(32.25f, fill() + ready + mma("kind::f16", "%rd4, %rd5, %r5, %p3, 2") + commit + done);
  // By a generic address.
  gives(33, fill() + ready + mma() +
                "cvta.shared.u64 %rd6, bar; mov.u64 %rd6, bar; cvta.shared.u64 %rd6, %rd6;\n"
                "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd6];\n" +
                done);
}

// tcgen05.commit without .shared::cluster takes a generic address; hardware takes an offset in shared memory,
// too.
TEST_F(Tcgen05MmaTest, CommitTakesAnOffsetInSharedMemory) {
  const std::string body = fill() + ready + mma() + "mov.u32 %r9, bar; cvt.u64.u32 %rd6, %r9;\n" +
                           "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd6];\n" + done;
  gives(33, body);
  settings().strict = true;
  finds(FindingKind::illegal_instruction, "an offset in shared memory: undefined behaviour", body);
  settings().checks = Checks::report;
  gives(33, body);
}

TEST_F(Tcgen05MmaTest, TakesEffectWhenItsMbarrierIsAskedFor) {
  settings().checks = Checks::off;
  const std::string begun = fill() + ready + mma() + commit;
  const auto shows = [&](const std::string& body, float expected) {
    const Result r = run_body(body);
    ASSERT_FALSE(r.end) << r.end->what;
    for (const uint32_t word : r.words) EXPECT_EQ(std::bit_cast<float>(word), expected);
  };
  shows(begun + barrier + output + barrier + wait() + freed, 1);
  shows(begun + barrier + "@%p4 st.shared.v4.b32 [%r7+4096], {%r8, %r8, %r8, %r8};\n" + barrier + done, 17);
  // A commit covers only what comes before it.
  shows(begun + mma() + done, 33);
}

TEST_F(Tcgen05MmaTest, SeedsLetItTakeEffectEarlyAtTimes) {
  settings().checks = Checks::off;
  int early = 0;
  for (uint64_t seed = 1; seed < 40; ++seed) {
    settings().seed = seed;
    const Result r =
        run_body(fill() + ready + mma() + commit + barrier +
                 "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p7, %r9, 900; @%p7 bra L;\n" + output +
                 wait() + freed);
    ASSERT_FALSE(r.end) << r.end->what;
    for (const uint32_t word : r.words) early += std::bit_cast<float>(word) == 33;
  }
  EXPECT_GT(early, 0);
}

TEST_F(Tcgen05MmaTest, IsWaitedForBeforeItsResultIsRead) {
  const FindingKind kind = FindingKind::unfinished_async;
  finds(kind, "tcgen05.mma by thread (0,0,0)",
        fill() + ready + mma() + commit + barrier + output + wait() + freed);
  finds(kind, "a tcgen05.commit behind it", fill() + ready + mma() + commit + mma() + barrier + done);
  // A wait for the phase of another operation. With a seed it may also never end, so it is 0.
  settings().seed = 0;
  const Result r = run_body(fill() + ready + mma() + commit + wait() + barrier + mma() + commit + barrier +
                            wait(2) + output + barrier + wait(1) + freed);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, kind) << r.end->what;
  gives(65, fill() + ready + mma() + commit + wait() + barrier + mma() + commit + wait(1) + output + freed);
}

TEST_F(Tcgen05MmaTest, AWarpThatHasNotWaitedNeedsABarrier) {
  const std::string first_waits = "@!%p1 bra X;\n" + wait() + "X: ";
  const std::string late =
      "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p7, %r9, 9000; @%p7 bra L;\n";
  finds(FindingKind::race, "it needs ",
        fill() + ready + mma() + commit + first_waits + late + output + freed);
  gives(33, fill() + ready + mma() + commit + first_waits + barrier + output + freed);
}

TEST_F(Tcgen05MmaTest, IsWaitedForBeforeItsOperandsAreOverwritten) {
  const std::string overwrite = "@%p4 st.shared.b32 [%r7+4096], %r8;\n";
  finds(FindingKind::unfinished_async, "tcgen05.mma by thread (0,0,0)",
        fill() + ready + mma() + commit + barrier + overwrite + barrier + done);
  finds(FindingKind::unfinished_async, "tcgen05.mma by thread (0,0,0)",
        fill() + ready + mma() + commit + wait() + barrier + mma() + barrier + overwrite + barrier + commit +
            wait(1) + output + freed);
  finds(FindingKind::race, "nothing orders it after",
        fill() + ready + mma() + commit + "@!%p1 bra X;\n" + wait() +
            "bra.uni Y; X: mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p7, %r9, 9000; @%p7 bra L;\n"
            "st.shared.b32 [%r4], %r9; Y: " +
            barrier + output + freed);
  gives(33, fill() + ready + mma() + commit + wait() + barrier + overwrite + output + freed);
  gives(33, fill() + ready + mma() + commit + barrier + "ld.shared.b32 %r9, [%r4];\n" + done);
}

TEST_F(Tcgen05MmaTest, OperandsNeedAProxyFence) {
  finds(FindingKind::missing_fence, "the other write is by thread", fill() + barrier + mma() + commit + done);
  finds(FindingKind::missing_fence, "fence.proxy.async",
        fill() + proxy_fence + "st.shared.b32 [%r4], %r8;\n" + barrier + mma() + commit + done);
  finds(FindingKind::uninitialised, "never written",
        fill() + ready + "add.u64 %rd5, %rd5, 16;\n" + mma() + commit + done);
  finds(FindingKind::shared_out_of_bounds, "16 bytes of B at 0x",
        fill() + ready + "or.b64 %rd5, %rd5, 0x3000;\n" + mma() + commit + done);
}

TEST_F(Tcgen05MmaTest, AThreadHasToWait) {
  finds(FindingKind::deadlock, "no tcgen05.commit follows the last 1 operations of thread (0,0,0)",
        fill() + ready + mma() + done);
  finds(FindingKind::deadlock, "1 of 1 arrivals are missing",
        fill() + ready + mma() + commit + wait() + wait(1));
  const Result r = run_body(fill() + ready + "@%p2 mov.u32 %r2, 0;\n" +
                            mma("kind::f16", "%rd4, %rd5, %r5, %p3", "0") + freed);
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::unfinished_async) << r.end->what;
  finds(FindingKind::illegal_instruction, "there is no mbarrier object at 0x",
        fill() + ready + mma() +
            "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s];\n" + done);
  finds(FindingKind::illegal_instruction, "an arrival at an mbarrier that expects no more",
        fill() +
            "@%p2 mbarrier.inval.shared::cta.b64 [bar];\n@%p2 mbarrier.init.shared::cta.b64 [bar], 2;\n" +
            ready + "@%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n" + mma() + commit +
            commit + commit + done);
}

TEST_F(Tcgen05MmaTest, OneThreadIssuesIt) {
  std::string all = fill() + ready + mma() + commit + done;
  all.replace(all.find("@%p2 tcgen05.mma"), 4, "@%p1");
  finds(FindingKind::illegal_instruction, "32 threads of a warp execute tcgen05.mma", all);
  all = fill() + ready + mma() + commit + done;
  all.replace(all.find("@%p2 tcgen05.commit"), 4, "@%p1");
  finds(FindingKind::illegal_instruction, "32 threads of a warp execute tcgen05.commit", all);
}

TEST_F(Tcgen05MmaTest, TheInstructionDescriptorHasRules) {
  const auto with = [](uint32_t bits, const std::string& form = "kind::f16") {
    return fill() + ready + "mov.u32 %r5, " + number(bits) + ";\n" + mma(form) + commit + done;
  };
  constexpr uint32_t good = bf16_to_f32, types = 7u << 7 | 7u << 10, shape = 63u << 17 | 31u << 24;
  const auto of = [&](uint32_t type, uint32_t d, uint32_t n = 8, uint32_t m = 128) {
    return d << 4 | type << 7 | type << 10 | n / 8 << 17 | m / 16 << 24;
  };
  const auto broken = [&](const std::string& rule, uint32_t bits, const std::string& form = "kind::f16") {
    finds(FindingKind::illegal_instruction, rule, with(bits, form));
  };
  broken("bits 6-6 are not 0: they are reserved (PTX ISA, Table 42)", good | 1u << 6);
  broken("bits 23-23 are not 0", good | 1u << 23);
  broken("bits 29-29 are not 0", good | 1u << 29);
  broken("Sparsity is 1: a tcgen05.mma without .sp has Dense = 0", good | 1u << 2);
  broken("Sparsity selector is 3: A is dense", good | 3);
  broken("Saturate is 1", good | 1u << 3);
  broken("dtype is 2", (good & ~(3u << 4)) | 2u << 4);
  broken("dtype is F16 and atype or btype BF16", good & ~(3u << 4));
  broken("atype is 2: .kind::f16 has F16 = 0, BF16 = 1", (good & ~types) | 2u << 7 | 1u << 10);
  broken("btype is 7", (good & ~types) | 1u << 7 | 7u << 10);
  broken("Maximum shift is 2: that is for .ws", good | 2u << 30);
  broken("M is 256: this form has M = 64, 128 (PTX ISA, Table 39)", (good & ~shape) | 1u << 17 | 16u << 24);
  broken("M is 32", (good & ~shape) | 1u << 17 | 2u << 24);
  broken("N is 0: this form has N = 8, 16", good & ~(63u << 17));
  broken("N is 264", (good & ~shape) | 33u << 17 | 8u << 24);
  broken("dtype is 0: .kind::tf32 has F32 = 1", of(2, 0), "kind::tf32");
  broken("atype is 1: .kind::tf32 has TF32 = 2", of(1, 1), "kind::tf32");
  broken("atype is 2: there are E4M3 = 0", of(2, 1), "kind::f8f6f4");
  broken("N is 8: a transposed B of 8 bits has N in steps of 16", of(0, 1) | 1u << 16, "kind::f8f6f4");
  broken("dtype is 1: .kind::i8 has S32 = 2", of(0, 1), "kind::i8");
  broken("Negate B Matrix is 1: .kind::i8 does not support it", of(0, 2) | 1u << 14, "kind::i8");
  broken("N is 40: this form has N = 8, 16, 24, 32, 48", of(0, 2, 40), "kind::i8");
  const auto scaled = [&](const std::string& rule, uint32_t bits, const std::string& form) {
    finds(FindingKind::illegal_instruction, rule,
          fill() + ready + "mov.u32 %r5, " + number(bits) + ";\n" +
              mma(form, "%rd4, %rd5, %r5, [%r2+32], [%r2+40], %p3") + commit + done);
  };
  const std::string mx8 = "kind::mxf8f6f4.block_scale", mx4 = "kind::mxf4.block_scale",
                    nv4 = "kind::mxf4nvf4.block_scale.block16";
  constexpr uint32_t bytes = 8u / 8 << 17 | 1u << 23 | 1u << 27, halves = bytes | 1u << 7 | 1u << 10;
  scaled("bits 24-26 are not 0: they are reserved (PTX ISA, Table 43)", bytes | 1u << 24, mx8);
  scaled("Scale Matrix Type is 0", bytes & ~(1u << 23), mx8);
  scaled("M is 256: this form has M = 128", (bytes & ~(3u << 27)) | 2u << 27, mx8);
  scaled("Transpose B Matrix is 1: .kind::mxf4", halves | 1u << 16, mx4);
  scaled("atype is 0: .kind::mxf4 and .kind::mxf4nvf4 have E2M1 = 1", bytes | 1u << 10, mx4);
  scaled("Matrix A Scale Factor Data ID is 1: it must be 0 or 2", halves | 1u << 29, mx4);
  scaled("Matrix B Scale Factor Data ID is 2: with .scale_vec::4X or .block16 it must be 0", halves | 2u << 4,
         nv4);
  scaled("K Dimension is 1: \"K = 96 is only supported for target architecture sm_103a\"", halves | 1u << 31,
         nv4);
  scaled("Scale Matrix Type is UE4M3", halves & ~(1u << 23), "kind::mxf4nvf4.block_scale.block32");
}

TEST_F(Tcgen05MmaTest, SharedMemoryDescriptorsHaveRules) {
  const auto broken = [&](const std::string& rule, const std::string& change, uint32_t bits = bf16_to_f32,
                          const std::string& form = "kind::f16") {
    finds(FindingKind::illegal_instruction, rule,
          fill() + ready + change + "mov.u32 %r5, " + number(bits) + ";\n" + mma(form) + commit + done);
  };
  const auto set = [](uint64_t bits) { return "or.b64 %rd5, %rd5, " + number(bits) + ";\n"; };
  broken(
      "the shared-memory descriptor of A: bits 46-48 are 0: they have the \"fixed constant value of 0b001\"",
      "and.b64 %rd4, %rd4, " + number(~(7ull << 46)) + ";\n");
  broken("of B: bits 53-60 are not 0", set(1ull << 55));
  broken("of B: bits 14-15 or 30-31 are not 0", set(1ull << 31));
  broken("Leading dimension stride mode is 1", set(1ull << 52));
  for (const uint64_t mode : {3, 5, 7})
    broken("the swizzling mode is " + number(mode) + ": \"values 3, 5 and 7 are invalid\"", set(mode << 61));
  broken("the swizzling mode is 1: transposed matrices of this kind have all but 1", set(1ull << 61),
         bf16_to_f32 | 1u << 16);
  broken("the swizzling mode is 0: transposed matrices of .kind::tf32 have only 1", "",
         1u << 4 | 2u << 7 | 2u << 10 | 1u << 17 | 8u << 24 | 1u << 16, "kind::tf32");
}

TEST_F(Tcgen05MmaTest, TensorMemoryHasRules) {
  const auto m64 = [](const std::string& operands, const std::string& d) {
    return fill() + ready + "mov.u32 %r5, " + number((bf16_to_f32 & ~(31u << 24)) | 4u << 24) + ";\n" +
           mma("kind::f16", operands, d) + commit + done;
  };
  const std::string from_shared = "%rd4, %rd5, %r5, %p3";
  finds(FindingKind::illegal_instruction, "the address of D is in lane 16: layout D has lane alignment 0",
        fill() + ready + mma("kind::f16", from_shared, "%r2+1048576") + commit + done);
  finds(FindingKind::illegal_instruction,
        "the address of D is in lane 8: layout F has lane alignment 0 or 16", m64(from_shared, "%r2+524288"));
  finds(FindingKind::illegal_instruction,
        "A is in other lanes than D: layouts C and F \"must use the same alignment",
        m64("[%r2+1048584], %rd5, %r5, %p3", "%r2"));
  finds(FindingKind::illegal_address, "never been allocated",
        fill() + ready + mma("kind::f16", from_shared, "%r2+60") + commit + done);
  finds(FindingKind::uninitialised, "tcgen05.mma: D in",
        fill() + ready + mma("kind::f16", from_shared, "%r2+8") + commit + done);
  finds(FindingKind::uninitialised, "tcgen05.mma: A in",
        fill() + ready + mma("kind::f16", "[%r2+32], %rd5, %r5, %p3") + commit + done);
  gives(1,
        fill() + ready + "setp.ne.u32 %p3, 0, 0;\n" + mma("kind::f16", from_shared, "%r2+8") + commit + done);
}

// Rows of scale factors that are the same in all four quarters of the lanes, or not.
TEST_F(Tcgen05MmaTest, ScaleFactorsAreInEveryQuarterOfTheLanes) {
  const std::string store =
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r3+32], {%r11, %r11, %r11, %r11, %r11, %r11, "
      "%r11, %r11};\ntcgen05.wait::st.sync.aligned;\n";
  const std::string bits = "mov.u32 %r5, " + number(8u / 8 << 17 | 1u << 23 | 1u << 27) + ";\n";
  const auto body = [&](const std::string& scales, const std::string& written = "x8",
                        uint32_t a = 0x38383838) {
    std::string text = fill(a, 0x40404040) + "mov.u32 %r11, 0x80808080;\n" + scales + store + ready + bits +
                       mma("kind::mxf8f6f4.block_scale", "%rd4, %rd5, %r5, [%r2+32], [%r2+36], %p3") +
                       commit + done;
    if (written != "x8") text.replace(text.find(store), store.size(), written);
    return text;
  };
  gives(257, body(""));  // 1 + 32 · 1 · 2, by 2 · 2 each
  finds(FindingKind::illegal_instruction, "the scale factors of row 0 of A differ between lanes 0 and 32",
        body("@!%p1 mov.u32 %r11, 0x7f7f7f7f;\n"));
  finds(FindingKind::uninitialised, "the scale factors of A", body("", "tcgen05.wait::st.sync.aligned;\n"));
  gives_bits(0x7fffffff, body("mov.u32 %r11, 0xffffffff;\n"));
  gives(1, body("mov.u32 %r11, 0;\n", "x8", 0));
  // Beyond what an f32 can hold of one factor: 2^127 · 2^-127.
  gives(65,
        body("mov.u32 %r11, 0xfefefefe;\n",
             "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r3+32], {%r11, %r11, %r11, %r11}; mov.u32 %r11, 0;\n"
             "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r3+36], {%r11, %r11, %r11, %r11};\n"
             "tcgen05.wait::st.sync.aligned;\n"));
}

TEST_F(Tcgen05MmaTest, SparseMetadataAreValid) {
  const auto body = [](uint32_t metadata, uint32_t a = one, uint32_t selector = 0) {
    return fill(a) + "mov.u32 %r10, -1; mov.u32 %r11, " + number(metadata) +
           ";\ntcgen05.st.sync.aligned.32x32b.x2.b32 [%r3+16], " +
           (selector ? "{%r10, %r11}" : "{%r11, %r10}") + "; tcgen05.wait::st.sync.aligned;\n" + ready +
           "mov.u32 %r5, " + number(bf16_to_f32 | 4 | selector) +
           // B is 32 deep: its rows again
           ";\nand.b64 %rd5, %rd5, 0xffffffff0000ffff;\n" +
           "@%p2 tcgen05.mma.sp.cta_group::1.kind::f16 [%r2], %rd4, %rd5, [%r2+16], %r5, %p3;\n" + commit +
           done;
  };
  gives(33, body(0x4e9d8c4e));
  finds(FindingKind::illegal_instruction, "an index that means nothing: 0", body(0x4e9d8c40));
  finds(FindingKind::illegal_instruction, "an index that means nothing: 15", body(0xfe9d8c4e));
  gives(1, body(0, 0));  // of zeros they do not matter
  gives(33, body(0x4e9d8c4e, one, 1));
  finds(FindingKind::illegal_instruction, "Sparsity selector is 2: it chooses one of two columns",
        body(0x4e9d8c4e, one, 2));
}

// 25 bits below the largest exponent, among them those of D, are kept of every term; the sum is cut to 24.
TEST_F(Tcgen05MmaTest, SumsAreCut) {
  const auto sum = [](uint32_t a, uint32_t b, float d) {
    return fill(a * 0x10001, b * 0x10001, d) + ready + mma() + commit + done;
  };
  constexpr uint32_t half = 0x3f00, tiny = 0x3380, most = 0x7f7f, infinity = 0x7f80, nan = 0x7fc0, zero = 0;
  gives(0x1p25f + 16, sum(0x3f80, 0x3f80, 0x1p25f));  // 16 · 1
  gives(0x1p25f, sum(0x3f80, half, 0x1p25f));         // 16 · 0.5
  gives(0x1p24f + 8, sum(0x3f80, half, 0x1p24f));
  gives_bits(std::bit_cast<uint32_t>(1 + 0x1p-20f), sum(0x3f80, tiny, 1));
  gives_bits(0x7f800000, sum(most, most, 1));
  gives_bits(0x7f800000, sum(infinity, 0x3f80, 1));
  gives_bits(0x7fffffff, sum(infinity, zero, 1));
  gives_bits(0x7fffffff, sum(nan, 0x3f80, 1));
  gives_bits(0, sum(0xbf80, 0x3f80, 16));  // no negative zero
}

TEST_F(Tcgen05MmaTest, CountsWhatItReadsOfSharedMemory) {
  reset_counters();
  const Result r = run_body(fill() + ready + mma() + mma() + commit + done);
  ASSERT_FALSE(r.end) << r.end->what;
  const Counts both = read_counters().at(0).tcgen05;
  EXPECT_EQ(both.requests, 2u);
  EXPECT_EQ(both.bytes, 2u * (128 * 16 + 16 * 8) * 2);
  EXPECT_EQ(both.wavefronts, 2u * (32 + 2));
}

TEST_F(Tcgen05MmaTest, UnknownFormsAreRefused) {
  const std::string base = fill() + ready;
  for (const std::string& text :
       {mma("kind::f32"), mma("kind::f16.block_scale"),
        mma("kind::mxf8f6f4", "%rd4, %rd5, %r5, [%r2], [%r2], %p3"),
        mma("kind::mxf4nvf4.block_scale", "%rd4, %rd5, %r5, [%r2], [%r2], %p3"),
        mma("kind::mxf4.block_scale.scale_vec::4X", "%rd4, %rd5, %r5, [%r2], [%r2], %p3"),
        mma("kind::f16.collector::a::keep"), mma("kind::f16.collector::b0::use"),
        mma("kind::f16", "%rd4, %rd5, %r5, {%r1, %r1}, %p3"), mma("kind::f16", "%rd4, %rd5, %r5, %p3, 16"),
        mma("kind::i8", "%rd4, %rd5, %r5, %p3, 1"), mma("kind::f16", "%rd4, %rd5, %r5"),
        mma("kind::f16", "%rd4, %rd5, %r5, %p3, 1, 1"),
        std::string(
            "@%p2 tcgen05.mma.ws.cta_group::1.kind::mxf8f6f4.block_scale [%r2], %rd4, %rd5, %r5, [%r2], "
            "[%r2], %p3;\n"),
        std::string("@%p2 tcgen05.mma.kind::f16 [%r2], %rd4, %rd5, %r5, %p3;\n"),
        std::string("@%p2 tcgen05.commit.cta_group::1.shared::cluster.b64 [bar];\n"),
        std::string("@%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [bar];\n")}) {
    const Result r = run_body(base + text);
    ASSERT_TRUE(r.end) << text;
    EXPECT_EQ(r.end->kind, FindingKind::not_supported) << text << r.end->what;
  }
}

// .ashift, as the ISA has it (9.7.16.10.9.1; no Blackwell was at hand): every row of A from the next lane of
// tensor memory, but for the last.
TEST_F(Tcgen05MmaTest, ShiftsTheRowsOfA) {
  const std::string a =
      fill() +
      "and.b32 %r9, %r1, 7; shl.b32 %r9, %r9, 7; add.u32 %r9, %r9, 0x3f80; mul.lo.u32 %r9, %r9, 0x10001;\n"
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r3+16], {%r9, %r9, %r9, %r9, %r9, %r9, %r9, %r9};\n"
      "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;\n" +
      ready;
  const std::string operands = "[%r2+16], %rd5, %r5, %p3";
  for (const bool shifts : {false, true}) {
    const Result r = run_body(a + mma(shifts ? "kind::f16.ashift" : "kind::f16", operands) + commit + done);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t row = 0; row < 128; ++row) {
      const uint32_t from = shifts ? std::min(row + 1, 127u) : row;
      EXPECT_EQ(std::bit_cast<float>(r.words[row]), 1 + 32 * static_cast<float>(1 << from % 8)) << row;
    }
  }
  const FindingKind kind = FindingKind::not_supported;
  finds(kind, ".ashift takes A in tensor memory", a + mma("kind::f16.ashift") + commit + done);
  finds(kind, "along with .ashift", a + mma("kind::f16.ashift.collector::a::fill", operands) + commit + done);
}

}  // namespace
}  // namespace simulator
