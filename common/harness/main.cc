// The program around a rung.
#include <cstdio>
#include <new>

#include "common/harness/failure.h"
#include "common/harness/run.h"

int main(int argc, char** argv) {
  using namespace ladder;
  const Rung& r = rung();
  auto end = [&](Exit exit, const char* line) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", r.name, line);
    return int(exit);
  };
  try {
    const Options options = parse_options({argv + 1, argv + argc}, r);
    if (options.help || options.list) {
      std::fputs((options.help ? help_text(r) : list_text(r)).c_str(), stdout);
      return int(Exit::passed);
    }
    return int(run(r, options));
  } catch (const Failure& failure) {
    return end(failure.exit, failure.what());
  } catch (const std::bad_alloc&) {
    return end(Exit::cannot_run, "host memory exhausted");
  } catch (const std::exception& unexpected) {
    return end(Exit::wrong_result, unexpected.what());
  }
}
