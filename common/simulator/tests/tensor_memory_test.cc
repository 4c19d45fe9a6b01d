// Tensor memory: its allocation, tcgen05.ld and .st, what has to be waited for, and what is told of those who
// do not.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class TensorMemoryTest : public Execution {
 protected:
  // Four warps. The first one allocates 64 columns. Of every thread: %r2 is their address, %r3 that of the
  // lanes of its warp; %p1: warp 0; %p2: thread 0.
  static std::string allocated(int columns = 64) {
    return ".shared .align 16 .b8 s[64];\n.reg .b32 %v<130>;\n" + start +
           "setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0;\n" + alloc(columns) +
           "bar.sync 0; ld.shared.u32 %r2, [s];\n"
           "and.b32 %r3, %r1, 96; shl.b32 %r3, %r3, 16; add.u32 %r3, %r3, %r2;\n";
  }
  static std::string alloc(int columns) {
    return "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], " + std::to_string(columns) +
           ";\n";
  }
  static std::string freed(int columns = 64) {
    return "bar.sync 0;\n@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, " + std::to_string(columns) +
           ";\n";
  }
  static std::string list(int count, const std::string& name = "%v") {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + name + std::to_string(i);
    return text + "}";
  }
  static std::string store(const std::string& shape, int registers, const std::string& at = "%r3") {
    const bool split = shape.starts_with("16x32bx2");
    return "tcgen05.st.sync.aligned." + shape + ".b32 [" + at + "], " + (split ? "32, " : "") +
           list(registers) + ";\n";
  }
  static std::string load(const std::string& shape, int registers, const std::string& at = "%r3") {
    return "tcgen05.ld.sync.aligned." + shape + ".b32 " + list(registers) + ", [" + at + "]" +
           (shape.starts_with("16x32bx2") ? ", 32" : "") + ";\n";
  }
  // Register i of thread t gets 65536 t + i, or the constant.
  static std::string own_values(int registers) {
    std::string text = "shl.b32 %r4, %r1, 16;\n";
    for (int i = 0; i < registers; ++i)
      text += "or.b32 %v" + std::to_string(i) + ", %r4, " + std::to_string(i) + ";\n";
    return text;
  }
  static std::string constant(int registers, uint32_t value) {
    std::string text;
    for (int i = 0; i < registers; ++i)
      text += "mov.b32 %v" + std::to_string(i) + ", " + std::to_string(value) + ";\n";
    return text;
  }
  // … and out[128 i + t] it.
  static std::string output(int registers) {
    std::string text;
    for (int i = 0; i < registers; ++i)
      text += "st.global.u32 [%rd1+" + std::to_string(512 * i) + "], %v" + std::to_string(i) + ";\n";
    return text;
  }
  static inline const std::string wait_load = "tcgen05.wait::ld.sync.aligned;\n";
  static inline const std::string wait_store = "tcgen05.wait::st.sync.aligned;\n";
  static inline const std::string barrier = "bar.sync 0;\n";

  Result run_body(const std::string& body, uint32_t registers = 64) {
    return run_ptx(body, 128 * registers, 128);
  }
  // What every order finds; empty: none finds anything.
  std::string told(const std::string& body, FindingKind kind) {
    std::string text;
    for (uint64_t seed = 0; seed < 8; ++seed) {
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
      text += " | " + r.end->site.instruction;
    }
    settings().seed = 0;
    return text;
  }
  void finds(FindingKind kind, const std::string& what, const std::string& body) {
    const std::string text = told(body, kind);
    EXPECT_NE(text.find(what), std::string::npos) << '"' << text << "\" of\n" << body;
  }
  void sound(const std::string& body) { EXPECT_EQ(told(body, FindingKind::race), "") << body; }
};

