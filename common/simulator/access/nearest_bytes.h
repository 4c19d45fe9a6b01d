// How far from an address in shared memory the nearest bytes of a kind are.
#pragma once

#include <cstdint>
#include <string>

#include "common/simulator/machine/machine.h"

namespace simulator {

// "end 384 bytes before this address": those of the same CTA, `step` at a time, for which complete(offset)
// holds. offset: as shadow_offset(). Empty: there are none.
template <class Complete>
std::string nearest_bytes(const Warp& warp, uint32_t offset, uint32_t step, Complete complete) {
  const uint32_t each = shadow_bytes(*warp.cta->grid);
  const uint32_t at = offset / step * step, begin = at / each * each, end = begin + each;
  for (uint32_t away = step; at >= begin + away || at + away < end; away += step) {
    if (at >= begin + away && complete(at - away)) {
      const uint32_t distance = offset - (at - away + step);
      return distance == 0 ? "end right before this address"
                           : "end " + std::to_string(distance) + " bytes before this address";
    }
    if (at + away < end && complete(at + away))
      return "begin " + std::to_string(at + away - offset) + " bytes after this address";
  }
  return {};
}

}  // namespace simulator
