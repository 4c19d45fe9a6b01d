// What memory holds that nothing has written.
#pragma once

#include <cstddef>

namespace simulator {

// As any floating-point type of 8 to 64 bits a large number or NaN, as an integer no likely one.
constexpr std::byte poison{0xfd};

}  // namespace simulator
