// The LZ4 block format (github.com/lz4/lz4, doc/lz4_Block_format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simulator {

// `size` is what should come out. Damaged input gives fewer bytes, never more.
std::string unpack_lz4(const uint8_t* from, size_t bytes, size_t size);

}  // namespace simulator
