// What overlaps, in numbers by name and in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/simulator/reports/access_counts.h"

namespace simulator {

void add_overlap(AccessCounts& sum, const AccessCounts& other);

// By the names of docs/deeper/simulator_counts.md, whole numbers but for means; what does not occur is left
// out.
std::vector<std::pair<std::string, double>> overlap_numbers(const AccessCounts& counts);
// A line of each kind.
std::vector<std::string> overlap_lines(const AccessCounts& counts);
// Beside a line of source, at most 10 characters; empty: it has none.
std::string overlap_cell(const AccessCounts& counts);

}  // namespace simulator
