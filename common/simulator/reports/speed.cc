#include "common/simulator/reports/speed.h"

#include <cstdio>
#include <mutex>

#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

struct Totals {
  std::mutex mutex;
  uint64_t launches = 0, executed = 0;
  double loading = 0, running = 0, thread_seconds = 0;

  ~Totals() {
    if (!launches || !settings().speed) return;
    const double million = 1e-6 * static_cast<double>(executed);
    std::fprintf(stderr,
                 "simulator: %llu launch%s, %.1f million warp-instructions in %.3f s: %.1f million a second, "
                 "%.1f on each "
                 "CPU thread; %.3f s to load kernels\n",
                 static_cast<unsigned long long>(launches), launches == 1 ? "" : "es", million, running,
                 million / running, million / thread_seconds, loading);
  }
} totals;

}  // namespace

void count_launch(uint64_t executed, double seconds, uint64_t cpu_threads) {
  const std::lock_guard lock(totals.mutex);
  ++totals.launches;
  totals.executed += executed;
  totals.running += seconds;
  totals.thread_seconds += seconds * static_cast<double>(cpu_threads);
}

LoadingTime::~LoadingTime() {
  const std::lock_guard lock(totals.mutex);
  totals.loading += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

}  // namespace simulator
