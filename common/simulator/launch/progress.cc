#include "common/simulator/launch/progress.h"

#include <cstdio>
#include <string>

#include "common/simulator/launch/standing.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

volatile sig_atomic_t caught = 0;

// Launches that follow one another count as one: a program of thousands says something, too.
struct Heartbeat {
  std::chrono::steady_clock::time_point since;  // that something was said, or the first launch began
  std::atomic<std::chrono::steady_clock::rep> due{0};
  uint64_t launches = 0;  // since then
  std::chrono::steady_clock::time_point ended;
} heartbeat;

void on_interrupt(int) {
  caught = 1;
}

std::chrono::steady_clock::duration period() {
  using Seconds = std::chrono::duration<double>;
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(settings().heartbeat));
}

std::string launches(std::chrono::steady_clock::time_point now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - heartbeat.since).count();
  return std::to_string(heartbeat.launches) + (heartbeat.launches == 1 ? " launch" : " launches") + " in " +
         std::to_string(seconds) + " s";
}

constexpr uint64_t million = 1'000'000;
std::string millions(uint64_t number) {
  return std::to_string(number / million) + " million";
}

}  // namespace

bool Progress::interrupted() {
  return caught != 0;
}

bool Progress::due(Clock::time_point now) {
  Clock::rep due = heartbeat.due;
  return settings().heartbeat > 0 && now.time_since_epoch().count() >= due &&
         heartbeat.due.compare_exchange_strong(due, (now + period()).time_since_epoch().count());
}

Progress::Progress(const Grid& grid) : grid_(grid), limit_(settings().limit) {
  if (heartbeat.launches == 0 || begin_ - heartbeat.ended >= std::chrono::seconds(1)) {
    heartbeat.since = begin_;
    heartbeat.due = (begin_ + period()).time_since_epoch().count();
    heartbeat.launches = 0;
  }
  ++heartbeat.launches;
  struct sigaction ours {};
  ours.sa_handler = on_interrupt;
  ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // a second one ends the process at once
  sigemptyset(&ours.sa_mask);
  handles_interrupts_ = sigaction(SIGINT, nullptr, &before_) == 0 && (before_.sa_flags & SA_SIGINFO) == 0 &&
                        before_.sa_handler == SIG_DFL && sigaction(SIGINT, &ours, nullptr) == 0;
}

Progress::~Progress() {
  heartbeat.ended = Clock::now();
  if (due(heartbeat.ended)) {
    std::fprintf(stderr, "simulator: %s, the last of %s\n", launches(heartbeat.ended).c_str(),
                 grid_.kernel->shown.c_str());
    heartbeat.since = heartbeat.ended;
    heartbeat.launches = 0;
  }
  if (!handles_interrupts_) return;
  sigaction(SIGINT, &before_, nullptr);
  if (interrupted()) raise(SIGINT);
}

void Progress::Thread::look(const std::vector<std::unique_ptr<Cluster>>& clusters) {
  const uint64_t executed = progress_.executed_ += worker_.executed - executed_;
  executed_ = worker_.executed;
  const auto now = Clock::now();
  if (!due(now)) return;
  const std::lock_guard lock(progress_.printing_);
  const Standing standing = where_warps_stand(clusters, "stand");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - progress_.begin_).count();
  const std::string before = heartbeat.launches > 1 ? launches(now) + "; " : "";
  const std::string text = "simulator: " + before + progress_.grid_.kernel->shown + " has run for " +
                           std::to_string(seconds) + " s: " + millions(executed) + " warp-instructions, " +
                           std::to_string(progress_.ctas_) + " of " + std::to_string(progress_.grid_.ctas) +
                           " CTAs are done" +
                           (standing.places.empty() ? "" : "; " + standing.lines(1).front()) + "\n";
  std::fputs(text.c_str(), stderr);
  heartbeat.since = now;
  heartbeat.launches = 1;
}

void Progress::Thread::limit_reached(const std::vector<std::unique_ptr<Cluster>>& clusters) const {
  constexpr size_t most_lines = 24;
  Standing standing = where_warps_stand(clusters, "stand");
  standing.most_warps_first();
  Finding finding{FindingKind::limit, {}, standing.lines(most_lines), standing.site()};
  finding.what =
      "the launch has executed " + millions(progress_.executed_) +
      " warp-instructions, more than SIMULATOR_LIMIT=" + std::to_string(progress_.limit_ / million) +
      " allows, and " + std::to_string(progress_.ctas_) + " of " + std::to_string(progress_.grid_.ctas) +
      " CTAs are done";
  throw Fault(std::move(finding));
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
