// How many copies of a problem a timing rotates over, so that none is timed out of the L2 cache.
#pragma once

#include <cstdint>
#include <string>

namespace ladder {

// Buffer sets needed so that none of a problem's bytes are still in the L2 cache when their turn comes again:
// 1 where one set is over twice the cache.
int sets_to_rotate(std::uint64_t footprint_bytes, std::uint64_t l2_bytes);

// What that makes of the L2 cache, for the record: "cold: …", or "warm: …" where even the most sets fit into
// it.
std::string l2_text(std::uint64_t footprint_bytes, int sets, std::uint64_t l2_bytes);

}  // namespace ladder
