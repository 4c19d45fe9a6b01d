// The lines of the program's source that an instruction comes from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/simulator/program/program.h"

namespace simulator {

struct SourceLine {
  std::string path;
  uint32_t line = 0;  // from 1
  auto operator<=>(const SourceLine&) const = default;
};

// The innermost one first, then where that was inlined. Empty without -lineinfo.
std::vector<SourceLine> source_lines(const Program& program, uint32_t pc);
// "rung/gemm.cu:37": the path's last two components.
std::string short_place(const SourceLine& line);

}  // namespace simulator