// Where the PTX ISA's figures 183 to 187 put register i of thread t, in lanes and columns of the part.
struct Word {
  uint32_t lane, column;
};
Word figure(const std::string& shape, uint32_t i, uint32_t t) {
  if (shape == "32x32b") return {t, i};
  if (shape == "16x32bx2") return t < 16 ? Word{t, i} : Word{t - 16, 32 + i};
  if (shape ==
      "16x64b") {  // pairs of threads, of 8 rows and the 8 below them: 0 2 4 … in the first, 1 3 … beside
    const uint32_t row = t >> 2, inside = t & 3;
    return {row + (inside & 1) * 8, i * 2 + (inside >> 1)};
  }
  const uint32_t row = t >> 2, inside = t & 3;
  if (shape == "16x128b") return {row + (i & 1) * 8, (i >> 1) * 4 + inside};
  return {row + (i >> 1 & 1) * 8, (i >> 2) * 8 + inside * 2 + (i & 1)};  // as mma's accumulators
}

const struct {
  const char* shape;
  int words, most;  // registers of .x1, the largest .num
} shapes[] = {
    {"32x32b", 1, 128}, {"16x64b", 1, 128}, {"16x128b", 2, 64}, {"16x256b", 4, 32}, {"16x32bx2", 1, 128}};

TEST_F(TensorMemoryTest, LoadsEveryShape) {
  for (const auto& [shape, words, most] : shapes) {
    for (int num = 1; num * words <= 64 && num <= most; num *= 2) {
      const std::string name = std::string(shape) + ".x" + std::to_string(num);
      const bool narrow = std::string(shape) != "32x32b";
      if (std::string(shape) == "16x32bx2" && num > 32) continue;
      const uint32_t columns = std::string(shape) == "16x64b"     ? 2 * num
                               : std::string(shape) == "16x32bx2" ? 64
                                                                  : static_cast<uint32_t>(num * words * 2);
      if (columns > 64 && narrow) continue;
      for (const uint32_t upper : {0u, 16u}) {
        if (upper && !narrow) continue;
        const Result r = run_body(allocated() + own_values(64) + store("32x32b.x64", 64) + wait_store +
                                  "add.u32 %r3, %r3, " + std::to_string(upper << 16) + ";\n" +
                                  load(name, num * words) + wait_load + output(num * words) + freed());
        ASSERT_FALSE(r.end) << name << ": " << r.end->what;
        for (uint32_t i = 0; i < static_cast<uint32_t>(num * words); ++i) {
          for (uint32_t t = 0; t < 128; ++t) {
            const Word at = figure(shape, i, t % 32);
            EXPECT_EQ(r.words[128 * i + t], (t / 32 * 32 + upper + at.lane) << 16 | at.column)
                << name << " register " << i << " of thread " << t;
          }
        }
      }
    }
  }
}

TEST_F(TensorMemoryTest, StoresEveryShape) {
  for (const auto& [shape, words, most] : shapes) {
    const bool wide = std::string(shape) == "32x32b";
    const int registers = wide ? 64 : 32;  // so that 64 columns are full
    const std::string name = std::string(shape) + ".x" + std::to_string(registers / words);
    const std::string both = wide ? ""
                                  : "mov.b32 %r5, %r3; add.u32 %r3, %r3, 0x100000;\n" +
                                        store(name, registers) + "mov.b32 %r3, %r5;\n";
    const Result r = run_body(allocated() + own_values(registers) + store(name, registers) + both +
                              wait_store + load("32x32b.x64", 64) + wait_load + output(64) + freed());
    ASSERT_FALSE(r.end) << name << ": " << r.end->what;
    for (uint32_t i = 0; i < static_cast<uint32_t>(registers); ++i) {
      for (uint32_t t = 0; t < 128; ++t) {
        const Word at = figure(shape, i, t % 32);
        for (const uint32_t upper : {0u, 16u}) {
          if (upper && wide) continue;
          EXPECT_EQ(r.words[128 * at.column + t / 32 * 32 + upper + at.lane], t << 16 | i)
              << name << " register " << i << " of thread " << t;
        }
      }
    }
  }
}

