// ldmatrix, stmatrix, movmatrix: rows and lanes, checks, wavefronts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class MatrixLoad : public Execution {
 protected:
  // Shared memory s: 16-bit numbers 0, 1, …; %r2: its address.
  static std::string filled(uint32_t bytes) {
    return ".shared .align 16 .b8 s[" + std::to_string(bytes) + "];\n" + start + R"(
      mov.u32 %r2, s; mov.u32 %r3, 0;
      FILL: mad.lo.u32 %r4, %r1, 4, %r2; mad.lo.u32 %r4, %r3, 128, %r4;
      mad.lo.u32 %r5, %r3, 32, %r1; mad.lo.u32 %r5, %r5, 0x20002, 0x10000;
      st.shared.u32 [%r4], %r5; add.u32 %r3, %r3, 1;
      setp.lt.u32 %p1, %r3, )" +
           std::to_string(bytes / 128) + "; @%p1 bra FILL; bar.sync 0;\n";
  }
};

TEST_F(MatrixLoad, LanesGetTwoNeighboursOfARow) {
  // Row r of matrix i is at 16 · (8i + r) ^ 80.
  const std::string address = "shl.b32 %r4, %r1, 4; xor.b32 %r4, %r4, 80; add.u32 %r4, %r4, %r2;\n";
  for (const bool transpose : {false, true}) {
    const Result r =
        run_ptx(filled(512) + address + "ldmatrix.sync.aligned.m8n8.x4" + (transpose ? ".trans" : "") +
                    ".shared.b16 {%r10, %r11, %r12, %r13}, [%r4];\n"
                    "st.global.u32 [%rd1], %r10; st.global.u32 [%rd1+128], %r11;"
                    "st.global.u32 [%rd1+256], %r12; st.global.u32 [%rd1+384], %r13;",
                128, 32);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 4; ++i) {
      for (uint32_t l = 0; l < 32; ++l) {
        const auto number = [&](uint32_t row, uint32_t column) { return ((8 * i + row) ^ 5) * 8 + column; };
        const uint32_t g = l / 4, t = l % 4 * 2;
        const uint32_t first = transpose ? number(t, g) : number(g, t);
        const uint32_t second = transpose ? number(t + 1, g) : number(g, t + 1);
        ASSERT_EQ(r.words[32 * i + l], first | second << 16) << "matrix " << i << ", lane " << l;
      }
    }
  }
}

TEST_F(MatrixLoad, OnlyTheFirstLanesAddressesCount) {
  const Result r = run_ptx(filled(128) + R"(
      setp.ge.u32 %p2, %r1, 8;
      shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; selp.u32 %r4, 3, %r4, %p2;
      ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r4]; st.global.u32 [%rd1], %r10;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(r.words[l], l * 0x20002u + 0x10000u) << l;
}

TEST_F(MatrixLoad, AStoreIsTheReverse) {
  for (const std::string form : {"x4", "x4.trans"}) {
    const Result r = run_ptx(filled(1024) + R"(
      shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2;
      ldmatrix.sync.aligned.m8n8.)" +
                                 form + R"(.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];
      stmatrix.sync.aligned.m8n8.)" +
                                 form + R"(.shared.b16 [%r4+512], {%r10, %r11, %r12, %r13};
      bar.sync 0;
      mad.lo.u32 %r5, %r1, 4, %r2;
      ld.shared.u32 %r10, [%r5+512]; st.global.u32 [%rd1], %r10;
      ld.shared.u32 %r10, [%r5+896]; st.global.u32 [%rd1+128], %r10;)",
                             64, 32);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t l = 0; l < 32; ++l) {
      EXPECT_EQ(r.words[l], l * 0x20002u + 0x10000u) << form;
      EXPECT_EQ(r.words[32 + l], (96 + l) * 0x20002u + 0x10000u) << form;
    }
  }
}

// Bytes 0, 1, … of shared memory (those of 16-bit numbers 0, 1, … in a row, 256 of them).
constexpr char bytes_in_order[] = R"(
      .shared .align 16 .b8 s[1024];
      shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, s; add.u32 %r4, %r3, %r2; and.b32 %r5, %r3, 240; mul.lo.u32 %r5, %r5, 0x01010101;
      add.u32 %r5, %r5, 0x03020100; add.u32 %r6, %r5, 0x04040404; add.u32 %r7, %r5, 0x08080808;
      add.u32 %r8, %r5, 0x0c0c0c0c; st.shared.v4.u32 [%r4], {%r5, %r6, %r7, %r8}; bar.sync 0;
)";

