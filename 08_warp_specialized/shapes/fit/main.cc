// 08_fit STEPS FILE...: fits the estimate to the times that 08_measure_ways printed, and prints costs.cc.
// What the choice loses goes to stderr, before and after: at all shapes, and held out, at each of five parts
// of them after a fit to the others.
#include <cstdio>
#include <cstdlib>

#include "08_warp_specialized/shapes/fit/fit.h"
#include "common/harness/base/failure.h"

namespace ladder::rung_08 {
namespace {

constexpr int parts = 5;

void say(const char* what, const Regret& r) {
  std::fprintf(
      stderr,
      "%s: loses %.2f %%, %.1f %% at worst; 3 %% or less at %.1f %% of the shapes, over 10 %% at %.1f %%\n",
      what, 100 * r.mean, 100 * r.worst, 100 * r.near, 100 * r.far);
}

Exit run(int steps, std::span<char*> files) {
  std::vector<MeasuredShape> all;
  for (const char* file : files) read(file, all);
  if (steps <= 0 || all.size() < 2 * parts)
    throw Failure(Exit::bad_usage, "usage: 08_fit STEPS FILE... of at least 10 shapes");
  say("before", regret(all, as_it_is()));
  Regret held_out;
  for (int part = 0; part < parts; ++part) {
    std::vector<MeasuredShape> seen, others;
    for (std::size_t i = 0; i < all.size(); ++i) (int(i % parts) == part ? others : seen).push_back(all[i]);
    const Regret r = regret(others, fit(seen, untrained(), steps));
    held_out.mean += r.mean / parts;
    held_out.near += r.near / parts;
    held_out.far += r.far / parts;
    held_out.worst = std::max(held_out.worst, r.worst);
  }
  say("held out", held_out);
  const Fitted fitted = fit(all, untrained(), steps);
  say("after", regret(all, fitted));
  std::fputs(source_of(fitted, all.size()).c_str(), stdout);
  return Exit::passed;
}

}  // namespace
}  // namespace ladder::rung_08

int main(int argc, char** argv) {
  return ladder::run_program("08_fit", [&] {
    return ladder::rung_08::run(argc > 1 ? std::atoi(argv[1]) : 0,
                                std::span(argv, argc).subspan(std::min(argc, 2)));
  });
}
