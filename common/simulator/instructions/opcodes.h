// All opcodes, and all units that the scheduler has to know of.
#pragma once

#include <span>
#include <string_view>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/watch.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

Decode find_opcode(std::string_view name);  // null: there is no such opcode

// In the order in which they get their turn.
std::span<Unit* const> all_units();

// A function has at most one.
std::span<const MakeWatch> all_watches();

}  // namespace simulator
