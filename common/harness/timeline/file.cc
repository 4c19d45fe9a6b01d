#include "common/harness/timeline/file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "common/harness/base/failure.h"

namespace ladder {
namespace {

constexpr const char* doings[] = {"wait for a stage", "load",     "wait for data",
                                  "convert",          "multiply", "store"};
constexpr const char* roles[] = {"", "producer, ", "consumer, "};

// From the clocks of SMs, which begin at different moments, to one time. All run at one rate; the clock that
// they share is coarse, so the rate is that of all warps together, and an SM's moment a mean over its warps.
class Clocks {
 public:
  explicit Clocks(const std::vector<RecordedWarp>& warps) {
    double cycles = 0, ns = 0;
    for (const RecordedWarp& each : warps) {
      cycles += static_cast<double>(each.info.clock[1] - each.info.clock[0]);
      ns += static_cast<double>(each.info.ns[1] - each.info.ns[0]);
    }
    ns_per_cycle_ = cycles > 0 && ns > 0 ? ns / cycles : 1;
    // Beside the first warp's, whose numbers are too large for a double.
    origin_ns_ = warps.empty() ? 0 : warps[0].info.ns[0];
    for (const RecordedWarp& each : warps) {
      Sm& sm = sms_[each.info.sm];
      if (sm.count == 0) sm.origin = each.info.clock[0];
      for (int end = 0; end < 2; ++end) {
        sm.offset += signed_difference(each.info.ns[end], origin_ns_) -
                     signed_difference(each.info.clock[end], sm.origin) * ns_per_cycle_;
        ++sm.count;
      }
    }
    for (auto& [number, sm] : sms_) sm.offset /= sm.count;
  }
  double ns(unsigned sm, unsigned long long clock) const {
    const Sm& at = sms_.at(sm);
    return at.offset + signed_difference(clock, at.origin) * ns_per_cycle_;
  }
  double ns_of(double cycles) const { return cycles * ns_per_cycle_; }

 private:
  static double signed_difference(unsigned long long a, unsigned long long b) {
    return static_cast<double>(static_cast<long long>(a - b));
  }
  struct Sm {
    unsigned long long origin = 0;
    double offset = 0;
    int count = 0;
  };
  double ns_per_cycle_;
  unsigned long long origin_ns_;
  std::map<unsigned, Sm> sms_;
};

std::string three_decimals(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string metadata(const char* name, const TimelineWarp& of, const std::string& value) {
  return std::string("{\"ph\": \"M\", \"name\": \"") + name + "\", \"pid\": " + std::to_string(of.cta) +
         ", \"tid\": " + std::to_string(of.warp) + ", \"args\": {\"name\": " + json_string(value) + "}}";
}

}  // namespace

std::string timeline_text(const Recording& recording, const JsonObject& about) {
  const Clocks clocks(recording.warps);
  double first = HUGE_VAL;
  for (const RecordedWarp& each : recording.warps)
    first = std::min(first, clocks.ns(each.info.sm, each.info.clock[0]));
  std::string events;
  const auto add = [&](const std::string& event) { events += (events.empty() ? "" : ",\n") + event; };
  for (const RecordedWarp& each : recording.warps) {
    const TimelineWarp& warp = each.info;
    add(metadata("process_name", warp,
                 "CTA " + std::to_string(warp.cta) + " on SM " + std::to_string(warp.sm)));
    add(metadata("thread_name", warp,
                 std::string(roles[static_cast<unsigned>(warp.role)]) + "warp " + std::to_string(warp.warp)));
    for (const TimelineSpan& span : each.spans) {
      const double us = (clocks.ns(warp.sm, span.end) - first) / 1000,
                   took = clocks.ns_of(span.cycles) / 1000;
      add(std::string("{\"ph\": \"X\", \"name\": \"") + doings[span.what & 15] +
          "\", \"pid\": " + std::to_string(warp.cta) + ", \"tid\": " + std::to_string(warp.warp) +
          ", \"ts\": " + three_decimals(us - took) + ", \"dur\": " + three_decimals(took) +
          ", \"args\": {\"tile\": " + std::to_string(span.what >> 4 & 4095) +
          ", \"k_tile\": " + std::to_string(span.what >> 16) + "}}");
    }
  }
  return "{\"otherData\": " + about.text() + ",\n\"traceEvents\": [\n" + events + "\n]}\n";
}

void write_timeline(const std::string& path, const Recording& recording, const JsonObject& about) {
  std::ofstream file(path);
  file << timeline_text(recording, about);
  file.close();
  if (!file) throw Failure(Exit::cannot_run, "cannot write " + path);
}

std::string summary_of(const Recording& recording) {
  std::uint64_t spans = 0;
  std::set<unsigned> ctas;
  for (const RecordedWarp& each : recording.warps) {
    spans += each.spans.size();
    ctas.insert(each.info.cta);
  }
  std::string text = std::to_string(spans) + " spans of " + std::to_string(recording.warps.size()) +
                     " warps of " + std::to_string(ctas.size()) + " CTAs";
  if (recording.lost_warps) text += "; no room for " + std::to_string(recording.lost_warps) + " more warps";
  if (recording.lost_spans) text += "; no room for " + std::to_string(recording.lost_spans) + " more spans";
  return text;
}

std::string cost_text(double plain_us, double traced_us) {
  char text[120];
  std::snprintf(text, sizeof text, "; %.1f us traced, %.1f us else (%+.1f %%)", traced_us, plain_us,
                (traced_us / plain_us - 1) * 100);
  return text;
}

}  // namespace ladder