TEST_F(TensorMemoryTest, PacksAndUnpacksHalves) {
  const std::string values = own_values(64);  // 65536 lane + column: the upper half is not looked at
  Result r = run_body(allocated() + values + store("32x32b.x64", 64) + wait_store +
                      load("32x32b.x4.pack::16b", 4) + wait_load + output(4) + freed());
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(r.words[128 * 3 + t], 7u << 16 | 6u);
  r = run_body(allocated() + values + store("32x32b.x64", 64) + wait_store + load("16x256b.x1.pack::16b", 4) +
               wait_load + output(4) + freed());
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t column = 2 * figure("16x256b", i, 5).column;
    EXPECT_EQ(r.words[128 * i + 5], (column + 1) << 16 | column) << i;
  }
  r = run_body(allocated() + values + store("32x32b.x32.unpack::16b", 32) + wait_store +
               load("32x32b.x64", 64) + wait_load + output(64) + freed());
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t t = 0; t < 128; ++t) {
    EXPECT_EQ(r.words[128 * 10 + t], 5u);
    EXPECT_EQ(r.words[128 * 11 + t], t);
  }
}

TEST_F(TensorMemoryTest, LoadsAndStoresTakeEffectWhenTheyAreWaitedFor) {
  settings().checks = Checks::off;
  const std::string ones = allocated() + constant(1, 1) + store("32x32b.x1", 1) + wait_store;
  // The store behind the load comes first, as the load has not been waited for.
  Result r = run_body(ones + load("32x32b.x1", 1) + "mov.b32 %v1, 2;\n" +
                      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%v1};\n" + wait_store + wait_load +
                      output(1) + freed());
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 2u);
  // A store that has not been waited for is not there; its values are those of its time.
  r = run_body(ones + constant(1, 3) + store("32x32b.x1", 1) + constant(1, 4) + load("32x32b.x1", 1) +
               wait_load + output(1) + wait_store + load("32x32b.x1", 1) + wait_load +
               "st.global.u32 [%rd1+512], %v0;\n" + freed());
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[0], 1u);
  EXPECT_EQ(r.words[128], 3u);
}

TEST_F(TensorMemoryTest, SeedsLetThemTakeEffectEarlyAtTimes) {
  settings().checks = Checks::off;
  int early = 0;
  for (uint64_t seed = 1; seed < 40; ++seed) {
    settings().seed = seed;
    const Result r =
        run_body(allocated() + constant(1, 1) + store("32x32b.x1", 1) + wait_store + constant(1, 3) +
                 store("32x32b.x1", 1) +
                 "mov.u32 %r7, 0; L: add.u32 %r7, %r7, 1; setp.lt.u32 %p5, %r7, 900; @%p5 bra L;\n" +
                 load("32x32b.x1", 1) + wait_load + output(1) + freed());
    ASSERT_FALSE(r.end) << r.end->what;
    early += r.words[0] == 3;
  }
  EXPECT_GT(early, 0);
}

// ---- Registers

TEST_F(TensorMemoryTest, RegistersAreNotTouchedBeforeTheWait) {
  const std::string loaded =
      allocated() + own_values(4) + store("32x32b.x4", 4) + wait_store + load("32x32b.x4", 4);
  const FindingKind kind = FindingKind::unfinished_async;
  settings().strict = true;
  finds(kind, "it needs tcgen05.wait::ld before this | add.u32 %v5",
        loaded + "add.u32 %v5, %v3, 1;\n" + wait_load + freed());
  finds(kind, "it needs tcgen05.wait::ld before this | add.u32 %v2",
        loaded + "add.u32 %v2, %r1, 1;\n" + wait_load + freed());
  finds(kind, "it needs tcgen05.wait::ld before this | st.global", loaded + output(1) + wait_load + freed());
  finds(kind, "it needs tcgen05.wait::ld before this | tcgen05.ld",
        loaded + load("32x32b.x2", 2) + wait_load + freed());
  // Compilers copy registers where they like; what is copied is what is loaded.
  const std::string moved = loaded + "mov.b32 %v9, %v3;\n" + wait_load + "st.global.u32 [%rd1], %v9;\n" +
                            "tcgen05.fence::before_thread_sync;\n" + barrier +
                            "tcgen05.fence::after_thread_sync;\n" + freed();
  sound(moved);
  EXPECT_EQ(run_body(moved).words[5], 5u << 16 | 3);
  settings().strict = false;
  sound(loaded + wait_load + output(4) + freed());
  // "True register dependency will be respected": kernels that never wait.
  const std::string used = loaded + output(4);
  sound(used + load("32x32b.x2", 2) + output(2) + freed());
  EXPECT_EQ(run_body(used + freed()).words[128 + 5], 5u << 16 | 1);
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::ld before this | @%p1 tcgen05.dealloc",
        used + load("32x32b.x2", 2) + freed());
}

