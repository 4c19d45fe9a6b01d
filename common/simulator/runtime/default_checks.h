#pragma once

#include "common/simulator/settings.h"

namespace simulator {

Checks default_checks();
bool default_strict();

}  // namespace simulator
