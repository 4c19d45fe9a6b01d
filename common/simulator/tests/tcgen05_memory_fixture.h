// Kernels that use tensor memory.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {

class Tcgen05MemoryTest : public Execution {
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
  std::string reported(const std::string& body, FindingKind kind) {
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
    const std::string text = reported(body, kind);
    EXPECT_NE(text.find(what), std::string::npos) << '"' << text << "\" of\n" << body;
  }
  void sound(const std::string& body) { EXPECT_EQ(reported(body, FindingKind::race), "") << body; }
};

}  // namespace simulator
