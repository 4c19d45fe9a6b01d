// Who only waits: found where that never ends, left alone where it does; what a long launch says.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "common/simulator/tests/execution_fixture.h"

namespace simulator {
namespace {

class Polling : public Execution {
 protected:
  // What one CTA of `threads` and `ctas` in all ends with, in orders of execution of their own.
  void never_ends(const std::string& body, const std::string& line, uint32_t threads = 1, uint32_t ctas = 1) {
    for (uint64_t seed : {0, 3}) {
      settings().seed = seed;
      const Result r = run_ptx(start + body, 64, threads, ctas);
      ASSERT_TRUE(r.end) << seed;
      EXPECT_EQ(r.end->kind, FindingKind::deadlock);
      EXPECT_NE(r.end->details.at(0).find(line), std::string::npos) << r.end->details[0];
    }
  }
  void ends(const std::string& body, uint32_t word, uint32_t threads = 1, uint32_t ctas = 1) {
    for (uint64_t seed : {0, 1, 2, 3}) {
      settings().seed = seed;
      const Result r = run_ptx(start + body, 64, threads, ctas);
      ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
      EXPECT_EQ(r.words[0], word) << seed;
    }
  }
};

// No state comes back, and something happens all the time: that is no deadlock.
TEST_F(Polling, WhatGoesOnForEverEndsAtTheLimit) {
  settings().limit = 1'000'000;
  for (const char* body :
       {"mov.u32 %r2, 0; GO: add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1], %r2; bra GO;",
        "GO: atom.global.add.u32 %r2, [%rd0], 1; bra GO;"}) {
    for (uint64_t seed : {0, 3}) {
      settings().seed = seed;
      const Result r = run_ptx(start + body, 256, 64, 4);
      ASSERT_TRUE(r.end) << seed;
      EXPECT_EQ(r.end->kind, FindingKind::limit);
      EXPECT_NE(
          r.end->what.find("1 million warp-instructions, more than SIMULATOR_LIMIT=1 allows, and 0 of 4"),
          std::string::npos)
          << r.end->what;
      EXPECT_NE(r.end->details.at(0).find("stand at PTX line"), std::string::npos) << r.end->details[0];
    }
  }
  settings().limit = 100'000'000;
  ends(
      "mov.u32 %r2, 0; GO: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100000; @%p1 bra GO; st.global.u32 "
      "[%rd0], %r2;",
      100000);
}

constexpr const char* poll = "ld.volatile.global.u32 %r2, [%rd0+4];\nsetp.eq.u32 %p1, %r2, 0;\n";

TEST_F(Polling, WhoCountsItsTriesWaitsNevertheless) {
  never_ends("mov.u64 %rd2, 0;\nSPIN: " + std::string(poll) +
                 "add.u64 %rd2, %rd2, 1; @%p1 bra SPIN; st.global.u64 [%rd0], %rd2;",
             "spins at PTX line");
}

TEST_F(Polling, WhoCountsInLocalMemoryWaitsNevertheless) {  // as a debug build has it
  never_ends(
      ".local .align 8 .b8 tries[8];\nmov.u64 %rd2, 0; st.local.u64 [tries], %rd2;\nSPIN: " +
          std::string(poll) +
          "ld.local.u64 %rd2, [tries]; add.u64 %rd2, %rd2, 1; st.local.u64 [tries], %rd2; @%p1 bra SPIN;",
      "spins at PTX line");
}

TEST_F(Polling, WhoWatchesAClockWaitsNevertheless) {
  never_ends(
      "SPIN: " + std::string(poll) + "mov.u64 %rd2, %globaltimer; @%p1 bra SPIN; st.global.u64 [%rd0], %rd2;",
      "spins at PTX line");
}

TEST_F(Polling, WhoSleepsForLongerAndLongerWaitsNevertheless) {
  never_ends("mov.u32 %r3, 1;\nSPIN: " + std::string(poll) +
                 "nanosleep.u32 %r3; add.u32 %r3, %r3, 1; @%p1 bra SPIN;",
             "at PTX line");
}

TEST_F(Polling, OthersThatWaitForThoseAreNotBlamed) {
  // Warp 1 waits at the barrier for warp 0, which waits for memory: that comes first.
  never_ends("mov.u32 %r3, 0; setp.ge.u32 %p2, %r1, 32; @%p2 bra JOIN;\nSPIN: " + std::string(poll) +
                 "add.u32 %r3, %r3, 1; @%p1 bra SPIN;\nJOIN: bar.sync 0; st.global.u32 [%rd1], %r3;",
             "warp 0, lanes 0-31 spin", 64);
}

TEST_F(Polling, AThousandSleepsAreNoDeadlock) {
  std::string sleeps;
  for (int i = 0; i < 1000; ++i) sleeps += "nanosleep.u32 10;\n";
  ends("setp.ge.u32 %p2, %r1, 32; @%p2 bra JOIN;\n" + sleeps +
           "st.global.u32 [%rd0], 7;\nJOIN: bar.sync 0; ld.global.u32 %r3, [%rd0]; add.u32 %r3, %r3, 1;"
           "setp.eq.u32 %p3, %r1, 63; @%p3 st.global.u32 [%rd0], %r3;",
       8, 64);
}

TEST_F(Polling, WhoGivesUpAfterAMillionTriesMay) {
  ends("mov.u32 %r3, 0;\nSPIN: " + std::string(poll) +
           "add.u32 %r3, %r3, 1; setp.lt.and.u32 %p2, %r3, 1000000, %p1; @%p2 bra SPIN; st.global.u32 "
           "[%rd0], %r3;",
       1'000'000);
}

TEST_F(Polling, ATimeOfHoursPassesAtOnce) {
  ends("mov.u64 %rd2, %globaltimer; add.u64 %rd2, %rd2, 100000000000;\nSPIN: " + std::string(poll) +
           "mov.u64 %rd3, %globaltimer; setp.lt.and.u64 %p2, %rd3, %rd2, %p1; @%p2 bra SPIN; st.global.u32 "
           "[%rd0], 9;",
       9);
}

TEST_F(Polling, WhoWaitsForATimeAloneIsThroughAtOnce) {
  for (const char* clock : {"%clock64", "%globaltimer"}) {
    ends("mov.u64 %rd2, " + std::string(clock) + "; add.u64 %rd2, %rd2, 100000000000;\nSPIN: mov.u64 %rd3, " +
             clock + "; setp.lt.u64 %p2, %rd3, %rd2; @%p2 bra SPIN; st.global.u32 [%rd0], 9;",
         9);
  }
  ends(
      "mov.u32 %r2, %clock;\nSPIN: mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2; setp.lt.u32 %p2, %r3, "
      "2000000000;"
      "@%p2 bra SPIN; st.global.u32 [%rd0], 9;",
      9);
}

TEST_F(Polling, TwoReadingsOfAClockMeasure) {  // no leap lies between
  const Result r = run_ptx(start + R"(
    mov.u32 %r3, 0;
    mov.u32 %r6, 0;
    LOOP: mov.u32 %r4, %clock;
    mov.u32 %r5, %clock;
    sub.u32 %r5, %r5, %r4;
    max.u32 %r6, %r6, %r5;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 1000000;
    @%p1 bra LOOP;
    st.global.u32 [%rd0], %r6;)",
                           1, 1);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_LT(r.words[0], 1000u);
}

TEST_F(Polling, WhoComputesForLongDoesNotWait) {  // beside one that polls for it
  settings().seed = 0;
  const Result r = run_ptx(start + R"(
    mov.u32 %r3, 0;
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra SPIN;
    LOOP: add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 10000000;
    @%p1 bra LOOP;
    st.volatile.global.u32 [%rd0+4], %r3;
    bra DONE;
    SPIN: add.u32 %r3, %r3, 1;
    ld.volatile.global.u32 %r2, [%rd0+4];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra SPIN;
    DONE:)",
                           64, 64);
  ASSERT_FALSE(r.end) << r.end->what;
  EXPECT_EQ(r.words[1], 10'000'000u);
}

