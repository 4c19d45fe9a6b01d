// Loads made ahead of the choice that they are made for: only the lanes that were to load read anything, as
// far as the checks go.
#include "common/simulator/program/speculation.h"

#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/execution_fixture.h"
#include "common/simulator/tests/ptx_fixture.h"

namespace simulator::speculation {
namespace {

// Of the first load in the body: the predicate's name, "!" in front where it must be false; "all" where every
// lane loads.
std::string choice(const std::string& body) {
  const ptx::Kernel kernel(ptx::kRegisters + body);
  size_t load = 0;
  while (kernel.at(load).opcode != "ld") ++load;
  const auto found = Speculation(kernel.function).of(load);
  if (!found) return "all";
  return (found->when ? "" : "!") + std::string(kernel.name(*found->predicate));
}
const std::string compare = "setp.gt.s32 %p1, %r1, 5; ", load = "ld.local.u32 %r2, [%rd1]; ";

TEST(Speculation, OfASelection) {
  EXPECT_EQ(choice(compare + load + "selp.b32 %r3, %r2, -1, %p1;"), "%p1");
  EXPECT_EQ(choice(compare + load + "selp.b32 %r3, -1, %r2, %p1;"), "!%p1");
  EXPECT_EQ(choice(compare + load + "selp.b32 %r3, %r2, -1, !%p1;"), "!%p1");
  EXPECT_EQ(choice(compare + load + "mad.lo.s32 %r3, %r2, 3, 1; selp.b32 %r4, 0, %r3, %p1;"), "!%p1");
  EXPECT_EQ(choice(compare + load +
                   "add.s32 %r5, %r1, 1; cvt.rn.f32.s32 %f1, %r2; selp.f32 %f2, %f1, 0f00000000, %p1;"),
            "%p1");
}

TEST(Speculation, OfAConjunction) {
  EXPECT_EQ(choice(compare + load + "setp.lt.s32 %p2, %r2, 8; and.pred %p3, %p1, %p2;"), "%p1");
  EXPECT_EQ(choice(compare + load + "setp.lt.s32 %p2, %r2, 8; or.pred %p3, %p2, %p1;"), "!%p1");
}

TEST(Speculation, OfACondition) {
  const std::string condition = "setp.eq.s32 %p2, %r2, 9; selp.u32 %r3, -1, 0, %p2; ";
  EXPECT_EQ(choice(compare + load + condition + "selp.b32 %r4, %r5, %r3, %p1;"), "!%p1");
  EXPECT_EQ(choice(compare + load + condition + "st.global.u32 [%rd2], %r3;"), "all") << "stored";
}

TEST(Speculation, NotWhereTheValueIsUsedOtherwise) {
  EXPECT_EQ(choice(compare + load + "selp.b32 %r3, %r2, -1, %p1; add.s32 %r4, %r2, 1;"), "all") << "twice";
  EXPECT_EQ(choice(compare + load + "st.global.u32 [%rd2], %r2; selp.b32 %r3, 1, -1, %p1;"), "all")
      << "stored";
  EXPECT_EQ(choice(compare + load + "selp.b32 %r3, %r2, %r2, %p1;"), "all") << "either way";
  EXPECT_EQ(choice(compare + load + "L: selp.b32 %r3, %r2, -1, %p1;"), "all") << "a label between";
  EXPECT_EQ(choice(compare + load + "@%p2 bra L; selp.b32 %r3, %r2, -1, %p1; L: ret;"), "all")
      << "a branch between";
  EXPECT_EQ(choice(compare + load + "@%p2 selp.b32 %r3, %r2, -1, %p1;"), "all") << "guarded";
  EXPECT_EQ(choice(compare + "@%p2 " + load + "selp.b32 %r3, %r2, -1, %p1;"), "all") << "a guarded load";
  EXPECT_EQ(choice(load + compare + "selp.b32 %r3, %r2, -1, %p1;"), "all") << "not known yet";
  EXPECT_EQ(choice(load + "setp.gt.s32 %p1, %r2, 5; selp.b32 %r3, 1, -1, %p1;"), "all")
      << "is the choice itself";
}

// Lanes below 16 write their word of local memory, or of shared memory; the others choose 7.
std::string program(const std::string& space, const std::string& choose) {
  return "." + space + " .align 16 .b8 place[128];\n" + start + R"(
    mov.u64 %rd2, place;
    add.s64 %rd2, %rd2, )" +
         (space == "shared" ? "%rd5" : "0") + R"(;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 st.)" +
         space + R"(.u32 [%rd2], %r1;
    ld.)" +
         space + R"(.u32 %r2, [%rd2];
    )" + choose +
         R"(
    st.global.u32 [%rd1], %r3;)";
}
std::string offsets(std::string text) {  // %rd5: 4 · thread
  return text.insert(text.find("mov.u64 %rd2"), "mul.wide.u32 %rd5, %r1, 4;\n");
}

class SpeculativeLoad : public Execution {
 protected:
  Result run_program(const std::string& space, const std::string& choose) {
    return run_ptx(offsets(program(space, choose)), 32, 32);
  }
};

TEST_F(SpeculativeLoad, OfLanesThatDoNotWantItIsNoFinding) {
  for (const std::string space : {"local", "shared"}) {
    const Result r = run_program(space, "selp.b32 %r3, %r2, 7, %p1;");
    ASSERT_FALSE(r.end) << r.end->what;
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(r.words[i], i < 16 ? i : 7) << space << i;
  }
}

TEST_F(SpeculativeLoad, OfLanesThatWantItIsAFinding) {
  for (const std::string space : {"local", "shared"}) {
    for (const std::string choose : {"selp.b32 %r3, 7, %r2, %p1;", "mov.u32 %r3, %r2;"}) {
      const Result r = run_program(space, choose);
      ASSERT_TRUE(r.end) << space << choose;
      EXPECT_EQ(r.end->kind, FindingKind::uninitialised);
      EXPECT_EQ(r.end->site.thread[0], 16u);
    }
  }
}

// An exchange whose result is not read is how some programs write a first value.
TEST_F(SpeculativeLoad, AnExchangeMayWriteWhatWasNeverWritten) {
  const std::string place = ".shared .align 16 .b8 place[128];\n" + start;
  const std::string reading = "ld.shared.u32 %r3, [place]; st.global.u32 [%rd1], %r3;";
  const Result unused =
      run_ptx(place + "atom.shared.exch.b32 %r2, [place], 5;\nbar.sync 0;\n" + reading, 32, 32);
  ASSERT_FALSE(unused.end) << unused.end->what;
  EXPECT_EQ(unused.words[31], 5u);
  const Result used =
      run_ptx(place + "atom.shared.exch.b32 %r2, [place], 5;\nst.global.u32 [%rd1], %r2;", 32, 32);
  ASSERT_TRUE(used.end);
  EXPECT_EQ(used.end->kind, FindingKind::uninitialised);
  EXPECT_TRUE(run_ptx(place + "atom.shared.add.u32 %r2, [place], 5;\nbar.sync 0;\n" + reading, 32, 32).end);
}

}  // namespace
}  // namespace simulator::speculation
