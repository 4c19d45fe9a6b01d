// What warps noted on a timeline, and the file that shows it: Trace Event Format, JSON for ui.perfetto.dev
// and chrome://tracing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/harness/base/json.h"
#include "common/timeline.h"

namespace ladder {

struct RecordedWarp {
  TimelineWarp info;
  std::vector<TimelineSpan> spans;
};
struct Recording {
  std::vector<RecordedWarp> warps;
  std::uint64_t lost_warps = 0, lost_spans = 0;  // no room for them
};

// The text of the file: a process for each CTA, a thread for each warp of it, a bar for each span.
// Microseconds from the first mark on; on the simulator a nanosecond is an instruction. `about`: what was
// recorded.
std::string timeline_text(const Recording& recording, const JsonObject& about);

// Throws Failure(Exit::cannot_run) where it cannot be written.
void write_timeline(const std::string& path, const Recording& recording, const JsonObject& about);

// "1234 spans of 48 warps of 16 CTAs; no room for …", in one line.
std::string summary_of(const Recording& recording);
// "; 213.4 us traced, 211.0 us else (+1.1 %)".
std::string cost_text(double plain_us, double traced_us);

}  // namespace ladder