// ---- Order

TEST_F(TensorMemoryTest, WhatIsStoredIsWaitedForBeforeItIsLoaded) {
  const std::string stored = allocated() + own_values(4) + store("32x32b.x4", 4);
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::st before this | tcgen05.ld",
        stored + load("32x32b.x2", 2) + wait_load + wait_store + freed());
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::st before this | @%p1 tcgen05.dealloc",
        stored + freed());
  sound(stored + wait_store + load("32x32b.x2", 2) + wait_load + freed());
  sound(allocated() + own_values(16) + store("32x32b.x16", 16) + wait_store + store("32x32b.x4", 4) +
        load("32x32b.x2", 2, "%r3+8") + wait_load + wait_store + freed());
}

TEST_F(TensorMemoryTest, WhatIsLoadedIsWaitedForBeforeItIsOverwrittenOrFreed) {
  const std::string loaded =
      allocated() + own_values(4) + store("32x32b.x4", 4) + wait_store + load("32x32b.x2", 2);
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::ld before this | tcgen05.st",
        loaded + "mov.b32 %v9, 1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3+1], {%v9};\n" + wait_load +
            wait_store + freed());
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::ld before this | @%p1 tcgen05.dealloc",
        loaded + freed());
  sound(loaded + "mov.b32 %v9, 1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3+2], {%v9};\n" + wait_load +
        wait_store + freed());
}

// Warps 0 and 4 have the same lanes.
TEST_F(TensorMemoryTest, WarpsWithTheSameLanesNeedABarrier) {
  const std::string begin = allocated() +
                            "setp.lt.u32 %p3, %r1, 128; setp.ge.u32 %p4, %r1, 128; mov.b32 %v0, 7;\n" +
                            "@%p3 " + store("32x32b.x1", 1) + wait_store + barrier;
  const std::string one = "@%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%v0};\n" + wait_store;
  const std::string other = "@%p4 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v1}, [%r3];\n" + wait_load;
  const auto run_both = [&](const std::string& between, uint64_t seed) {
    settings().seed = seed;
    return run_ptx(begin + one + between + other + freed(), 256, 256);
  };
  for (uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_FALSE(run_both(barrier, seed).end);
    const Result r = run_both("", seed);
    ASSERT_TRUE(r.end);
    EXPECT_TRUE(r.end->kind == FindingKind::race || r.end->kind == FindingKind::unfinished_async)
        << r.end->what;
  }
  const Result r = run_both("", 0);
  EXPECT_NE(r.end->details[0].find("has waited; a barrier must follow"), std::string::npos)
      << r.end->details[0];
}

