// printf into a std::string.
#pragma once

#include <cstdio>
#include <string>

namespace ladder {

// What is longer than 511 characters is cut off.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace ladder
