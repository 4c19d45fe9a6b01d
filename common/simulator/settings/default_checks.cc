// Compiled once for each library: its defaults for SIMULATOR_CHECKS and SIMULATOR_STRICT.
#include "common/simulator/settings/default_checks.h"

namespace simulator {

Checks default_checks() {
  return Checks::SIMULATOR_DEFAULT_CHECKS;
}

bool default_strict() {
  return SIMULATOR_DEFAULT_STRICT;
}

}  // namespace simulator