// ---- The order of CTAs

class OrderOfCtas : public Execution {
 protected:
  // Which CTA came first, second, …
  std::vector<uint32_t> order(uint32_t ctas) {
    Result r = run_ptx(start + R"(
      atom.global.add.u32 %r2, [%rd0], 1;
      mov.u32 %r3, %ctaid.x;
      mul.wide.u32 %rd2, %r2, 4;
      add.s64 %rd2, %rd0, %rd2;
      st.global.u32 [%rd2+4], %r3;)",
                       ctas + 1, 1, ctas);
    EXPECT_FALSE(r.end);
    return {r.words.begin() + 1, r.words.end()};
  }
};

TEST_F(OrderOfCtas, FollowsTheSeed) {
  for (uint32_t ctas : {2u, 7u, 64u, 5000u}) {
    std::vector<uint32_t> ascending(ctas);
    std::iota(ascending.begin(), ascending.end(), 0);
    settings().seed = 0;
    EXPECT_EQ(order(ctas), ascending);
    uint32_t others = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      settings().seed = seed;
      std::vector<uint32_t> came = order(ctas);
      others += came != ascending;
      std::sort(came.begin(), came.end());
      EXPECT_EQ(came, ascending) << "each one once, with seed " << seed;
    }
    EXPECT_GE(others, 5u) << ctas;
  }
}

