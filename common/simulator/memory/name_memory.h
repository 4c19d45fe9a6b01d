// Names for memory in reports.
#pragma once

#include <string>

namespace simulator {

// What begins here, from cudaMalloc or one of its kin, is "A (allocation #1, 131072 bytes …)" in reports, not
// "allocation #1 (131072 bytes …)", until it is freed. False: no live allocation begins here.
bool name_memory(const void* memory, std::string name);

}  // namespace simulator
