// Kernels in PTX with a tcgen05.mma in them.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {

inline std::string number(uint64_t value) {
  return std::to_string(value);
}

class Tcgen05MmaTest : public Execution {
 protected:
  // 128 threads. A is 128 × 16 values of 16 bits from s on, B 16 × 8 from s + 4096 on, in core matrices of
  // 128 bytes that follow each other; %rd4 and %rd5 are their descriptors, %r5 the instruction descriptor,
  // %r2 the address of D, %r3 that of the warp's lanes, %p1: warp 0, %p2: thread 0; %p3: enable-input-d. D
  // holds the f32 %r12. %r4: the thread's 32 bytes of A.
  static constexpr uint32_t bf16_to_f32 = 1u << 4 | 1u << 7 | 1u << 10 | 8u / 8 << 17 | 128u / 16 << 24;
  static constexpr uint32_t one = 0x3f803f80, two = 0x40004000;
  static std::string fill(uint32_t a = one, uint32_t b = two, float d = 1) {
    return ".shared .align 1024 .b8 s[8192];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 t;\n" +
           start +
           "setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0; setp.eq.u32 %p3, 0, 0; setp.lt.u32 %p4, %r1, "
           "16;\n"
           "mov.u32 %r6, s; shl.b32 %r4, %r1, 5; add.u32 %r4, %r6, %r4; shl.b32 %r7, %r1, 4;\n"
           "add.u32 %r7, %r6, %r7; mov.u32 %r8, " +
           number(a) + "; mov.u32 %r9, " + number(b) +
           ";\nst.shared.v4.b32 [%r4], {%r8, %r8, %r8, %r8}; st.shared.v4.b32 [%r4+16], {%r8, %r8, %r8, "
           "%r8};\n"
           "@%p4 st.shared.v4.b32 [%r7+4096], {%r9, %r9, %r9, %r9};\n"
           "@%p2 mbarrier.init.shared::cta.b64 [bar], 1;\n"
           "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [t], 64;\n"
           "cvt.u64.u32 %rd4, %r6; shr.u64 %rd4, %rd4, 4;\n"
           "or.b64 %rd4, %rd4, 0x401000080000;\n"  // 128 bytes to the next 16 of k, 256 to the next 8 rows
           "add.u64 %rd5, %rd4, 256; mov.u32 %r5, " +
           number(bf16_to_f32) +
           ";\nbar.sync 0; ld.shared.u32 %r2, [t];\n"
           "and.b32 %r3, %r1, 96; shl.b32 %r3, %r3, 16; add.u32 %r3, %r3, %r2; mov.b32 %r12, " +
           number(std::bit_cast<uint32_t>(d)) + ";\n" + store_d;
  }
  static inline const std::string store_d =
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r3], {%r12, %r12, %r12, %r12, %r12, %r12, %r12, %r12};\n"
      "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync;\n";
  static inline const std::string proxy_fence = "fence.proxy.async.shared::cta;\n";
  static inline const std::string barrier = "bar.sync 0;\n";
  static inline const std::string ready = proxy_fence + barrier + "tcgen05.fence::after_thread_sync;\n";
  static std::string mma(const std::string& form = "kind::f16",
                         const std::string& operands = "%rd4, %rd5, %r5, %p3", const std::string& d = "%r2") {
    return "@%p2 tcgen05.mma.cta_group::1." + form + " [" + d + "], " + operands + ";\n";
  }
  static inline const std::string commit =
      "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n";
  static std::string wait(int phase = 0) {
    const std::string label = "W" + std::to_string(phase);
    return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar], " + std::to_string(phase & 1) +
           ";\n@!%p6 bra " + label + ";\ntcgen05.fence::after_thread_sync;\n";
  }
  // D's column 7 to global memory.
  static inline const std::string output =
      "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13}, [%r3+7]; tcgen05.wait::ld.sync.aligned;\n"
      "st.global.u32 [%rd1], %r13; tcgen05.fence::before_thread_sync;\n";
  static inline const std::string freed =
      "bar.sync 0;\n@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;\n";
  static inline const std::string done = wait(0) + output + freed;

  Result run_body(const std::string& body) { return run_ptx(body, 128, 128); }
  void gives(float expected, const std::string& body) { gives_bits(std::bit_cast<uint32_t>(expected), body); }
  void gives_bits(uint32_t expected, const std::string& body) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      settings().seed = seed;
      const Result r = run_body(body);
      ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
      for (const uint32_t word : r.words) ASSERT_EQ(word, expected) << "seed " << seed;
    }
  }
  // The same finding in any order; the text is in it or its details.
  void finds(FindingKind kind, const std::string& text, const std::string& body) {
    for (uint64_t seed = 0; seed < (kind == FindingKind::deadlock ? 2 : 6); ++seed) {
      settings().seed = seed;
      const Result r = run_body(body);
      ASSERT_TRUE(r.end) << "seed " << seed << ": nothing found; wanted " << text;
      std::string all = r.end->what;
      for (const std::string& detail : r.end->details) all += "\n" + detail;
      EXPECT_EQ(r.end->kind, kind) << all;
      EXPECT_NE(all.find(text), std::string::npos) << "not " << text << "\n" << all;
    }
  }
};

}  // namespace simulator
