// What is counted beside waits, products, loads and barriers: units/overlap.h.
#include <gtest/gtest.h>

#include <string>

#include "common/simulator/simulator.h"
#include "common/simulator/tests/execution_fixture.h"

namespace simulator::overlap_test {
namespace {

class Overlapping : public Execution {
 protected:
  KernelCounts counts(const std::string& body, uint32_t threads = 32) {
    reset_counters();
    const Result r =
        run_ptx(".shared .align 16 .b8 s[4096];\n" + start + "mov.u32 %r3, s;\n" + body, 256, threads);
    EXPECT_FALSE(r.end) << r.end->what;
    return read_counters().at(0);
  }
};

const std::string copy = "cp.async.ca.shared.global [%r3], [%rd1], 4;\ncp.async.commit_group;\n";

void expect(const Occasions& of, uint64_t times, uint64_t none, uint64_t counted, uint64_t sum,
            uint64_t least) {
  EXPECT_EQ(of.times, times);
  EXPECT_EQ(of.none, none);
  EXPECT_EQ(of.counted, counted);
  EXPECT_EQ(of.sum, sum);
  if (counted) {
    EXPECT_EQ(of.least, least);
  }
}

TEST_F(Overlapping, AWaitCountsWhatItLeavesWhereMoreCopiesFollow) {
  settings().checks = Checks::off;
  const std::string two = "cp.async.wait_group 2;\n";
  expect(counts(copy + copy + copy + two + copy + two + copy + "cp.async.wait_group 0;\ncp.async.wait_all;\n")
             .async_wait.memory,
         4, 1, 2, 4, 2);
  // One that leaves none, in the middle.
  expect(counts(copy + copy + two + "cp.async.wait_group 0;\n" + copy + "cp.async.wait_group 0;\n")
             .async_wait.memory,
         3, 0, 2, 2, 0);
  // A group without a copy is none.
  expect(counts(copy + "cp.async.commit_group;\ncp.async.commit_group;\n" + two + copy +
                "cp.async.wait_group 0;\n")
             .async_wait.memory,
         2, 0, 1, 0, 0);
}

TEST_F(Overlapping, GroupsOfCopiesBesideAProduct) {
  settings().checks = Checks::off;
  const std::string mma =
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r4, %r5, %r6, %r7}, {%r8, "
      "%r9}, {%f1, %f2, %f3, %f4};\n";
  const KernelCounts k = counts(copy + copy + mma + mma + "cp.async.wait_group 1;\n" + mma + copy +
                                "cp.async.wait_group 0;\n" + mma);
  expect(k.mma.memory, 4, 0, 3, 5, 1);
}

TEST_F(Overlapping, ArithmeticBetweenALoadAndItsFirstUse) {
  const std::string three =
      "fma.rn.f32 %f5, %f6, %f7, %f5;\nadd.f32 %f5, %f5, %f6;\nmul.f32 %f7, %f7, %f6;\n";
  const std::string load = "st.global.u32 [%rd1], %r1;\nld.global.v2.u32 {%r4, %r5}, [%rd0];\n";
  const auto used = [&](const std::string& body) { return counts(load + body).global_use.math; };
  expect(used("add.u32 %r6, %r4, 1;\n" + three), 1, 1, 1, 0, 0);
  expect(used(three + "add.u32 %r6, %r5, 1;\n"), 1, 0, 1, 3, 3);
  expect(used(three + three + "add.u32 %r6, %r4, 1;\n" + three + "add.u32 %r6, %r5, 1;\n"), 1, 0, 1, 6, 6);
  // A move is no use, but what it moves to is the same value; integers are no arithmetic here.
  expect(used("mov.u32 %r6, %r4;\n" + three + "add.u32 %r4, %r1, 1;\nadd.u32 %r7, %r6, 1;\n"), 1, 0, 1, 3, 3);
  expect(used(three), 0, 0, 0, 0, 0);
  // Every warp by itself.
  expect(counts(load + three + "add.u32 %r6, %r4, 1;\n", 96).global_use.math, 3, 0, 3, 9, 3);
}

TEST_F(Overlapping, EveryBarrierOfTheCtaIsOne) {
  const std::string barriers =
      "bar.sync 0;\nbarrier.sync 0;\nbarrier.cta.sync 0;\nbar.sync 1, 64;\nbarrier.sync 2, 64;\nbar.arrive "
      "3, 96;\n"
      "setp.eq.u32 %p1, %r1, 0;\nbar.red.or.pred %p2, 0, %p1;\nbarrier.red.popc.u32 %r4, 0, %p1;\n";
  EXPECT_EQ(counts(barriers, 64).barrier.math.times, 16u);
  EXPECT_EQ(
      counts("bar.warp.sync -1;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n", 64).barrier.math.times,
      0u);
}

TEST_F(Overlapping, ArithmeticBetweenABarrierAndTheFirstRead) {
  const std::string fma = "fma.rn.f32 %f5, %f6, %f7, %f5;\n", read = "ld.shared.u32 %r4, [%r3];\n";
  const KernelCounts k = counts("st.shared.u32 [%r3], 1;\nbar.sync 0;\n" + fma + fma + read + fma + read +
                                "bar.sync 0;\n" + read + "bar.sync 0;\n" + fma);
  expect(k.barrier.math, 3, 0, 2, 2, 0);
}

}  // namespace
}  // namespace simulator::overlap_test