TEST_F(OrderOfCtas, LeavesThoseThatWaitForTheOneBeforeThemAWay) {
  // More CTAs than run at once: each waits for the one with the index below its own.
  for (uint64_t seed : {0, 1, 2, 3}) {
    settings().seed = seed;
    const Result r = run_ptx(start + R"(
      mov.u32 %r3, %ctaid.x;
      mul.wide.u32 %rd2, %r3, 4;
      add.s64 %rd2, %rd0, %rd2;
      SPIN: ld.acquire.gpu.global.u32 %r2, [%rd2];
      setp.eq.u32 %p1, %r2, 0;
      setp.ne.and.u32 %p2, %r3, 0, %p1;
      @%p2 bra SPIN;
      st.release.gpu.global.u32 [%rd2+4], 1;)",
                             6001, 1, 6000);
    ASSERT_FALSE(r.end) << "seed " << seed << ": " << r.end->what;
    EXPECT_EQ(r.words[6000], 1u);
  }
}

// ---- What a long launch says

// Counts in global memory, for ever: no deadlock.
const std::string endless = start + R"(
    LOOP: atom.global.add.u32 %r2, [%rd0], 1;
    setp.lt.u32 %p1, %r2, 4000000000;
    @%p1 bra LOOP;)";

class LongLaunch : public Execution {};

TEST_F(LongLaunch, SaysHowFarItIsWhereThatIsAskedFor) {
  settings().heartbeat = 0.01;
  testing::internal::CaptureStderr();
  const Result r = run_ptx(start + R"(
    LOOP: atom.global.add.u32 %r2, [%rd0], 1;
    setp.lt.u32 %p1, %r2, 30000000;
    @%p1 bra LOOP;)",
                           1, 32, 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(r.end);
  EXPECT_NE(said.find("k has run for 0 s: 0 million warp-instructions, 0 of 2 CTAs are done; CTA ("),
            std::string::npos)
      << said;
}

TEST_F(LongLaunch, ManyShortOnesSaySoTogether) {
  settings().heartbeat = 0.05;
  testing::internal::CaptureStderr();
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300))
    EXPECT_FALSE(run_ptx(start + "st.global.u32 [%rd1], 5;", 64, 64).end);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find(" launches in 0 s, the last of k\n"), std::string::npos) << said;
}

TEST_F(LongLaunch, InterruptedSaysWhereItStands) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        std::thread([] {
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          kill(getpid(), SIGINT);
        }).detach();
        run_ptx(endless, 1, 64, 2);
      },
      testing::KilledBySignal(SIGINT),
      "k was interrupted\nsimulator:   CTA \\(.,0,0\\) warps? .*, lanes 0-31 stand at PTX line");
}

TEST_F(LongLaunch, LeavesAProgramsOwnHandlerAlone) {
  static volatile sig_atomic_t called = 0;
  struct sigaction own {
  }, before{};
  own.sa_handler = [](int) { called = 1; };
  sigaction(SIGINT, &own, &before);
  std::thread interrupts([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(getpid(), SIGINT);
  });
  for (int i = 0; i < 1000 && !called; ++i)
    EXPECT_FALSE(run_ptx(start + "st.global.u32 [%rd1], 5;", 64, 64).end);
  interrupts.join();
  sigaction(SIGINT, &before, nullptr);
  EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace simulator
