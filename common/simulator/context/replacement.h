// SIMULATOR_PTX: kernels compiled to PTX alone take the place of a program's own, without their host code
// being compiled or linked again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simulator {

// `other`, where it has kernels of `embedded`; else nothing. They are the same where namespace, name,
// template arguments, parameters and the source file's name are. In an unnamed namespace a mangled name also
// has a hash of the file that nvcc compiled, or its first symbol that other files see: names of `other`
// become what they are in `embedded`.
std::string replacement(std::string_view embedded, std::string other);

// As a reader knows them: demangled, where they are mangled.
std::string shown_names(const std::vector<std::string>& kernels);

// The program's PTX, or what the file that settings().ptx names has instead of it. Throws std::runtime_error
// where the file cannot be read.
std::string replaced(std::string embedded);

}  // namespace simulator
