// tcgen05.cp and .shift.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/tcgen05_memory_fixture.h"

namespace simulator {
namespace {

class Tcgen05CopyTest : public Tcgen05MemoryTest {
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

TEST_F(Tcgen05CopyTest, CopiesEveryShape) {
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

TEST_F(Tcgen05CopyTest, Decompresses) {
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

TEST_F(Tcgen05CopyTest, TakesEffectWhenItsMbarrierIsAskedFor) {
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

TEST_F(Tcgen05CopyTest, IsWaitedFor) {
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
  finds(FindingKind::race, "it needs ",
        begun + commit + first_waits +
            "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p7, %r9, 9000; @%p7 bra L;\n" + shown(4));
  sound(begun + commit + first_waits + barrier + shown(4));
  // What is overwritten must have been waited for; a copy behind a copy needs nothing.
  finds(FindingKind::unfinished_async, "it needs tcgen05.wait::st before",
        filled() + constant(1, 3) + store("32x32b.x1", 1) + fence + copy("128x128b", 0, 128) + commit + wait +
            wait_store + freed());
  sound(begun + copy("32x128b.warpx4", 0, 128) + commit + wait + shown(4));
}

TEST_F(Tcgen05CopyTest, IsAskedForByOneThread) {
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

TEST_F(Tcgen05CopyTest, ShiftsRowsDown) {
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