TEST_F(TensorMemoryTest, StrictWantsFences) {
  const std::string begin = allocated() +
                            "setp.lt.u32 %p3, %r1, 128; setp.ge.u32 %p4, %r1, 128; mov.b32 %v0, 7;\n"
                            "and.b32 %r5, %r1, 96; shl.b32 %r5, %r5, 16; add.u32 %r5, %r5, %r2;\n";
  const std::string one = "@%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%v0};\n" + wait_store;
  const std::string other = "@%p4 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v1}, [%r5];\n" + wait_load;
  const std::string before = "tcgen05.fence::before_thread_sync;\n",
                    after = "tcgen05.fence::after_thread_sync;\n";
  settings().strict = true;
  const auto found = [&](const std::string& between) {
    const Result r = run_ptx(begin + one + between + other + before + barrier + after + freed(), 256, 256);
    return r.end ? std::string(name_of(r.end->kind)) + ": " + r.end->what : "";
  };
  EXPECT_EQ(found(before + barrier + after), "");
  EXPECT_NE(found(barrier + after).find("missing fence: tcgen05.ld"), std::string::npos)
      << found(barrier + after);
  EXPECT_NE(found(barrier + after).find("no tcgen05.fence::before_thread_sync follows"), std::string::npos);
  EXPECT_NE(found(before + barrier).find("no tcgen05.fence::after_thread_sync since"), std::string::npos);
  EXPECT_NE(found(after + barrier + before).find("no tcgen05.fence"), std::string::npos);
  settings().strict = false;
  EXPECT_EQ(found(barrier), "");
}

TEST_F(TensorMemoryTest, WhatWasNeverWrittenIsTold) {
  finds(FindingKind::uninitialised, "column 0 of lane ",
        allocated() + load("32x32b.x1", 1) + wait_load + freed());
  finds(FindingKind::uninitialised, "column 4 of lane ",
        allocated() + own_values(4) + store("32x32b.x4", 4) + wait_store + load("32x32b.x8", 8) + wait_load +
            freed());
}

// ---- Lanes

TEST_F(TensorMemoryTest, AWarpHasItsOwnQuarterOfTheLanes) {
  const std::string written = allocated() + own_values(1) + store("32x32b.x1", 1) + wait_store;
  // Without a quarter, or counted on past 127: tolerated, and the warp's own.
  for (const char* at : {"mov.b32 %r3, %r2;\n", "add.u32 %r3, %r3, 0x800000;\n"}) {
    const std::string body = written + at + load("32x32b.x1", 1) + wait_load + output(1) + freed();
    const Result r = run_body(body);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(r.words[t], t << 16);
    settings().strict = true;
    finds(FindingKind::illegal_instruction, "of its warpgroup and can access lanes ", body);
    settings().strict = false;
  }
  finds(FindingKind::illegal_instruction, "number 1 of its warpgroup and can access lanes 32 to 63",
        written +
            "xor.b32 %r3, %r3, 0x400000; setp.eq.u32 %p3, %r1, 32;\n"
            "and.b32 %r5, %r1, 96; setp.eq.u32 %p4, %r5, 32;\n@%p4 " +
            load("32x32b.x1", 1) + wait_load + freed());
  finds(FindingKind::illegal_instruction, "from which on there are no 32 lanes that belong together",
        written + load("32x32b.x1", 1, "%r3+1048576") + wait_load + freed());
  finds(FindingKind::illegal_instruction, "must specify the same value of taddr",
        written + "add.u32 %r3, %r3, %r1;\n" + load("32x32b.x1", 1) + wait_load + freed());
}

// ---- Allocation

