// wmma: which bytes are read and written, in how many requests, and with which checks. What it computes:
// programs/wmma.cu.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class Wmma : public Execution {
 protected:
  void SetUp() override {
    Execution::SetUp();
    trace_anew();
  }
  void TearDown() override {
    std::filesystem::remove(settings().trace);
    settings() = {};
  }
  static void trace_anew() {  // a file is opened once
    static int number = 0;
    std::filesystem::remove(settings().trace);
    settings().trace =
        testing::TempDir() + "wmma_test." + std::to_string(getpid()) + "." + std::to_string(number++);
  }
  // Shared memory s, all written, at %r2.
  static std::string filled(uint32_t bytes) {
    return ".shared .align 32 .b8 s[" + std::to_string(bytes) + "];\n" + start + R"(
      .reg .b32 %w<8>; .reg .b64 %v<2>;
      mov.u32 %r2, s; mov.u32 %r3, 0;
      FILL: mad.lo.u32 %r4, %r1, 4, %r2; mad.lo.u32 %r4, %r3, 128, %r4;
      st.shared.u32 [%r4], %r1; add.u32 %r3, %r3, 1;
      setp.lt.u32 %p1, %r3, )" +
           std::to_string(bytes / 128) + "; @%p1 bra FILL; bar.sync 0;\n";
  }
  static std::string list(const std::string& name, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
    return text + "}";
  }
  // Of the trace's lines about wmma, the value after "name": one per request.
  static std::vector<std::string> traced(const std::string& name) {
    std::vector<std::string> values;
    std::ifstream file(settings().trace);
    for (std::string line; std::getline(file, line);) {
      const size_t at = line.find("\"" + name + "\": ");
      if (line.find("\"wmma.") == std::string::npos || at == std::string::npos) continue;
      const size_t from = at + name.size() + 4;
      values.push_back(line.substr(from, line.find_first_of(",}", from) - from));
    }
    return values;
  }
};

using Values = std::vector<std::string>;

TEST_F(Wmma, LoadsFromSharedMemoryAreLikeLdmatrix) {
  const Result r = run_ptx(
      filled(2048) + "wmma.load.a.sync.aligned.row.m32n8k16.shared.f16 " + list("w", 8) + ", [%r2], 32;", 1,
      32);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(traced("bytes"), (Values{"16", "16"}));
  EXPECT_EQ(traced("wavefronts"), (Values{"16", "16"}));  // rows 64 bytes apart: four of eight meet
  EXPECT_EQ(traced("ideal_wavefronts"), (Values{"4", "4"}));
}

TEST_F(Wmma, BytesThatLieAcrossAreLoadedOneByOne) {
  const Result r = run_ptx(
      filled(512) + "wmma.load.a.sync.aligned.col.m16n16k16.shared.s8 " + list("w", 2) + ", [%r2], 32;", 1,
      32);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(traced("bytes"), Values(8, "1"));
}

TEST_F(Wmma, StoresOfRowsAreOfTwoNeighbours) {
  for (const std::string layout : {"row", "col"}) {
    SCOPED_TRACE(layout);
    const Result r = run_ptx(start + R"(.reg .f32 %w<8>;
        mov.f32 %w0, 0f00000000; mov.f32 %w1, %w0; mov.f32 %w2, %w0; mov.f32 %w3, %w0;
        mov.f32 %w4, %w0; mov.f32 %w5, %w0; mov.f32 %w6, %w0; mov.f32 %w7, 0f3f800000;
        wmma.store.d.sync.aligned.)" +
                                 layout + ".m16n16k16.global.f32 [%rd0], " + list("w", 8) + ", 24;",
                             16 * 24, 32);
    ASSERT_FALSE(r.end) << r.end->what;
    for (size_t row = 0; row < 16; ++row) {
      for (size_t column = 0; column < 16; ++column) {
        const bool last = row >= 8 && column >= 8 && column % 2 == 1;
        EXPECT_EQ(r.words[layout == "row" ? row * 24 + column : column * 24 + row], last ? 0x3f800000u : 0u);
      }
    }
    EXPECT_EQ(traced("bytes"), layout == "row" ? Values(4, "8") : Values(8, "4"));
    trace_anew();
  }
}

TEST_F(Wmma, TheStrideIsThatOfTheMatrixUnlessGiven) {
  const Result r = run_ptx(
      filled(256) + "wmma.load.b.sync.aligned.row.m16n16k8.shared.tf32 " + list("w", 4) + ", [%r2];\n", 1,
      32);
  ASSERT_TRUE(r.end);  // 8 rows of 16 words
  EXPECT_EQ(r.end->kind, FindingKind::shared_out_of_bounds);
  EXPECT_FALSE(
      run_ptx(filled(512) + "wmma.load.b.sync.aligned.row.m16n16k8.shared.tf32 " + list("w", 4) + ", [%r2];",
              1, 32)
          .end);
}

TEST_F(Wmma, AccessesAreChecked) {
  const std::string load = "wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 " + list("w", 4);
  const Result unwritten = run_ptx(
      ".shared .align 32 .b8 s[512];\n" + start + ".reg .b32 %w<8>; mov.u32 %r2, s;\n" + load + ", [%r2];", 1,
      32);
  ASSERT_TRUE(unwritten.end);
  EXPECT_EQ(unwritten.end->kind, FindingKind::uninitialised);
  const Result misaligned = run_ptx(filled(1024) + load + ", [%r2+8];", 1, 32);
  ASSERT_TRUE(misaligned.end);
  EXPECT_EQ(misaligned.end->kind, FindingKind::misaligned);
  const Result beyond = run_ptx(filled(512) + load + ", [%r2+16];", 1, 32);
  ASSERT_TRUE(beyond.end);
  EXPECT_EQ(beyond.end->kind, FindingKind::shared_out_of_bounds);
  const Result global = run_ptx(start + ".reg .f32 %w<8>; mov.f32 %w0, 0f00000000;\n" +
                                    "wmma.store.d.sync.aligned.row.m8n32k16.global.f32 [%rd0], " +
                                    "{%w0, %w0, %w0, %w0, %w0, %w0, %w0, %w0};",
                                255, 32);
  ASSERT_TRUE(global.end);
  EXPECT_EQ(global.end->kind, FindingKind::illegal_address);
}

TEST_F(Wmma, UnknownFormsAreRefused) {
  for (const std::string form :
       {"load.a.sync.aligned.row.m8n8k32.shared.s4 {%w0}, [%r2]",
        "load.a.sync.aligned.row.m16n16k8.shared.f16 {%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}, [%r2]",
        "load.c.sync.aligned.row.m16n16k16.shared.bf16 {%w0, %w1, %w2, %w3}, [%r2]",
        "mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%w0, %w1}, {%w2}, {%w3}, {%w4, %w5}"}) {
    const Result result = run_ptx(filled(2048) + "wmma." + form + ";", 1, 32);
    ASSERT_TRUE(result.end) << form;
    EXPECT_EQ(result.end->kind, FindingKind::not_supported) << form;
  }
}

}  // namespace
}  // namespace simulator
