#pragma once

#include "common/simulator/settings.h"

namespace simulator {

Checks default_checks();

}  // namespace simulator
