// Results as a table for people and as JSON Lines for plots.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/harness/backend/counters.h"
#include "common/harness/backend/system.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/problems/problems.h"
#include "common/harness/verify/verify.h"

namespace ladder {

// One JSON object, written field by field in order.
class JsonObject {
 public:
  JsonObject& field(const char* name, const std::string& value);
  JsonObject& field(const char* name, const char* value) { return field(name, std::string(value)); }
  JsonObject& field(const char* name, double value);  // 6 significant digits; null where it is not finite
  JsonObject& field(const char* name, const std::vector<double>& values);
  JsonObject& field(const char* name, std::int64_t value);
  JsonObject& field(const char* name, std::uint64_t value) { return raw(name, std::to_string(value)); }
  JsonObject& field(const char* name, int value) { return field(name, std::int64_t(value)); }
  JsonObject& field(const char* name, bool value);
  JsonObject& field(const char* name, const JsonObject& value);
  std::string text() const { return "{" + body_ + "}"; }

 private:
  JsonObject& raw(const char* name, const std::string& value);
  std::string body_;
};

std::string json_string(const std::string& text);  // quoted and escaped

// The fields that say where a result comes from, as far as they are known.
void add_machine(JsonObject& object, const Machine& machine);
void add_card_state(JsonObject& object, const CardState& card);

// The same in one line, for people.
std::string machine_text(const Machine& machine, DeviceKind device);

// A file that gets one object per line, appended. Throws Failure(Exit::bad_usage) when it cannot be opened
// and Failure(Exit::cannot_run) when a line cannot be written.
class JsonLines {
 public:
  explicit JsonLines(const std::string& path);  // an empty path: nothing is written
  void write(const JsonObject& object);

 private:
  std::string path_;
  std::ofstream file_;
};

// Everything known about one variant at one shape.
struct Result {
  std::string rung, title, problem, variant, shape, unit;
  std::string refused;  // why the variant does not take this shape; the rest is then empty
  Verdict verdict;
  std::string fault;                       // one line: what is wrong; empty when verified
  std::optional<Measurement> measurement;  // timings[0] is the variant, the rest are the baselines
  std::optional<double> relative_error;    // of a timed gemm: of C, beside the product of unrounded factors
  std::optional<double> sum_error;         // the same beside that of the rounded ones
  std::vector<double> scores;              // of the timings, in the problem's unit
  std::optional<double> rung_us;           // the rung's median, timed in turns with this variant
  std::optional<double> product_us;        // of a linear: the same products with no epilogue, in turns
  std::optional<double> best_choice_us;    // the least median of it and of its next choices
  std::optional<double> noise;             // of the rung: how far it was from itself, as a share
  std::optional<Counters> counters;        // on the simulator
};

// The fastest of the baselines among the timings; 0, the variant itself, where there is none.
std::size_t fastest_baseline(const Measurement& measurement);

// The table of a GPU has times and scores, that of the simulator counts.
std::string table_header(const char* problem, DeviceKind device);
std::string table_row(const Result& result, DeviceKind device);

}  // namespace ladder
