// Programs that tests run, and what they print.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>

namespace simulator {

// Without what a debug build's first launch prints, which is no finding.
inline std::string without_debug_note(std::string output) {
  const size_t begin = output.find("simulator: built with -G: ");
  if (begin == std::string::npos) return output;
  const std::string last = "-lineinfo without -G has all checks.\n";
  return output.erase(begin, output.find(last, begin) + last.size() - begin);
}

// What a command of the shell writes to stdout and stderr; a last line where it fails.
inline std::string output_of_command(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    output += "\nended with status " + std::to_string(status);
  return without_debug_note(std::move(output));
}

}  // namespace simulator
