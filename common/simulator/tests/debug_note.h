// What a debug build's first launch prints, which is no finding.
#pragma once

#include <string>

namespace simulator {

inline std::string without_debug_note(std::string output) {
  const size_t begin = output.find("simulator: built with -G: ");
  if (begin == std::string::npos) return output;
  const std::string last = "-lineinfo without -G has all checks.\n";
  return output.erase(begin, output.find(last, begin) + last.size() - begin);
}

}  // namespace simulator
