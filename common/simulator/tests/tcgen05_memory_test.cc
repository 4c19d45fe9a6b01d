// tcgen05.ld and .st: where words go, what has to be waited for, and what is reported where a wait is
// missing.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/tcgen05_memory_fixture.h"

namespace simulator {
namespace {

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

TEST_F(Tcgen05MemoryTest, LoadsEveryShape) {
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

TEST_F(Tcgen05MemoryTest, StoresEveryShape) {
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

TEST_F(Tcgen05MemoryTest, PacksAndUnpacksHalves) {
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

TEST_F(Tcgen05MemoryTest, LoadsAndStoresTakeEffectWhenTheyAreWaitedFor) {
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

TEST_F(Tcgen05MemoryTest, SeedsLetThemTakeEffectEarlyAtTimes) {
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

TEST_F(Tcgen05MemoryTest, RegistersAreNotTouchedBeforeTheWait) {
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
  finds(FindingKind::unfinished_async,
        "tcgen05.dealloc of columns 0 to 63 of lanes 0 to 127 of tensor memory: an operation that reads it "
        "has not been "
        "waited for; it is the tcgen05.ld of warp",
        used + load("32x32b.x2", 2) + freed());
}

// ---- Order

TEST_F(Tcgen05MemoryTest, WhatIsStoredIsWaitedForBeforeItIsLoaded) {
  const std::string stored = allocated() + own_values(4) + store("32x32b.x4", 4);
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::st before this | tcgen05.ld",
        stored + load("32x32b.x2", 2) + wait_load + wait_store + freed());
  finds(FindingKind::unfinished_async,
        "tcgen05.dealloc of columns 0 to 63 of lanes 0 to 127 of tensor memory: an operation that writes it "
        "has not been "
        "waited for; it is the tcgen05.st of warp",
        stored + freed());
  sound(stored + wait_store + load("32x32b.x2", 2) + wait_load + freed());
  sound(allocated() + own_values(16) + store("32x32b.x16", 16) + wait_store + store("32x32b.x4", 4) +
        load("32x32b.x2", 2, "%r3+8") + wait_load + wait_store + freed());
}

TEST_F(Tcgen05MemoryTest, WhatIsLoadedIsWaitedForBeforeItIsOverwrittenOrFreed) {
  const std::string loaded =
      allocated() + own_values(4) + store("32x32b.x4", 4) + wait_store + load("32x32b.x2", 2);
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::ld before this | tcgen05.st",
        loaded + "mov.b32 %v9, 1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3+1], {%v9};\n" + wait_load +
            wait_store + freed());
  finds(FindingKind::unfinished_async,
        "tcgen05.dealloc of columns 0 to 63 of lanes 0 to 127 of tensor memory: an operation that reads it "
        "has not been "
        "waited for; it is the tcgen05.ld of warp",
        loaded + freed());
  sound(loaded + "mov.b32 %v9, 1; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3+2], {%v9};\n" + wait_load +
        wait_store + freed());
}

// Warps 0 and 4 have the same lanes.
TEST_F(Tcgen05MemoryTest, WarpsWithTheSameLanesNeedABarrier) {
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
    EXPECT_EQ(r.end->kind, FindingKind::race) << r.end->what;
    EXPECT_NE(r.end->details[0].find(", and a barrier must follow"), std::string::npos) << r.end->details[0];
  }
}

// The arrival says that tensor memory has been read, and comes before tcgen05.wait::ld. Whether that wait is
// over when warp 0 stores depends on the order of the warps, and what is found must not.
TEST_F(Tcgen05MemoryTest, AnArrivalBehindTheLoadIsNotEnough) {
  const std::string begin = allocated() + own_values(1) +
                            ".shared .align 8 .b64 bar;\n@%p2 mbarrier.init.shared::cta.b64 [bar], 128;\n" +
                            "setp.lt.u32 %p3, %r1, 128;\n@%p3 " + store("32x32b.x1", 1) + wait_store +
                            "tcgen05.fence::before_thread_sync;\n" + barrier +
                            "tcgen05.fence::after_thread_sync;\n";
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [bar];\n";
  const std::string late = "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p7, %r9, 300; @%p7 bra L;\n";
  // Warp 4 overwrites what warp 0 loads, as the thread that issues the next product would.
  const std::string next = "@!%p3 bra N;\n";
  const std::string end =
      "bra.uni E;\nN: mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar], 0; @!%p6 bra "
      "N;\ntcgen05.fence::after_thread_sync;\n" +
      store("32x32b.x1", 1) + wait_store + "E: " + freed();
  settings().strict = true;  // else transfers in the same lanes go in order
  for (const std::string& between : {std::string(), late}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      settings().seed = seed;
      const Result r =
          run_ptx(begin + next + load("32x32b.x1", 1) + arrive + between + wait_load + end, 512, 256);
      ASSERT_TRUE(r.end) << "seed " << seed;
      EXPECT_EQ(r.end->kind, FindingKind::unfinished_async) << "seed " << seed << ": " << r.end->what;
      EXPECT_NE(r.end->details.at(0).find(
                    "it needs tcgen05.wait::ld before the barrier or arrival that leads here"),
                std::string::npos)
          << r.end->details[0];
    }
  }
}

// As in CUTLASS's attention kernels: what one warp stores another loads and frees, and only the latter waits.
TEST_F(Tcgen05MemoryTest, WarpsWithTheSameLanesGoInOrder) {
  const std::string begin = allocated() + R"(
      setp.lt.u32 %p3, %r1, 128; setp.ge.u32 %p4, %r1, 128; mov.b32 %v0, 7; and.b32 %r5, %r1, 96;
      shl.b32 %r5, %r5, 16; add.u32 %r3, %r5, %r2;
      @%p3 tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%v0};
)" + barrier;
  const std::string end = "@%p4 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r3];\n" + wait_load +
                          "st.global.u32 [%rd1], %v0;\n" + freed();
  for (uint64_t seed = 0; seed < 8; ++seed) {
    settings().seed = seed;
    const Result r = run_ptx(begin + end, 256, 256);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    for (const uint32_t word : r.words) ASSERT_EQ(word, 7u);
    settings().strict = true;
    const Result strict = run_ptx(begin + end, 256, 256);
    settings().strict = false;
    ASSERT_TRUE(strict.end);
    EXPECT_EQ(strict.end->kind, FindingKind::unfinished_async) << strict.end->what;
  }
}

TEST_F(Tcgen05MemoryTest, StrictWantsFences) {
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
  EXPECT_NE(found(before + after + barrier).find("::after_thread_sync since"), std::string::npos)
      << "too early";
  EXPECT_NE(found(after + barrier + before).find("no tcgen05.fence"), std::string::npos);
  settings().strict = false;
  EXPECT_EQ(found(barrier), "");
}

TEST_F(Tcgen05MemoryTest, WhatWasNeverWrittenIsTold) {
  finds(FindingKind::uninitialised, "column 0 of lane ",
        allocated() + load("32x32b.x1", 1) + wait_load + freed());
  finds(FindingKind::uninitialised, "column 4 of lane ",
        allocated() + own_values(4) + store("32x32b.x4", 4) + wait_store + load("32x32b.x8", 8) + wait_load +
            freed());
}

// ---- Lanes

TEST_F(Tcgen05MemoryTest, AWarpHasItsOwnQuarterOfTheLanes) {
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

// Hardware takes the first thread's: only strict mode has a finding, and with it the launch goes on.
TEST_F(Tcgen05MemoryTest, ALaneOfEachThreadsOwnIsTolerated) {
  const std::string body = allocated() + own_values(1) + store("32x32b.x1", 1) + wait_store +
                           "shl.b32 %r3, %r1, 16; add.u32 %r3, %r3, %r2;\n" + load("32x32b.x1", 1) +
                           wait_load + output(1) + freed();
  sound(body);
  settings().strict = true;
  finds(FindingKind::illegal_instruction, "the lanes of tensor memory differ, and hardware takes the first",
        body);
  settings().checks = Checks::report;
  const Result r = run_body(body);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(r.words[t], t << 16);
}

}  // namespace
}  // namespace simulator
