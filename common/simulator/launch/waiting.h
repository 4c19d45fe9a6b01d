// For how long has nothing happened but waiting?
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/simulator/machine/machine.h"

namespace simulator {

// Warps that poll look busy. deadlock.h finds those that come back to the very state they were in; here are
// those that count their tries, watch a clock, or sleep for longer and longer.
class Waiting {
 public:
  // To be asked every now and then: has each warp that can go on read, time after time, what has not changed,
  // and has nothing else happened for so long that nothing will? Until then a clock advances in leaps, so
  // that warps which wait for a time are through.
  bool too_long(const Worker& worker, const std::vector<std::unique_ptr<Cluster>>& clusters) {
    constexpr uint64_t often = 1 << 20;  // warp-instructions
    if (worker.executed - looked_ < often) return false;
    looked_ = worker.executed;
    return look(worker, clusters);
  }

 private:
  bool look(const Worker& worker, const std::vector<std::unique_ptr<Cluster>>& clusters);

  // Since something happened. Some programs give up after a million tries, of a few instructions each.
  struct Enough {
    uint64_t polls;            // of each warp that does
    uint64_t of_each, of_all;  // warp-instructions: for each of them, and together at most
  };
  static constexpr Enough enough[] = {{2'000'000, 0, 0},
                                      {100'000, 40'000'000, 256'000'000},  // long tries: a debug build's
                                      {1000, 1'000'000'000, 1'000'000'000}};
  // Cycles. Odd, so that a clock of 32 bits advances as well.
  static constexpr uint64_t first_leap = (1 << 20) + 1, last_leap = 1ull << 44, leap_growth = 17;

  uint64_t happened_ = 0;            // as Worker counts
  uint64_t since_ = 0, looked_ = 0;  // warp-instructions
  uint64_t leap_ = first_leap;
};

}  // namespace simulator
