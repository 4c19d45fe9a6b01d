// Structs that are copied as a whole: their padding is never written, and no finding before something uses
// it.
#include "common/simulator/program/carried.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

// One thread has 16 bytes, `from`, of which some are written, and as many, `to`, of which none is.
class CarriedValues : public Execution {
 protected:
  // The finding's kind as text; empty: there is none.
  std::string reported(const std::string& space, const std::string& body) {
    const std::string places =
        "." + space + " .align 16 .b8 from[16]; ." + space + " .align 16 .b8 to[16];\n";
    const Result r = run_ptx(
        places + ".reg .b16 %rs<9>;\n" + start + std::regex_replace(body, std::regex("~"), space), 1, 1);
    if (!r.end) return "";
    EXPECT_NE(r.end->what.find("never written"), std::string::npos) << r.end->what;
    return name_of(r.end->kind);
  }
  void fine(const std::string& body) {
    for (const char* space : {"shared", "local"}) EXPECT_EQ(reported(space, body), "") << space << body;
  }
  void finds(const std::string& body) {
    for (const char* space : {"shared", "local"})
      EXPECT_EQ(reported(space, body), "uninitialised read") << space << body;
  }
};

const std::string first = "st.~.u32 [from], %r1;\n";
std::string use(const std::string& load) {
  return load + "add.u32 %r9, %r8, 1; st.global.u32 [%rd1], %r9;\n";
}

TEST_F(CarriedValues, AStructIsCopiedByOneVector) {
  const std::string copy =
      first + "ld.~.v4.u32 {%r2, %r3, %r4, %r5}, [from]; st.~.v4.u32 [to], {%r2, %r3, %r4, %r5};\n";
  fine(copy);
  fine(copy + use("ld.~.u32 %r8, [to];"));
  finds(copy + use("ld.~.u32 %r8, [to+4];"));
  fine(copy + "ld.~.v2.u64 {%rd2, %rd3}, [to]; st.~.v2.u64 [from], {%rd2, %rd3};\n" +
       use("ld.~.u32 %r8, [from];"));
  finds(copy + "ld.~.v2.u64 {%rd2, %rd3}, [to]; st.~.v2.u64 [from], {%rd2, %rd3};\n" +
        use("ld.~.u32 %r8, [from+12];"));
}

TEST_F(CarriedValues, AStructIsCopiedBySeveralLoads) {
  const std::string loads =
      "ld.~.u64 %rd2, [from+8]; ld.~.u32 %r2, [from]; ld.~.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [from+4];\n";
  const std::string stores =
      "st.~.u64 [to+8], %rd2; st.~.u32 [to], %r2; st.~.v4.u8 [to+4], {%rs1, %rs2, %rs3, %rs4};\n";
  fine(first + "st.~.u64 [from+8], %rd1;\n" + loads + stores + use("ld.~.u32 %r8, [to];"));
  finds(first + "st.~.u64 [from+8], %rd1;\n" + loads + stores + use("ld.~.u32 %r8, [to+4];"));
  finds(loads + stores);  // nothing of it was written
}

TEST_F(CarriedValues, AValueByItselfIsNoStruct) {
  finds(first + "ld.~.u32 %r2, [from+4]; st.~.u32 [to+4], %r2;");
  finds(first +
        "mov.u64 %rd2, from; ld.~.u32 %r3, [%rd2]; st.~.u32 [to], %r3; add.u64 %rd2, %rd2, 4;"
        "ld.~.u32 %r2, [%rd2]; st.~.u32 [to+4], %r2;");
  finds(first + "ld.~.u32 %r3, [from]; bra L; L: ld.~.u32 %r2, [from+4]; st.~.v2.u32 [to], {%r3, %r2};");
}

TEST_F(CarriedValues, WhatIsUsedIsNotOnlyCarried) {
  const std::string load = first + "ld.~.v2.u32 {%r2, %r3}, [from]; st.~.v2.u32 [to], {%r2, %r3};\n";
  fine(load + "add.u32 %r4, %r2, 1;");
  for (const char* use :
       {"add.u32 %r4, %r3, 1;", "st.~.u32 [%r3], %r2;", "setp.eq.u32 %p1, %r3, 1;",
        "cvt.u64.u32 %rd2, %r3; shl.b64 %rd3, %rd2, 1;", "mov.u32 %r4, %r3; not.b32 %r5, %r4;"}) {
    finds(load + use);
  }
}

TEST_F(CarriedValues, ARegisterThatIsWrittenTwiceIsNotFollowed) {
  finds(first + "mov.u32 %r3, 1; ld.~.v2.u32 {%r2, %r3}, [from]; st.~.v2.u32 [to], {%r2, %r3};");
}

TEST_F(CarriedValues, BytesArePackedOnTheWay) {
  const std::string copy =
      "st.~.u8 [from], %r1; st.~.u8 [from+1], %r1;\n"
      "ld.~.u8 %r2, [from]; ld.~.u8 %r3, [from+1]; ld.~.u8 %r4, [from+2]; ld.~.u8 %r5, [from+3];\n"
      "prmt.b32 %r6, %r3, %r2, 30212; prmt.b32 %r7, %r5, %r4, 30212; prmt.b32 %r8, %r7, %r6, 4180;\n"
      "st.~.u32 [to], %r8;\n";
  fine(copy + "ld.~.u16 %r10, [to]; add.u32 %r11, %r10, 1;");
  finds(copy + "ld.~.u16 %r10, [to+2]; add.u32 %r11, %r10, 1;");
  const std::string apart = copy +
                            "ld.~.u32 %r10, [to]; mov.b32 {%rs1, %rs2}, %r10; shr.u16 %rs3, %rs1, 8;\n"
                            "cvt.u16.u32 %rs4, %r10; st.~.u8 [from+4], %rs4; st.~.u8 [from+5], %rs3; st.~.u8 "
                            "[from+6], %rs2; shr.u16 %rs5, %rs2, 8; st.~.u8 [from+7], %rs5;\n";
  fine(apart +
       "ld.~.u8 %r11, [from+4]; add.u32 %r12, %r11, 1; ld.~.u8 %r13, [from+5]; add.u32 %r14, %r13, 1;");
  finds(apart + "ld.~.u8 %r11, [from+6]; add.u32 %r12, %r11, 1;");
}

// Nothing distinguishes a word of padding from an element of an array that was forgotten: a thread that
// copies word by word loads nothing beside it.
TEST_F(CarriedValues, ALoopThatCopiesWordByWord) {
  const std::string loop = R"(
      mov.u64 %rd2, from;
      mov.u64 %rd3, to;
      mov.u32 %r10, 0;
      L:
      ld.~.u32 %r2, [%rd2];
      st.~.u32 [%rd3], %r2;
      add.u64 %rd2, %rd2, 4;
      add.u64 %rd3, %rd3, 4;
      add.u32 %r10, %r10, 1;
      setp.lt.u32 %p1, %r10, 2;
      @%p1 bra L;)";
  finds(first + loop);
  fine(first + "st.~.u8 [from+4], %r1;\n" + loop);
}

TEST_F(CarriedValues, ALoopForgetsWhatItCarriedBefore) {
  fine(first + R"(
      mov.u32 %r10, 0;
      L:
      ld.~.v2.u32 {%r2, %r3}, [from];
      st.~.v2.u32 [to], {%r2, %r3};
      st.~.u32 [from+4], 5;
      add.u32 %r10, %r10, 1;
      setp.lt.u32 %p1, %r10, 2;
      @%p1 bra L;
      ld.~.u32 %r4, [to+4];
      add.u32 %r5, %r4, 1;)");
}

}  // namespace
}  // namespace simulator
