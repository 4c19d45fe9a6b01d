// Compiled once for each library: what SIMULATOR_CHECKS and _STRICT are where the environment does not say.
#include "common/simulator/settings/default_checks.h"

namespace simulator {

Checks default_checks() {
  return Checks::SIMULATOR_DEFAULT_CHECKS;
}

bool default_strict() {
  return SIMULATOR_DEFAULT_STRICT;
}

}  // namespace simulator
