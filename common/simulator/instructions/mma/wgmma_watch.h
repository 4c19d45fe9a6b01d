// Which instructions are watched since some wgmma of their function uses the same registers (decode/watch.h).
//
// Sparsity metadata are a matter of their own. The simulator reads their register when the instruction is
// issued, hardware when the product is made: what is loaded into it meanwhile may be taken for them.
#pragma once

#include "common/simulator/program/program.h"

namespace simulator {

bool is_watched_for_wgmma(const Program& program);

}  // namespace simulator
