#include "common/simulator/image/lz4.h"

#include <algorithm>

namespace simulator {

std::string unpack_lz4(const uint8_t* from, size_t bytes, size_t size) {
  const uint8_t* const end = from + bytes;
  std::string out;
  out.reserve(size);
  // A length of 15 goes on in further bytes, as long as they are 255.
  const auto length = [&](size_t first) {
    if (first != 15) return first;
    for (uint8_t more = 255; more == 255 && from < end; first += more) more = *from++;
    return first;
  };
  // Sequences of literals and a copy of what came before; the last one has literals only.
  while (from < end) {
    const uint8_t token = *from++;
    const size_t literals = length(token >> 4);
    if (literals > static_cast<size_t>(end - from) || literals > size - out.size()) return out;
    out.append(reinterpret_cast<const char*>(from), literals);
    from += literals;
    if (end - from < 2) return out;
    const size_t distance = from[0] | static_cast<size_t>(from[1]) << 8;
    from += 2;
    const size_t copied = length(token & 15) + 4;
    if (distance == 0 || distance > out.size() || copied > size - out.size()) return out;
    for (size_t i = 0; i < copied; ++i) out.push_back(out[out.size() - distance]);  // may overlap itself
  }
  return out;
}

}  // namespace simulator
