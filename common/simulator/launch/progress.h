// What a launch that takes long says while it runs, and when it is interrupted.
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/simulator/machine/machine.h"

namespace simulator {

// Of one launch. While it runs Ctrl-C prints where every warp stands, then ends the process as ever; where
// the program has a handler of its own, that is left alone.
class Progress {
 public:
  explicit Progress(const Grid& grid);
  ~Progress();  // passes on an interrupt
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One CPU thread's part.
  class Thread {
   public:
    Thread(Progress& progress, const Worker& worker) : progress_(progress), worker_(worker) {}
    // Between turns of these clusters, the thread's own. True: the launch is interrupted.
    bool step(const std::vector<std::unique_ptr<Cluster>>& clusters) {
      constexpr uint64_t often = 1 << 14;  // warp-instructions
      if (interrupted()) return tell_where(clusters);
      if (worker_.executed - executed_ >= often) look(clusters);
      return false;
    }
    void finished(uint64_t ctas) { progress_.ctas_ += ctas; }
    // Has the launch executed more than SIMULATOR_LIMIT? Throws a Fault then, with where these clusters
    // stand.
    void check_limit(const std::vector<std::unique_ptr<Cluster>>& clusters) const {
      if (progress_.limit_ != 0 && progress_.executed_ > progress_.limit_) limit_reached(clusters);
    }

   private:
    void look(const std::vector<std::unique_ptr<Cluster>>& clusters);
    bool tell_where(const std::vector<std::unique_ptr<Cluster>>& clusters);
    [[noreturn]] void limit_reached(const std::vector<std::unique_ptr<Cluster>>& clusters) const;

    Progress& progress_;
    const Worker& worker_;
    uint64_t executed_ = 0;
    bool told_ = false;
  };

 private:
  using Clock = std::chrono::steady_clock;
  static bool interrupted();
  // True, for one of the threads that ask: it is time to say something.
  static bool due(Clock::time_point now);

  const Grid& grid_;
  const uint64_t limit_;  // warp-instructions; 0: none
  const Clock::time_point begin_ = Clock::now();
  std::atomic<uint64_t> executed_{0}, ctas_{0};
  std::mutex printing_;
  bool handles_interrupts_ = false;
  struct sigaction before_ {};
};

}  // namespace simulator
