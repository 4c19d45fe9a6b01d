// For tests of the PTX parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/ptx/module.h"

namespace simulator::ptx {

using Kind = Operand::Kind;
using Views = std::vector<std::string_view>;

// Two lines of text stand before `text`: its first line is line 3.
inline std::string ptx(const std::string& text) {
  return ".version 9.0\n.target sm_90a .address_size 64\n" + text;
}

// A kernel "k" with this body, parsed. The body begins in line 5.
struct Kernel {
  explicit Kernel(const std::string& body, const std::string& before = "")
      : module(ptx(before + "\n.visible .entry k(.param .u64 k_param_0)\n{" + body + "}\n")),
        function(*module.find("k")) {
    module.parse_body(function);
  }
  const Instruction& at(size_t index) const { return function.instructions.at(index); }
  const Operand& operand(size_t instruction, size_t index) const {
    return at(instruction).operands.at(index);
  }
  std::string_view name(const Operand& operand) const { return function.registers.at(operand.index).name; }

  Module module;
  Function& function;
};

inline const char kRegisters[] =
    ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n";

// The operands of one instruction.
struct Operands : Kernel {
  explicit Operands(const std::string& instruction, const std::string& before = "")
      : Kernel(kRegisters + instruction, before) {}
  const Operand& operator[](size_t index) const { return operand(0, index); }
};

inline std::string error_of(const std::string& text) {
  try {
    Module module(text);
    for (Function& function : module.functions)
      if (function.defined) module.parse_body(function);
  } catch (const SyntaxError& error) {
    return error.what();
  }
  return "";
}
inline std::string module_error(const std::string& text) {
  return error_of(ptx(text));
}
inline std::string body_error(const std::string& body) {
  return error_of(ptx("\n.entry k()\n{" + (kRegisters + body) + "}\n"));
}

}  // namespace simulator::ptx
