// Numbers in a line of text.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace simulator {

[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
  char text[256];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

}  // namespace simulator
