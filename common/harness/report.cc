#include "common/harness/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/harness/failure.h"

namespace ladder {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

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

}  // namespace

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

JsonObject& JsonObject::raw(const char* name, const std::string& value) {
  body_ += (body_.empty() ? "" : ", ") + json_string(name) + ": " + value;
  return *this;
}
JsonObject& JsonObject::field(const char* name, const std::string& value) {
  return raw(name, json_string(value));
}
JsonObject& JsonObject::field(const char* name, std::int64_t value) {
  return raw(name, std::to_string(value));
}
JsonObject& JsonObject::field(const char* name, bool value) {
  return raw(name, value ? "true" : "false");
}
JsonObject& JsonObject::field(const char* name, const JsonObject& value) {
  return raw(name, value.text());
}
JsonObject& JsonObject::field(const char* name, double value) {
  return raw(name, std::isfinite(value) ? format("%.6g", value) : "null");
}

void add_machine(JsonObject& object, const Machine& machine) {
  object.field("device", machine.device)
      .field("driver", machine.driver)
      .field("cuda", machine.cuda)
      .field("cublas", machine.cublas)
      .field("revision", machine.revision);
}

void add_card_state(JsonObject& object, const CardState& card) {
  object.field("sm_clock_mhz", card.sm_clock_mhz)
      .field("power_w", card.power_w)
      .field("throttle", card.throttle);
}

JsonLines::JsonLines(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.open(path, std::ios::app);
  if (!file_) throw Failure(Exit::bad_usage, "cannot write to --json '" + path + "'");
}

void JsonLines::write(const JsonObject& object) {
  if (path_.empty()) return;
  file_ << object.text() << "\n" << std::flush;
  if (!file_) throw Failure(Exit::cannot_run, "writing to '" + path_ + "' failed");
}

std::string table_header(const char* problem) {
  const bool gemm = std::string(problem) == "gemm";
  return format("%-20s %-17s %-22s %11s %13s %13s %8s  %s\n", problem, "shape", "variant", "time", "score",
                gemm ? "cuBLAS" : "copy", "ratio", "check");
}

std::string table_row(const Result& r) {
  std::string row = format("%-20s %-17s %-22s ", r.rung.c_str(), r.shape.c_str(), r.variant.c_str());
  if (!r.refused.empty()) return row + "not run: " + r.refused + "\n";
  std::string time = "-", score = "-", rival = "-", ratio = "-";
  if (r.measurement) {
    const auto& timings = r.measurement->timings;
    time = time_text(timings[0].median_us);
    score = with_unit(r.scores[0], r.unit);
    std::size_t best = 0;  // the fastest baseline, if there is one
    for (std::size_t i = 1; i < timings.size(); ++i)
      if (best == 0 || timings[i].median_us < timings[best].median_us) best = i;
    if (best > 0) {
      rival = with_unit(r.scores[best], r.unit);
      const double value = timings[best].median_us / timings[0].median_us;
      ratio = (value < 0.01 ? format("%.5f", value) : short_figure(value)) + "x";
    }
  }
  row += format("%11s %13s %13s %8s  ", time.c_str(), score.c_str(), rival.c_str(), ratio.c_str());
  return row + (r.fault.empty() ? "ok" : "WRONG: " + r.fault) + "\n";
}

}  // namespace ladder