// 16 rows of 16 bytes: byte 16·row + column.
TEST_F(MatrixLoad, MatricesOfBytesAreTurned) {
  for (const uint32_t matrices : {1u, 2u}) {
    const std::string form = ".sync.aligned.m16n16.x" + std::to_string(matrices) + ".trans.shared.b8 ";
    const Result r = run_ptx(start + "mov.u32 %r2, 0;" + bytes_in_order +
                                 "mov.u32 %r12, 0; mov.u32 %r13, 0;\n" + "ldmatrix" + form +
                                 (matrices == 1 ? "{%r10, %r11}" : "{%r10, %r11, %r12, %r13}") + ", [%r4];" +
                                 R"(st.global.u32 [%rd1], %r10; st.global.u32 [%rd1+128], %r11;
                                 st.global.u32 [%rd1+256], %r12; st.global.u32 [%rd1+384], %r13;)",
                             128, 32);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 2 * matrices; ++i) {
      for (uint32_t l = 0; l < 32; ++l) {
        uint32_t expected = 0;
        for (uint32_t b = 0; b < 4; ++b)
          expected |= (64 * (l % 4) + 16 * b + l / 4 + 8 * (i % 2)) << 8 * b;  // of both matrices alike
        EXPECT_EQ(r.words[32 * i + l], expected) << "register " << i << ", lane " << l;
      }
    }
  }
}

// A row of each is a column of 16 rows: what mma leaves of D, in bytes.
TEST_F(MatrixLoad, MatricesOfBytesAreStoredByColumns) {
  for (const uint32_t matrices : {1u, 2u, 4u}) {
    const char* const registers[] = {"", "{%r10}", "{%r10, %r11}", "", "{%r10, %r11, %r12, %r13}"};
    const Result r =
        run_ptx(".shared .align 16 .b8 s[512];\n" + start + R"(
        mov.u32 %r2, s; shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2;
        shr.u32 %r5, %r1, 2; and.b32 %r6, %r1, 3; mad.lo.u32 %r10, %r6, 32, %r5;
        mul.lo.u32 %r10, %r10, 0x01010101; add.u32 %r10, %r10, 0x18081000;
        add.u32 %r11, %r10, 0x80808080; mov.u32 %r12, %r10; mov.u32 %r13, %r11;
        st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};
        stmatrix.sync.aligned.m16n8.x)" +
                    std::to_string(matrices) + ".trans.shared.b8 [%r4], " + registers[matrices] + R"(;
        bar.sync 0; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4]; shl.b32 %r9, %r1, 4; cvt.u64.u32 %rd2, %r9;
        add.u64 %rd2, %rd2, %rd0; st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8};)",
                128, 32);
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 512; ++i) {
      const uint32_t expected = i / 16 < 8 * matrices ? i % 256 : i / 16 * (i % 4 == 0);
      EXPECT_EQ(r.words[i / 4] >> i % 4 * 8 & 0xff, expected) << matrices << " matrices, byte " << i;
    }
  }
}

