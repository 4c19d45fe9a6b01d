// What the benchmarks have in common: a program that measures things of this card one after the other, each
// a line of its table and of its records.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/harness/backend/system.h"
#include "common/harness/base/failure.h"
#include "common/harness/base/json.h"

namespace ladder {

// `only`: a word, or nothing; what is measured has it in its name.
using Benchmark = std::function<void(const System&, const std::string& only, JsonLines& json)>;

// The program's main: NAME [--only WORD] [--json FILE]. `help`: the lines below this.
int run_benchmark(const char* name, const char* help, int argc, char** argv, const Benchmark& benchmark);

// Of `all`, which have a name, those that `only` leaves. `kind`: what one is called.
template <class Named>
void keep_named(std::vector<Named>& all, const std::string& only, const char* kind) {
  std::erase_if(all, [&](const Named& one) { return std::string(one.name).find(only) == std::string::npos; });
  if (all.empty())
    throw Failure(Exit::bad_usage, "no " + std::string(kind) + " has '" + only + "' in its name");
}

}  // namespace ladder
