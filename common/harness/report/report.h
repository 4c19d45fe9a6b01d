// Results as a table for people, and the fields of a record that say where it comes from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/harness/backend/counters.h"
#include "common/harness/backend/system.h"
#include "common/harness/base/device_kind.h"
#include "common/harness/base/json.h"
#include "common/harness/measure/benchmark.h"
#include "common/harness/verify/verify.h"

namespace ladder {

// The fields that say where a result comes from, as far as they are known.
void add_system(JsonObject& object, const System& system);
void add_card_state(JsonObject& object, const CardState& card);

// The same in one line, for people.
std::string system_text(const System& system, DeviceKind device);

// Everything known about one variant at one shape.
struct Result {
  std::string rung, title, problem, variant, shape, unit;
  std::string kernel;   // that a variant which chooses takes here; else empty
  std::string refused;  // why the variant does not take this shape; the rest is then empty
  Verdict verdict;
  std::string fault;                       // one line: what is wrong; empty when verified
  std::optional<Measurement> measurement;  // timings[0] is the variant, the rest are the baselines
  std::optional<double> relative_error;    // of a timed gemm: of C, beside the product of unrounded factors
  std::optional<double> sum_error;         // the same beside that of the rounded ones
  std::vector<double> scores;              // of the timings, in the problem's unit
  std::optional<double> rung_us;           // the rung's median, timed in turns with this variant
  std::optional<double> product_us;        // of a linear: the same products with no epilogue, in turns
  std::optional<double> best16_us;         // the median of the fastest of its estimate's first choices
  std::optional<double> noise;             // of the rung: how far it was from itself, as a share
  std::optional<Counters> counters;        // on the simulator
};

// The fastest of the baselines among the timings; 0, the variant itself, where there is none.
std::size_t fastest_baseline(const Measurement& measurement);

// The table of a GPU has times and scores, that of the simulator counts.
// `rival`: what the column of the fastest baseline is called.
std::string table_header(const char* problem, const char* rival, DeviceKind device);
std::string table_row(const Result& result, DeviceKind device);

}  // namespace ladder
