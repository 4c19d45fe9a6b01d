// SIMULATOR_PTX: kernels compiled to PTX alone take the place of a program's own, without their host code
// being compiled or linked again.
#pragma once

#include <string>
#include <string_view>

namespace simulator {

// `other`, where it has kernels of `embedded`, all or some, and no more; else nothing. Names of
// internal linkage carry a hash of the file that nvcc compiled: those of `other` become what they are in
// `embedded`.
std::string replacement(std::string_view embedded, std::string other);

// The program's PTX, or what the file that settings().ptx names has instead of it. Throws std::runtime_error
// where the file cannot be read.
std::string replaced(std::string embedded);

}  // namespace simulator
