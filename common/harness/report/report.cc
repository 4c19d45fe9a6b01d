#include "common/harness/report/report.h"

#include <algorithm>
#include <cctype>

#include "common/harness/base/format.h"

namespace ladder {
namespace {

std::string time_text(double us) {
  if (us < 1000) return format("%.4g us", us);
  if (us < 1e6) return format("%.4g ms", us / 1e3);
  return format("%.4g s", us / 1e6);
}

// Four significant digits, at most six characters wide.
std::string short_figure(double value) {
  if (value >= 1000) return format("%.0f", value);
  if (value >= 0.001) return format("%.*f", value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4, value);
  return format("%.0e", value);
}

std::string with_unit(double value, const std::string& unit) {
  return format("%6s %-6s", short_figure(value).c_str(), unit.c_str());
}

std::string per_request(const AccessCounts& counts) {
  return counts.requests > 0 ? format("%.2f", counts.sectors_per_request()) : "-";
}

// The columns of a row on the simulator.
std::string count_columns(const std::optional<Counters>& counters) {
  std::string instructions = "-", requests = "-", load = "-", store = "-", ideal = "-", excess = "-";
  if (counters) {
    instructions = std::to_string(counters->instructions);
    AccessCounts loads = counters->global_load;
    loads += counters->async_copy;
    requests = std::to_string(loads.requests + counters->global_store.requests);
    load = per_request(loads);
    store = per_request(counters->global_store);
    if (counters->wavefronts() > 0) {
      ideal = std::to_string(counters->ideal_wavefronts());
      excess = std::to_string(counters->wavefronts() - counters->ideal_wavefronts());
    }
  }
  return format("%12s %9s %7s %7s %10s %9s", instructions.c_str(), requests.c_str(), load.c_str(),
                store.c_str(), ideal.c_str(), excess.c_str());
}

}  // namespace

void add_system(JsonObject& object, const System& system) {
  object.field("device", system.device);
  if (!system.driver.empty()) object.field("driver", system.driver);
  object.field("cuda", system.cuda);
  if (!system.cublas.empty()) object.field("cublas", system.cublas);
  object.field("revision", system.revision);
  if (!system.checks.empty()) object.field("checks", system.checks);
  if (system.schedule_seed) object.field("schedule_seed", *system.schedule_seed);
}

void add_card_state(JsonObject& object, const CardState& card) {
  object.field("sm_clock_mhz", card.sm_clock_mhz)
      .field("power_w", card.power_w)
      .field("throttle", card.throttle);
}

std::string system_text(const System& m, DeviceKind device) {
  if (device == DeviceKind::gpu)
    return m.device + ", driver " + m.driver + ", CUDA " + m.cuda + ", cuBLAS " + m.cublas;
  const std::string checks = m.checks == "fail"     ? "a finding ends the run"
                             : m.checks == "report" ? "findings are reported"
                                                    : "checks are off";
  return m.device + ", CUDA " + m.cuda + ", schedule seed " + std::to_string(m.schedule_seed.value_or(0)) +
         ", " + checks + ": simulated, so verified and counted, but not timed";
}

std::size_t fastest_baseline(const Measurement& measurement) {
  const auto& timings = measurement.timings;
  std::size_t best = 0;
  for (std::size_t i = 1; i < timings.size(); ++i)
    if (best == 0 || timings[i].median_us < timings[best].median_us) best = i;
  return best;
}

std::string table_header(const char* problem, const char* rival, DeviceKind device) {
  if (device == DeviceKind::simulator)
    return format("%61s %12s %9s %15s %20s\n", "", "", "global", "sectors/request", "shared wavefronts") +
           format("%-20s %-17s %-22s %12s %9s %7s %7s %10s %9s  %s\n", problem, "shape", "variant",
                  "instructions", "requests", "load", "store", "ideal", "excess", "check");
  return format("%-20s %-17s %-22s %11s %13s %13s %8s  %s\n", problem, "shape", "variant", "time", "score",
                rival, "ratio", "check");
}

std::string table_row(const Result& r, DeviceKind device) {
  std::string row = format("%-20s %-17s %-22s ", r.rung.c_str(), r.shape.c_str(), r.variant.c_str());
  if (!r.refused.empty()) return row + "not run: " + r.refused + "\n";
  std::string check = r.fault.empty() ? "ok" : "WRONG: " + r.fault;
  if (r.noise)
    check += format("  within %.2g %% of itself", *r.noise * 100);
  else if (r.rung_us)
    check += format("  the %s is %.3fx as fast", std::isdigit(r.rung[0]) ? "rung" : "default",
                    r.measurement->timings[0].median_us / *r.rung_us);
  if (r.product_us)
    check +=
        format("  the product alone is %.3fx as fast", r.measurement->timings[0].median_us / *r.product_us);
  if (!r.kernel.empty()) check += "  kernel: " + r.kernel;
  check += "\n";
  if (device == DeviceKind::simulator) return row + count_columns(r.counters) + "  " + check;
  std::string time = "-", score = "-", rival = "-", ratio = "-";
  if (r.measurement) {
    const auto& timings = r.measurement->timings;
    time = time_text(timings[0].median_us);
    score = with_unit(r.scores[0], r.unit);
    const std::size_t best = fastest_baseline(*r.measurement);
    if (best > 0) {
      rival = with_unit(r.scores[best], r.unit);
      const double value = timings[best].median_us / timings[0].median_us;
      ratio = (value < 0.01 ? format("%.5f", value) : short_figure(value)) + "x";
    }
  }
  row += format("%11s %13s %13s %8s  ", time.c_str(), score.c_str(), rival.c_str(), ratio.c_str());
  return row + check;
}

}  // namespace ladder