TEST_F(TensorMemoryTest, AllocatesColumns) {
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

TEST_F(TensorMemoryTest, AllocationHasRules) {
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

TEST_F(TensorMemoryTest, OnlyWhatIsAllocatedIsAccessed) {
  const FindingKind kind = FindingKind::illegal_address;
  finds(kind, "column 64 has never been allocated",
        allocated() + own_values(2) + store("32x32b.x2", 2, "%r3+63"));
  finds(kind, "column 0 has been freed",
        allocated() + freed() + barrier + own_values(2) + store("32x32b.x2", 2));
  finds(kind, "columns 448 to 575 of lanes 0 to 31 of tensor memory, which has 512 columns",
        allocated(512) + "@%p1 tcgen05.ld.sync.aligned.32x32b.x128.b32 " + list(128) + ", [%r3+448];\n");
  const std::string unallocated = ".reg .b32 %v<4>;\n" + start + "mov.b32 %r3, 0;\n" + load("32x32b.x1", 1);
  finds(kind, "column 0 has never been allocated", unallocated);
}

TEST_F(TensorMemoryTest, AnAllocationWaitsForFreeColumns) {
  // Warp 1 asks while warp 0 has all there is, and gets it when that is freed.
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

TEST_F(TensorMemoryTest, OneThreadMayFreeWhatAllHaveUsed) {
  const std::string one =
      allocated() + barrier + "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;\n";
  sound(one);
  sound(one + barrier);  // where the others of its warp wait
  settings().strict = true;
  finds(FindingKind::invalid_shuffle, "but only 1 are there", one);
}

// ---- Two CTAs

class TensorPairTest : public TensorMemoryTest {
 protected:
  static inline const std::string both = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  static std::string pair_alloc(int columns) {
    return "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [s], " + std::to_string(columns) + ";\n";
  }
  static std::string pair_free(int columns) {
    return "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r2, " + std::to_string(columns) + ";\n";
  }
  static inline const std::string begin = ".shared .align 16 .b8 s[64];\n" + start +
                                          "mov.u32 %r7, %cluster_ctarank; setp.eq.u32 %p3, %r7, 0;\n"
                                          "mul.wide.u32 %rd2, %r7, 128; add.s64 %rd1, %rd1, %rd2;\n";
  Result run_pair(const std::string& body, uint32_t ctas = 2) {
    return run_ptx(begin + body, 64, 32, ctas, "", 0, ctas);
  }
  static inline const std::string address = "ld.shared.u32 %r2, [s];\n";
};

TEST_F(TensorPairTest, AllocatesTogether) {
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

TEST_F(TensorPairTest, HasRules) {
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

TEST_F(TensorPairTest, ACtaGroupIsTheSameInAllOfAKernel) {
  const Result r =
      run_pair(pair_alloc(64) + address + both + "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;\n");
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::not_supported);
  EXPECT_NE(r.end->what.find("must specify the same value for the .cta_group qualifier"), std::string::npos)
      << r.end->what;
}

// ---- From shared memory

class TensorCopyTest : public TensorMemoryTest {
 protected:
  // m: words that count from 0 on; 64 columns, of which all words of 16 are 7; an mbarrier for one arrival.
  // %rd3: the shared-memory descriptor of m without offsets.
  static std::string filled() {
    std::string text = ".shared .align 1024 .b8 m[16384];\n.shared .align 8 .b64 bar;\n" + allocated() +
                       "mov.u32 %r5, m; shl.b32 %r6, %r1, 2; add.u32 %r6, %r5, %r6; mov.u32 %r7, %r1;\n"
                       "mov.u32 %r8, 0;\nF: st.shared.u32 [%r6], %r7; add.u32 %r6, %r6, 512;\n"
                       "add.u32 %r7, %r7, 128; add.u32 %r8, %r8, 1; setp.lt.u32 %p5, %r8, 32; @%p5 bra F;\n"
                       "@%p2 mbarrier.init.shared::cta.b64 [bar], 1;\n" +
                       constant(16, 7) + store("32x32b.x16", 16) + wait_store +
                       "cvt.u64.u32 %rd3, %r5; and.b64 %rd3, %rd3, 0x3ffff; shr.u64 %rd3, %rd3, 4;\n"
                       "or.b64 %rd3, %rd3, 0x400000000000;\n";
    return text;
  }
  static inline const std::string fence = "fence.proxy.async.shared::cta;\n" + barrier;
  // offsets: between chunks of a row, between rows 7 and 8, in bytes; swizzling mode.
  static std::string copy(const std::string& form, uint64_t leading, uint64_t stride, uint64_t mode = 0,
                          const std::string& at = "%r2") {
    return "or.b64 %rd4, %rd3, " + std::to_string(leading / 16 << 16 | stride / 16 << 32 | mode << 61) +
           ";\n@%p2 tcgen05.cp.cta_group::1." + form + " [" + at + "], %rd4;\n";
  }
  static inline const std::string commit =
      "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n";
  static inline const std::string wait =
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar], 0;\n@!%p6 bra W;\n"
      "tcgen05.fence::after_thread_sync;\n";
  static std::string shown(int columns) {
    return load("32x32b.x" + std::to_string(columns), columns) + wait_load + output(columns) + freed();
  }
  // Word (lane, column) is expected(lane, column); 16 columns.
  template <class F>
  void gives(const std::string& form, uint64_t leading, uint64_t stride, uint64_t mode, F expected,
             const std::string& at = "%r2") {
    for (const uint64_t seed : {0, 1, 2, 3}) {
      settings().seed = seed;
      const Result r =
          run_body(filled() + fence + copy(form, leading, stride, mode, at) + commit + wait + shown(16));
      ASSERT_FALSE(r.end) << form << ": " << r.end->what;
      for (uint32_t lane = 0; lane < 128; ++lane) {
        for (uint32_t column = 0; column < 16; ++column)
          ASSERT_EQ(r.words[128 * column + lane], expected(lane, column))
              << form << " " << lane << " " << column;
      }
    }
    settings().seed = 0;
  }
};

TEST_F(TensorCopyTest, CopiesEveryShape) {
  const auto rows = [](uint32_t columns, auto row) {
    return [=](uint32_t lane, uint32_t column) -> uint32_t {
      return column < columns ? 4 * row(lane) + column % 4 + column / 4 * 512 : 7;
    };
  };
  gives("128x128b", 0, 128, 0, rows(4, [](uint32_t lane) { return lane; }));
  gives("128x256b", 2048, 128, 0, rows(8, [](uint32_t lane) { return lane; }));
  gives("64x128b.warpx2::02_13", 0, 128, 0, rows(4, [](uint32_t lane) { return lane % 64; }));
  gives("64x128b.warpx2::01_23", 0, 128, 0,
        rows(4, [](uint32_t lane) { return lane / 64 * 32 + lane % 32; }));
  gives("32x128b.warpx4", 0, 128, 0, rows(4, [](uint32_t lane) { return lane % 32; }));
  gives("32x128b.warpx4", 0, 256, 0, rows(4, [](uint32_t lane) { return lane % 8 + lane % 32 / 8 * 16; }));
  gives(
      "4x256b", 2048, 128, 0,
      [](uint32_t lane, uint32_t column) -> uint32_t {
        return lane % 32 == 31 && column < 8 ? lane / 32 * 4 + column % 4 + column / 4 * 512 : 7;
      },
      "%r2+2031616");  // lane 31
  gives("128x256b", 0, 1024, 2, [](uint32_t lane, uint32_t column) -> uint32_t {
    return column < 8 ? lane * 32 + ((column / 4) ^ (lane % 8)) * 4 + column % 4 : 7;
  });
}

TEST_F(TensorCopyTest, Decompresses) {
  for (const uint32_t bits : {4u, 6u}) {
    gives(bits == 4 ? "128x128b.b8x16.b4x16_p64" : "128x128b.b8x16.b6x16_p32", 0, 128, 0,
          [=](uint32_t lane, uint32_t column) -> uint32_t {
            if (column >= 4) return 7;
            uint32_t word = 0;
            for (uint32_t byte = 0; byte < 4; ++byte) {
              uint32_t element = 0;
              for (uint32_t bit = 0; bit < bits; ++bit) {
                const uint32_t at = (4 * column + byte) * bits + bit;
                element |= ((4 * lane + at / 32) >> at % 32 & 1) << bit;
              }
              word |= (bits == 4 ? element << 2 : element) << 8 * byte;
            }
            return word;
          });
  }
}

TEST_F(TensorCopyTest, TakesEffectWhenItsMbarrierIsAskedFor) {
  settings().checks = Checks::off;
  const std::string begun = filled() + fence + copy("128x128b", 0, 128) + commit;
  Result r =
      run_body(begun + barrier + load("32x32b.x4", 4) + wait_load + output(4) + barrier + wait + freed());
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[5], 7u);
  r = run_body(begun + barrier + "st.shared.u32 [%r5+80], 99;\n" + wait + shown(4));  // of what it copies
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[5], 99u);
}

TEST_F(TensorCopyTest, IsWaitedFor) {
  const std::string begun = filled() + fence + copy("128x128b", 0, 128);
  finds(FindingKind::unfinished_async, "tcgen05.ld of columns 0 to 3", begun + commit + barrier + shown(4));
  finds(FindingKind::unfinished_async, "it is the tcgen05.cp by thread (0,0,0)",
        begun + commit + barrier + shown(4));
  finds(FindingKind::unfinished_async, "store of 4 bytes at",
        begun + commit + barrier + "st.shared.u32 [%r5+80], 99;\n" + wait + freed());
  finds(FindingKind::missing_fence, "no fence.proxy.async follows a write",
        filled() + barrier + copy("128x128b", 0, 128) + commit + wait + freed());
  // Another thread than the one that waits: it needs a barrier.
  const std::string first_waits = "@!%p1 bra X;\n" + wait + "X: ";
  finds(FindingKind::race, "a barrier must follow",
        begun + commit + first_waits +
            "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p7, %r9, 9000; @%p7 bra L;\n" + shown(4));
  sound(begun + commit + first_waits + barrier + shown(4));
  // What is overwritten must have been waited for; a copy behind a copy needs nothing.
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::st before this",
        filled() + constant(1, 3) + store("32x32b.x1", 1) + fence + copy("128x128b", 0, 128) + commit + wait +
            wait_store + freed());
  sound(begun + copy("32x128b.warpx4", 0, 128) + commit + wait + shown(4));
}

