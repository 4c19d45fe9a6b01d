// Constants and constant expressions (PTX ISA 9.0, 4.5): C's operators on 64-bit integers and doubles.
#pragma once

#include <cstdint>

#include "common/simulator/ptx/lexer.h"

namespace simulator::ptx {

struct Constant {
  uint8_t floating_bits = 0;  // 0: an integer; 32: an f32 as written (0f…); 64: a double
  bool is_unsigned = false;   // of integers
  uint64_t value = 0;         // the integer, or the bits of the number

  static Constant of(double number);
  double as_double() const;  // of floating constants
};

// Whether a constant may begin here ("-" and "(" count; "!" does not: it may stand before a register).
bool starts_constant(char c);

Constant parse_constant(Lexer& lexer);

// A sum of terms, each with its sign, as it follows a name in an address: "+8", "-4", "+-4", "+2*4-1"; 0
// where there is none.
int64_t parse_offset(Lexer& lexer);

}  // namespace simulator::ptx
