// Sizes of random shapes, for --soak.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>

#include "common/harness/base/device_kind.h"

namespace ladder {

// A whole number in [1, most], small ones as likely as large ones.
inline int random_size(std::mt19937_64& random, int most) {
  return std::clamp(int(std::exp(std::uniform_real_distribution<>(0, std::log(most + 1))(random))), 1, most);
}

// Of a matrix that is read row by row.
struct RandomRows {
  int rows, cols;
  RandomRows(std::mt19937_64& random, DeviceKind device) {
    const bool gpu = device == DeviceKind::gpu;
    const int most = gpu ? 40000 : 2000;
    cols = random_size(random, most);
    rows = random_size(random, std::min(most, (gpu ? 8 << 20 : 8 << 10) / cols));
  }
};

}  // namespace ladder
