#include "common/harness/run/run.h"

#include <cuda_runtime_api.h>

#include <cstdio>

#include "common/harness/run/runner.h"
#include "common/harness/run/shapes.h"
#include "common/harness/run/soak.h"

namespace ladder {
namespace {

// Of the whole process: the rung and cuBLAS run with what is left, too.
void set_l2_aside(int mib) {
  if (mib == 0) return;
  int device = 0, most = 0;
  check(cudaGetDevice(&device), "getting the device");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device), "reading L2's size");
  const std::size_t bytes = std::size_t(mib) << 20;
  if (bytes > std::size_t(most)) {
    std::string line = "--l2-set-aside: this GPU sets aside at most ";
    throw Failure(Exit::bad_usage, line.append(std::to_string(most >> 20)).append(" MiB"));
  }
  check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes), "setting a part of L2 aside");
}

void run_problems(const Context& context) {
  bool first = true;
  for_each_problem([&]<class Problem>() {
    if (!context.options.runs<Problem>()) return;
    if (!first && !context.options.rows) std::puts("");
    first = false;
    Runner<Problem>(context).run(shapes_for<Problem>(context.options));
  });
}

}  // namespace

Exit run(const Rung& rung, const Options& options) {
  JsonLines json(options.json);
  if (options.ctas) run_few_ctas(options.ctas);
  const System system = this_system();
  require(system, rung.needs);
  set_l2_aside(options.l2_set_aside);
  if (!options.rows)
    std::printf("%s: %s\n%s\n\n", rung.name, rung.title, system_text(system, options.device).c_str());
  Tally tally;
  const Context context{rung, options, system, json, tally};
  if (options.soak) {
    for_each_problem([&]<class Problem>() {
      if (options.runs<Problem>()) soak<Problem>(context);
    });
    return tally.wrong ? Exit::wrong_result : Exit::passed;
  }
  try {
    run_problems(context);
  } catch (const Failure& failure) {
    if (tally.wrong == 0) throw;
    throw Failure(Exit::wrong_result, failure.what());  // an early end does not hide what was wrong before it
  }
  if (tally.wrong > 0) return Exit::wrong_result;
  if (tally.right == 0) throw Failure(Exit::cannot_run, "nothing was checked: every shape was refused");
  return Exit::passed;
}

}  // namespace ladder
