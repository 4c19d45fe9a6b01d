// --list, for people and for programs.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "common/harness/base/format.h"
#include "common/harness/cli/options.h"
#include "common/harness/cli/sizes.h"
#include "common/harness/verify/precision.h"

namespace ladder {

std::string list_text(const Rung& rung) {
  // A rung's name begins with its number; that of another program does not.
  const char* const own = std::isdigit(rung.name[0]) ? "  (the rung) " : "  (the default) ";
  std::string text;
  std::size_t widest = 22;
  for_each_problem([&]<class Problem>() {
    for (const auto& v : ProblemInfo<Problem>::variants(rung)) widest = std::max(widest, std::strlen(v.name));
  });
  for_each_problem([&]<class Problem>() {
    const auto& variants = ProblemInfo<Problem>::variants(rung);
    for (const auto& v : variants)
      text += format("%-10s  %-*s%s%s\n", ProblemInfo<Problem>::name, int(widest), v.name,
                     &v == &variants.back() ? own : "  ", v.what);
  });
  return text;
}

std::vector<JsonObject> list_json(const Rung& rung) {
  std::vector<JsonObject> problems;
  for_each_problem([&]<class Problem>() {
    using Info = ProblemInfo<Problem>;
    std::vector<JsonObject> variants;
    for (const auto& v : Info::variants(rung)) {
      JsonObject& o = variants.emplace_back();
      o.field("name", v.name).field("what", v.what).field("is_rung", &v == &Info::variants(rung).back());
      o.field("type", precision_name(extension_of(v).precision)).field("traced", v.traced != nullptr);
    }
    if (variants.empty()) return;
    JsonObject default_shapes;
    default_shapes.field("gpu", shape_text(Info::default_shape(DeviceKind::gpu)));
    default_shapes.field("simulator", shape_text(Info::default_shape(DeviceKind::simulator)));
    JsonObject& o = problems.emplace_back();
    o.field("record", "problem").field("rung", rung.name).field("problem", Info::name);
    o.field("what", Info::what).field("dimensions", Sizes::names_of<Problem>());
    o.field("default_shape", default_shapes).field("runs_unnamed", Info::runs_unnamed);
    o.field("score", Info::score_field).field("unit", Info::unit).field("baseline", Info::rival);
    o.field("variants", variants);
  });
  return problems;
}

}  // namespace ladder
