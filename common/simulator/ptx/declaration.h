// Declarations of variables and registers (PTX ISA 9.0, 5.4): ".global .align 4 .b8 name[12] = {1, 2}". For
// module.cc and body.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/simulator/ptx/lexer.h"
#include "common/simulator/ptx/module.h"

namespace simulator::ptx {

// What stands before the names.
struct Declaration {
  Type type = Type::none;
  uint32_t vector = 1;  // 2 or 4 with .v2, .v4
  uint32_t align = 0;   // bytes; 0: not given
  bool managed = false;
};

// A name, and what stands after it. `range`: the 9 of "%r<9>", else -1.
struct Declared {
  Variable variable;
  int64_t range = -1;
};

// The space that a directive names: false for other directives.
bool parse_space(std::string_view directive, Space& space);

// From after the state space to before the first name.
Declaration parse_declaration(Lexer& lexer);

// One name with its dimensions and initial value. `external`: as in .extern.
Declared parse_declared(Lexer& lexer, const Declaration& declaration, Space space, bool external);

// ".attribute(.managed)" from after the word: was .managed there?
bool parse_attribute(Lexer& lexer);

}  // namespace simulator::ptx