TEST_F(TensorCopyTest, IsAskedForByOneThread) {
  std::string all = filled() + fence + copy("128x128b", 0, 128) + commit + wait + freed();
  all.replace(all.find("@%p2 tcgen05.cp"), 4, "@%p1");
  finds(FindingKind::illegal_instruction, "32 threads of a warp execute tcgen05.cp", all);
  finds(FindingKind::illegal_instruction, "a .128x128b begins in lane 0",
        filled() + fence + copy("128x128b", 0, 128, 0, "%r2+65536"));
  finds(FindingKind::illegal_instruction, "the swizzling mode is 3",
        filled() + fence + copy("128x128b", 0, 128, 3));
  finds(FindingKind::shared_out_of_bounds, "tcgen05.cp reads 16 bytes of its matrix at",
        filled() + fence + copy("128x128b", 0, 4096));
}

TEST_F(TensorCopyTest, ShiftsRowsDown) {
  const std::string values = allocated() +
                             ".shared .align 8 .b64 bar;\n@%p2 mbarrier.init.shared::cta.b64 [bar], 1;\n" +
                             own_values(16) + store("32x32b.x16", 16) + wait_store + barrier;
  const auto shift = [](const std::string& at) {
    return "@%p2 tcgen05.shift.cta_group::1.down [" + at + "];\n";
  };
  const Result r = run_body(values + shift("%r2+2097154") + commit + wait + shown(16));  // lane 32, column 2
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t lane = 0; lane < 128; ++lane) {
    for (uint32_t column = 0; column < 16; ++column) {
      const bool moved = lane / 32 == 1 && lane != 63 && column >= 2 && column < 10;
      EXPECT_EQ(r.words[128 * column + lane], (lane + moved) << 16 | column) << lane << " " << column;
    }
  }
  finds(FindingKind::illegal_instruction, "must be aligned to 32", values + shift("%r2+1048576"));
  finds(FindingKind::unfinished_async, "it is the tcgen05.shift by thread (0,0,0)",
        values + shift("%r2") + commit + barrier + shown(4));
}

}  // namespace
}  // namespace simulator
