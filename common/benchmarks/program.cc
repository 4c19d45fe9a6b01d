#include "common/benchmarks/program.h"

#include <cstdio>

namespace ladder {

int run_benchmark(const char* name, const char* help, int argc, char** argv, const Benchmark& benchmark) {
  return run_program(name, [&] {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    std::string only, file;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == "--help" || arguments[i] == "-h") {
        std::printf("usage: %s [--only WORD] [--json FILE]\n%s\n", name, help);
        return Exit::passed;
      }
      if ((arguments[i] != "--json" && arguments[i] != "--only") || i + 1 == arguments.size())
        throw Failure(Exit::bad_usage,
                      "unknown option or missing value: '" + arguments[i] + "' (see --help)");
      std::string& value = arguments[i] == "--json" ? file : only;
      value = arguments[++i];
    }
    JsonLines json(file);
    const System system = this_system();
    require(system, {8, 0, Compatibility::newer});
    benchmark(system, only, json);
    return Exit::passed;
  });
}

}  // namespace ladder
