// The program around a rung.
#include <cstdio>

#include "common/harness/backend/device.h"
#include "common/harness/base/failure.h"
#include "common/harness/run/run.h"

int main(int argc, char** argv) {
  using namespace ladder;
  const Rung& r = rung();
  const DeviceKind device = device_kind();
  return run_program(program_name(r, device).c_str(), [&] {
    const Options options = parse_options({argv + 1, argv + argc}, r, device);
    if (!options.help && !options.list) return run(r, options);
    if (!options.help && !options.json.empty()) {
      JsonLines json(options.json);
      for (const JsonObject& problem : list_json(r)) json.write(problem);
      return Exit::passed;
    }
    std::fputs((options.help ? help_text(r, device) : list_text(r)).c_str(), stdout);
    return Exit::passed;
  });
}
