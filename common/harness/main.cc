// The program around a rung.
#include <cstdio>

#include "common/harness/failure.h"
#include "common/harness/run.h"

int main(int argc, char** argv) {
  using namespace ladder;
  const Rung& r = rung();
  return run_program(r.name, [&] {
    const Options options = parse_options({argv + 1, argv + argc}, r);
    if (!options.help && !options.list) return run(r, options);
    std::fputs((options.help ? help_text(r) : list_text(r)).c_str(), stdout);
    return Exit::passed;
  });
}
