#pragma once

#include "common/simulator/settings/settings.h"

namespace simulator {

Checks default_checks();
bool default_strict();

}  // namespace simulator
