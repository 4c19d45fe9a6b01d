// Device code of several files (nvcc -rdc=true, cuLinkAddData()) as one PTX text.
#pragma once

#include <string>
#include <vector>

namespace simulator {

// What is defined in one text and declared .extern in others becomes one; names that are a file's own (no
// linking directive) are told apart; of .weak definitions the first is kept. Throws ptx::SyntaxError.
std::string link(const std::vector<std::string>& texts);

}  // namespace simulator
