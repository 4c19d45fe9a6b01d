// mbarrier objects that end, and are initialised again: what belongs to the object before counts in no other.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/tests/tcgen05_mma_fixture.h"

namespace simulator {
namespace {

class MbarrierLifeTest : public Tcgen05MmaTest {
 protected:
  static inline const std::string init = "@%p2 mbarrier.init.shared::cta.b64 [bar], 1;\n";
  static inline const std::string inval = "@%p2 mbarrier.inval.shared::cta.b64 [bar];\n";
  static inline const std::string arrive = "@%p2 mbarrier.arrive.shared::cta.b64 _, [bar];\n";
  static std::string wait_for(const std::string& label, int phase) {
    return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar], " + std::to_string(phase) +
           ";\n@!%p6 bra " + label + ";\n";
  }
  static inline const std::string object =
      ".shared .align 8 .b64 bar;\n" + start + "setp.eq.u32 %p2, %r1, 0;\n";
};

TEST_F(MbarrierLifeTest, AnObjectIsInvalidatedBeforeTheNextOne) {
  finds(FindingKind::illegal_instruction, "is initialised once more, with no mbarrier.inval before this",
        object + init + barrier + arrive + wait_for("A", 0) + barrier + init + barrier);
  settings().seed = 0;
  const Result sound = run_body(object + init + barrier + arrive + wait_for("A", 0) + barrier + inval + init +
                                barrier + arrive + wait_for("B", 0));
  EXPECT_FALSE(sound.end) << sound.end->what;
  // All lanes of an instruction write the same object.
  const Result lanes = run_body(object + "mbarrier.init.shared::cta.b64 [bar], 1;\n");
  EXPECT_TRUE(lanes.end) << "warps 1 to 3 have initialised it again";
  EXPECT_FALSE(
      run_body(object + "setp.lt.u32 %p1, %r1, 32;\n@%p1 mbarrier.init.shared::cta.b64 [bar], 1;\n").end);
}

// The commit's arrival is for the object before: with nothing to complete the new one's phase, no thread
// passes.
TEST_F(MbarrierLifeTest, ALateCommitDoesNotCountInTheNextObject) {
  const std::string late = fill() + ready + mma() + commit + barrier + inval + init + barrier;
  settings().seed = 0;
  const Result found = run_body(late + wait_for("A", 0) + done);
  ASSERT_TRUE(found.end);
  EXPECT_EQ(found.end->kind, FindingKind::illegal_instruction) << found.end->what;
  EXPECT_NE(found.end->what.find("a tcgen05.commit arrives at the mbarrier bar (0x"), std::string::npos)
      << found.end->what;
  EXPECT_NE(found.end->what.find("after that was initialised once more"), std::string::npos)
      << found.end->what;
  settings().checks = Checks::off;
  const Result hangs = run_body(late + wait_for("A", 0) + done);
  ASSERT_TRUE(hangs.end);
  EXPECT_EQ(hangs.end->kind, FindingKind::deadlock) << hangs.end->what;
}

TEST_F(MbarrierLifeTest, ALateCopyDoesNotCountInTheNextObject) {
  const std::string copy =
      ".shared .align 16 .b8 s[64];\n" + object + init +
      "fence.proxy.async.shared::cta;\nst.global.u32 [%rd1], 7;\n" + barrier +
      "mov.u32 %r2, s;\n@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
      "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 64, [bar];\n";
  EXPECT_FALSE(run_body(copy + wait_for("A", 0)).end);
  const Result found = run_body(copy + inval + init + barrier + wait_for("A", 0));
  ASSERT_TRUE(found.end);
  EXPECT_NE(found.end->what.find("a copy arrives at the mbarrier bar (0x"), std::string::npos)
      << found.end->what;
}

TEST_F(MbarrierLifeTest, ALateArrivalOfCopiesDoesNotCountInTheNextObject) {
  const std::string copy = ".shared .align 16 .b8 s[64];\n" + object + init + "st.global.u32 [%rd1], 7;\n" +
                           barrier +
                           "mov.u32 %r2, s;\n@%p2 cp.async.ca.shared.global [%r2], [%rd0], 4;\n"
                           "@%p2 cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n";
  EXPECT_FALSE(run_body(copy + wait_for("A", 0)).end);
  const Result found = run_body(copy + inval + init + barrier + wait_for("A", 0));
  ASSERT_TRUE(found.end);
  EXPECT_NE(found.end->what.find("a cp.async arrives at the mbarrier"), std::string::npos) << found.end->what;
}

// Warps 1 to 3 complete two phases before warp 0 waits, for one of the same parity.
TEST_F(MbarrierLifeTest, AMissedPhaseIsNamed) {
  settings().seed = 0;
  const Result r =
      run_body(object + "@%p2 mbarrier.init.shared::cta.b64 [bar], 1;\n" + barrier + arrive +
               wait_for("A", 0) + barrier + arrive + barrier + arrive + barrier + wait_for("B", 1));
  ASSERT_TRUE(r.end);
  EXPECT_EQ(r.end->kind, FindingKind::deadlock);
  std::string all;
  for (const std::string& detail : r.end->details) all += detail + "\n";
  EXPECT_NE(all.find("warp 0 waits for phase 1, which has passed"), std::string::npos) << all;
}

}  // namespace
}  // namespace simulator