// Elements of 4 bits get to bits 2 to 5 of a byte, those of 6 bits to the lowest; what pads a row is not
// read.
TEST_F(MatrixLoad, SmallElementsAreWidened) {
  for (const uint32_t bits : {4u, 6u}) {
    for (const bool turned : {false, true}) {
      const std::string form = std::string(turned ? ".m16n16.x1.trans" : ".m8n16.x2") + ".shared.b8x16." +
                               (bits == 4 ? "b4x16_p64" : "b6x16_p32");
      const std::string fill = bits == 4
                                   ? "st.shared.v2.u32 [%r4], {%r5, %r6};\n"
                                   : "st.shared.v2.u32 [%r4], {%r5, %r6}; st.shared.u32 [%r4+8], %r7;\n";
      const Result r =
          run_ptx(".shared .align 16 .b8 s[512];\n" + start + R"(
          mov.u32 %r2, s; shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2;
          mad.lo.u32 %r5, %r1, 0x9e3779b1, 0x12345678; mul.lo.u32 %r6, %r5, 0x85ebca6b;
          mul.lo.u32 %r7, %r6, 0xc2b2ae35;)" +
                      fill + "bar.sync 0; ldmatrix.sync.aligned" + form + R"( {%r10, %r11}, [%r4];
          st.global.u32 [%rd1], %r10; st.global.u32 [%rd1+128], %r11;)",
                  64, 32);
      ASSERT_FALSE(r.end) << form << ": " << r.end->what;
      const auto element = [&](uint32_t row, uint32_t column) {
        const uint32_t a = row * 0x9e3779b1 + 0x12345678, b = a * 0x85ebca6b, c = b * 0xc2b2ae35;
        const uint32_t words[] = {a, b, c, 0};
        const uint32_t at = column * bits;
        const uint64_t two = words[at / 32] | uint64_t{words[at / 32 + 1]} << 32;
        const uint32_t value = static_cast<uint32_t>(two >> at % 32) & ((1u << bits) - 1);
        return bits == 4 ? value << 2 : value;
      };
      for (uint32_t i = 0; i < 2; ++i) {
        for (uint32_t l = 0; l < 32; ++l) {
          for (uint32_t b = 0; b < 4; ++b) {
            const uint32_t expected =
                turned ? element(4 * (l % 4) + b, l / 4 + 8 * i) : element(8 * i + l / 4, 4 * (l % 4) + b);
            EXPECT_EQ(r.words[32 * i + l] >> 8 * b & 0xff, expected)
                << form << " lane " << l << " byte " << b;
          }
        }
      }
    }
  }
}

TEST_F(MatrixLoad, UnknownFormsAreRefused) {
  for (const char* form :
       {"m16n16.x1.shared.b8 {%r10, %r11}", "m16n16.x4.trans.shared.b8 {%r10, %r11}",
        "m8n16.x1.shared.b8 {%r10}", "m8n8.x1.shared.b8 {%r10}",
        "m8n16.x1.trans.shared.b8x16.b4x16_p64 {%r10}", "m8n8.x1.shared.b8x16.b4x16_p64 {%r10}",
        "m16n16.x2.trans.shared.b8 {%r10, %r11}"}) {
    const Result r = run_ptx(filled(512) + "ldmatrix.sync.aligned." + std::string(form) + ", [%r2];", 1, 32);
    ASSERT_TRUE(r.end) << form;
    EXPECT_EQ(r.end->kind, FindingKind::not_supported) << form;
  }
}

TEST_F(MatrixLoad, AMoveTransposes) {
  const Result r = run_ptx(start + R"(mad.lo.u32 %r2, %r1, 0x20002, 0x10000;
      movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r2; st.global.u32 [%rd1], %r2;)",
                           32, 32);
  ASSERT_FALSE(r.end) << r.end->what;
  for (uint32_t l = 0; l < 32; ++l) {
    const uint32_t row = l / 4, column = l % 4 * 2;
    EXPECT_EQ(r.words[l], (column * 8 + row) | ((column + 1) * 8 + row) << 16) << l;
  }
}

std::string load_at(const std::string& address) {
  return "shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2;\n" + address +
         "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];";
}

TEST_F(MatrixLoad, RowsAreChecked) {
  const Result misaligned = run_ptx(filled(1024) + load_at("add.u32 %r4, %r4, 8;"), 1, 32);
  ASSERT_TRUE(misaligned.end);
  EXPECT_EQ(misaligned.end->kind, FindingKind::misaligned);
  const Result beyond = run_ptx(filled(512) + load_at("add.u32 %r4, %r4, 16;"), 1, 32);
  ASSERT_TRUE(beyond.end);
  EXPECT_EQ(beyond.end->kind, FindingKind::shared_out_of_bounds);
  EXPECT_EQ(beyond.end->site.thread[0], 31u);
  const Result unwritten =
      run_ptx(".shared .align 16 .b8 s[512];\n" + start + "mov.u32 %r2, s;\n" + load_at(""), 1, 32);
  ASSERT_TRUE(unwritten.end);
  EXPECT_EQ(unwritten.end->kind, FindingKind::uninitialised);
  const Result elsewhere =
      run_ptx(start + "ldmatrix.sync.aligned.m8n8.x4.b16 {%r10, %r11, %r12, %r13}, [%rd0];", 128, 32);
  ASSERT_TRUE(elsewhere.end);
  EXPECT_EQ(elsewhere.end->kind, FindingKind::illegal_address);
}

