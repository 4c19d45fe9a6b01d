#include "common/simulator/launch/progress.h"

#include <cstdio>
#include <limits>
#include <string>

#include "common/simulator/launch/standing.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

volatile sig_atomic_t caught = 0;

void on_interrupt(int) {
  caught = 1;
}

std::chrono::steady_clock::duration period() {
  using Seconds = std::chrono::duration<double>;
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(settings().heartbeat));
}

std::string millions(uint64_t number) {
  return std::to_string(number / 1'000'000) + " million";
}

}  // namespace

bool Progress::interrupted() {
  return caught != 0;
}

Progress::Progress(const Grid& grid) : grid_(grid), next_(std::numeric_limits<Clock::rep>::max()) {
  if (settings().heartbeat > 0) next_ = (begin_ + period()).time_since_epoch().count();
  struct sigaction ours {};
  ours.sa_handler = on_interrupt;
  ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // a second one ends the process at once
  sigemptyset(&ours.sa_mask);
  handles_interrupts_ = sigaction(SIGINT, nullptr, &before_) == 0 && (before_.sa_flags & SA_SIGINFO) == 0 &&
                        before_.sa_handler == SIG_DFL && sigaction(SIGINT, &ours, nullptr) == 0;
}

Progress::~Progress() {
  if (!handles_interrupts_) return;
  sigaction(SIGINT, &before_, nullptr);
  if (interrupted()) raise(SIGINT);
}

void Progress::Thread::look(const std::vector<std::unique_ptr<Cluster>>& clusters) {
  const uint64_t executed = progress_.executed_ += worker_.executed - executed_;
  executed_ = worker_.executed;
  const auto now = Clock::now();
  Clock::rep due = progress_.next_;
  if (now.time_since_epoch().count() < due) return;
  const auto next = now + period();
  if (!progress_.next_.compare_exchange_strong(due, next.time_since_epoch().count())) return;
  const Standing standing = where_warps_stand(clusters, "stand");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - progress_.begin_).count();
  const std::string text = "simulator: " + progress_.grid_.kernel->shown + " has run for " +
                           std::to_string(seconds) + " s: " + millions(executed) + " warp-instructions, " +
                           std::to_string(progress_.ctas_) + " of " + std::to_string(progress_.grid_.ctas) +
                           " CTAs are done" +
                           (standing.places.empty() ? "" : "; " + standing.lines(1).front()) + "\n";
  const std::lock_guard lock(progress_.printing_);
  std::fputs(text.c_str(), stderr);
}

bool Progress::Thread::tell_where(const std::vector<std::unique_ptr<Cluster>>& clusters) {
  if (std::exchange(told_, true)) return true;
  constexpr size_t most_lines = 200;
  const std::lock_guard lock(progress_.printing_);
  std::fprintf(stderr, "simulator: %s was interrupted\n", progress_.grid_.kernel->shown.c_str());
  for (const std::string& line : where_warps_stand(clusters, "stand").lines(most_lines))
    std::fprintf(stderr, "simulator:   %s\n", line.c_str());
  return true;
}

}  // namespace simulator