// A wavefront serves the eight rows of a matrix where they are in 32 different banks, whatever the order.
TEST_F(MatrixLoad, WavefrontsAreCountedByMatrix) {
  const std::string name = testing::TempDir() + "matrix_load_test." + std::to_string(getpid()) + ".";
  const struct {
    int pitch, matrices, wavefronts;
  } cases[] = {{16, 4, 4},  {32, 4, 8},   {64, 4, 16}, {128, 4, 32}, {80, 4, 4},
               {144, 4, 4}, {128, 2, 16}, {128, 1, 8}, {16, 1, 1},   {0, 4, 4}};
  for (const bool store : {false, true}) {
    for (const auto& each : cases) {
      if (store && each.pitch == 0) continue;
      const std::string path = name + std::to_string(&each - cases) + (store ? "s" : "l");  // opened once
      settings().trace = path;
      const std::string registers = each.matrices == 4   ? "{%r10, %r11, %r12, %r13}"
                                    : each.matrices == 2 ? "{%r10, %r11}"
                                                         : "{%r10}";
      const std::string form = ".sync.aligned.m8n8.x" + std::to_string(each.matrices) + ".shared.b16 ";
      const Result r =
          run_ptx(filled(4608) + "mad.lo.u32 %r4, %r1, " + std::to_string(each.pitch) +
                      ", %r2; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;\n" +
                      (store ? "stmatrix" + form + "[%r4], " + registers
                             : "ldmatrix" + form + registers + ", [%r4]") +
                      ";",
                  1, 32);
      EXPECT_FALSE(r.end) << r.end->what;
      std::ifstream file(path);
      std::string line;
      while (std::getline(file, line) && line.find("matrix.sync") == std::string::npos) {
      }
      const std::string lanes = each.matrices == 4   ? "ffffffff"
                                : each.matrices == 2 ? "0000ffff"
                                                     : "000000ff";
      EXPECT_NE(line.find("\"lanes\": \"" + lanes + "\", \"space\": \"shared\", \"bytes\": 16"),
                std::string::npos)
          << line;
      EXPECT_NE(line.find("\"wavefronts\": " + std::to_string(each.wavefronts) +
                          ", \"ideal_wavefronts\": " + std::to_string(each.matrices) + "}"),
                std::string::npos)
          << line << "\npitch " << each.pitch;
      std::filesystem::remove(path);
    }
  }
  settings().trace.clear();
}

TEST_F(MatrixLoad, AnotherWarpsWritesRace) {
  // Warp 0 stores, warp 1 loads.
  const auto with = [&](const std::string& between) {
    return run_ptx(".shared .align 16 .b8 s[512];\n" + start + R"(
      mov.u32 %r2, s; shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2;
      setp.ge.u32 %p1, %r1, 32;
      @%p1 bra READ;
      st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};
      READ: )" + between +
                       R"(
      @!%p1 bra DONE;
      ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4+-512];
      DONE: mov.u32 %r6, 0;)",
                   1, 64);
  };
  const Result right = with("bar.sync 0;");
  EXPECT_FALSE(right.end) << right.end->what;
  const Result wrong = with("");
  ASSERT_TRUE(wrong.end);
  EXPECT_TRUE(wrong.end->kind == FindingKind::race || wrong.end->kind == FindingKind::uninitialised);
}

TEST_F(MatrixLoad, AWholeWarpIsNeeded) {
  const Result part = run_ptx(
      filled(512) + "setp.lt.u32 %p2, %r1, 16; @!%p2 bra DONE;\n" + load_at("") + "\nDONE: bar.sync 0;", 1,
      32);
  ASSERT_TRUE(part.end);
  EXPECT_EQ(part.end->kind, FindingKind::deadlock) << part.end->what;
  const Result gone = run_ptx(filled(512) + "setp.ge.u32 %p2, %r1, 31; @%p2 exit;\n" + load_at(""), 1, 32);
  ASSERT_TRUE(gone.end);
  EXPECT_EQ(gone.end->kind, FindingKind::invalid_shuffle);
  EXPECT_NE(gone.end->what.find("only 31"), std::string::npos) << gone.end->what;
}

}  // namespace
}  // namespace simulator
