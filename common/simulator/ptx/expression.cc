#include "common/simulator/ptx/expression.h"

#include <bit>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace simulator::ptx {

namespace {

// Binary operators, by how tightly they bind.
enum class Op : uint8_t {
  none,
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  unequal,
  less,
  greater,
  less_equal,
  greater_equal,
  shift_left,
  shift_right,
  add,
  subtract,
  multiply,
  divide,
  remainder
};

struct Operator {
  Op op = Op::none;
  int precedence = 0;
  size_t size = 0;  // characters
};

constexpr int kSum = 9;  // the precedence of + and -

Operator next_operator(Lexer& lexer) {
  const char c = lexer.peek();
  const char d = lexer.after_next();
  switch (c) {
    case '*':
      return {Op::multiply, 10, 1};
    case '/':
      return {Op::divide, 10, 1};
    case '%':
      return {Op::remainder, 10, 1};
    case '+':
      return {Op::add, kSum, 1};
    case '-':
      return {Op::subtract, kSum, 1};
    case '<':
      if (d == '<') return {Op::shift_left, 8, 2};
      return d == '=' ? Operator{Op::less_equal, 7, 2} : Operator{Op::less, 7, 1};
    case '>':
      if (d == '>') return {Op::shift_right, 8, 2};
      return d == '=' ? Operator{Op::greater_equal, 7, 2} : Operator{Op::greater, 7, 1};
    case '=':
      return d == '=' ? Operator{Op::equal, 6, 2} : Operator{};
    case '!':
      return d == '=' ? Operator{Op::unequal, 6, 2} : Operator{};
    case '&':
      return d == '&' ? Operator{Op::logical_and, 2, 2} : Operator{Op::bit_and, 5, 1};
    case '^':
      return {Op::bit_xor, 4, 1};
    case '|':
      return d == '|' ? Operator{Op::logical_or, 1, 2} : Operator{Op::bit_or, 3, 1};
    default:
      return {};
  }
}

Constant integer(uint64_t value, bool is_unsigned = false) {
  return {0, is_unsigned, value};
}

bool truth(const Constant& constant) {
  return constant.floating_bits ? constant.as_double() != 0 : constant.value != 0;
}

template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::equal:
      return a == b;
    case Op::unequal:
      return a != b;
    case Op::less:
      return a < b;
    case Op::greater:
      return a > b;
    case Op::less_equal:
      return a <= b;
    default:
      return a >= b;
  }
}

bool is_comparison(Op op) {
  return op >= Op::equal && op <= Op::greater_equal;
}

Constant apply_floating(const Lexer& lexer, Op op, const Constant& a, const Constant& b) {
  if (!a.floating_bits || !b.floating_bits)
    lexer.fail("an operator with an integer and a floating-point constant");
  const double x = a.as_double(), y = b.as_double();
  if (is_comparison(op)) return integer(compare(op, x, y));
  switch (op) {
    case Op::add:
      return Constant::of(x + y);
    case Op::subtract:
      return Constant::of(x - y);
    case Op::multiply:
      return Constant::of(x * y);
    case Op::divide:
      return Constant::of(x / y);
    default:
      lexer.fail("an operator that floating-point constants do not have");
  }
}

// Types of operands and results are those of 4.5.5.
Constant apply(const Lexer& lexer, Op op, const Constant& a, const Constant& b) {
  if (op == Op::logical_and) return integer(truth(a) && truth(b));
  if (op == Op::logical_or) return integer(truth(a) || truth(b));
  if (a.floating_bits || b.floating_bits) return apply_floating(lexer, op, a, b);
  const uint64_t x = a.value, y = b.value;
  const auto p = static_cast<int64_t>(x), q = static_cast<int64_t>(y);
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (is_comparison(op)) return integer(is_unsigned ? compare(op, x, y) : compare(op, p, q));
  if ((op == Op::shift_left || op == Op::shift_right) && y > 63) lexer.fail("a shift by more than 63 bits");
  if ((op == Op::divide || op == Op::remainder) && y == 0) lexer.fail("division by zero");
  switch (op) {
    case Op::bit_or:
      return integer(x | y, is_unsigned);
    case Op::bit_xor:
      return integer(x ^ y, is_unsigned);
    case Op::bit_and:
      return integer(x & y, is_unsigned);
    case Op::shift_left:
      return integer(x << y, a.is_unsigned);
    case Op::shift_right:
      return integer(a.is_unsigned ? x >> y : static_cast<uint64_t>(p >> y), a.is_unsigned);
    case Op::add:
      return integer(x + y, is_unsigned);
    case Op::subtract:
      return integer(x - y, is_unsigned);
    case Op::multiply:
      return integer(x * y, is_unsigned);
    case Op::remainder:
      return integer(x % y, true);  // ptxas does not make it signed
    default:
      break;
  }
  if (is_unsigned) return integer(x / y, true);
  return integer(q == -1 ? -x
                         : static_cast<uint64_t>(p / q));  // the smallest integer has no positive counterpart
}

Constant parse_bits(Lexer& lexer, uint8_t bits) {  // 0f3f800000, 0d3ff0000000000000
  const size_t digits = bits / 4;
  const std::string_view text = lexer.rest().substr(2, digits);
  Constant constant{bits, false, 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), constant.value, 16);
  if (error != std::errc() || end != text.data() + digits)
    lexer.fail("a floating-point constant in hexadecimal has " + std::to_string(digits) + " digits");
  lexer.advance(2 + digits);
  return constant;
}

Constant parse_integer(Lexer& lexer, size_t prefix, int base) {
  const std::string_view text = lexer.rest().substr(prefix);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc::result_out_of_range) lexer.fail("an integer of more than 64 bits");
  if (error != std::errc()) lexer.fail_expected("a number");
  lexer.advance(prefix + static_cast<size_t>(end - text.data()));
  bool is_unsigned = value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (lexer.next_to() == 'U' || lexer.next_to() == 'u') {
    is_unsigned = true;
    lexer.advance(1);
  }
  return integer(value, is_unsigned);
}

Constant parse_decimal(Lexer& lexer) {
  const std::string_view text = lexer.rest();
  size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  const char after = size < text.size() ? text[size] : '\0';
  if (after != '.' && after != 'e' && after != 'E')
    return text[0] == '0' && size > 1 ? parse_integer(lexer, 1, 8) : parse_integer(lexer, 0, 10);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) lexer.fail("a floating-point constant that no double can hold");
  lexer.advance(static_cast<size_t>(end - text.data()));
  return Constant::of(number);
}

Constant parse_literal(Lexer& lexer) {
  Constant constant;
  const char prefix = lexer.next_to() == '0' ? lexer.after_next() : '\0';
  switch (prefix) {
    case 'x':
    case 'X':
      constant = parse_integer(lexer, 2, 16);
      break;
    case 'b':
    case 'B':
      constant = parse_integer(lexer, 2, 2);
      break;
    case 'f':
    case 'F':
      constant = parse_bits(lexer, 32);
      break;
    case 'd':
    case 'D':
      constant = parse_bits(lexer, 64);
      break;
    default:
      constant = parse_decimal(lexer);
  }
  const char c = lexer.next_to();
  if (is_digit(c) || (starts_identifier(c) && c != '%')) lexer.fail_expected("the end of a number");
  return constant;
}

Constant parse_binary(Lexer& lexer, int least);
Constant parse_conditional(Lexer& lexer);

Constant parse_unary(Lexer& lexer) {
  const char c = lexer.peek();
  if (is_digit(c) || c == '.') return parse_literal(lexer);
  if (starts_identifier(c)) {
    if (!lexer.rest().starts_with("WARP_SZ")) lexer.fail_expected("a constant");
    if (lexer.identifier() != "WARP_SZ") lexer.fail("a constant expected");
    return integer(32);
  }
  switch (c) {
    case '(': {
      lexer.advance(1);
      if (lexer.peek() == '.' && (lexer.after_next() == 's' || lexer.after_next() == 'u')) {  // a cast
        const std::string_view type = lexer.directive();
        if (type != "s64" && type != "u64") lexer.fail("a cast to ." + std::string(type));
        lexer.expect(')');
        Constant constant = parse_unary(lexer);
        if (constant.floating_bits) lexer.fail("a cast of a floating-point constant");
        constant.is_unsigned = type == "u64";
        return constant;
      }
      const Constant constant = parse_conditional(lexer);
      lexer.expect(')');
      return constant;
    }
    case '+':
      lexer.advance(1);
      return parse_unary(lexer);
    case '-': {
      lexer.advance(1);
      Constant constant = parse_unary(lexer);
      if (constant.floating_bits)
        constant.value ^= 1ull << (constant.floating_bits - 1);
      else
        constant.value = -constant.value;
      return constant;
    }
    case '~': {
      lexer.advance(1);
      const Constant constant = parse_unary(lexer);
      if (constant.floating_bits) lexer.fail("'~' of a floating-point constant");
      return integer(~constant.value, true);
    }
    case '!':
      lexer.advance(1);
      return integer(!truth(parse_unary(lexer)));
    default:
      lexer.fail_expected("a constant");
  }
}

Constant parse_binary(Lexer& lexer, int least) {
  Constant left = parse_unary(lexer);
  for (;;) {
    const Operator found = next_operator(lexer);
    if (found.op == Op::none || found.precedence < least) return left;
    lexer.advance(found.size);
    left = apply(lexer, found.op, left, parse_binary(lexer, found.precedence + 1));
  }
}

Constant parse_conditional(Lexer& lexer) {
  const Constant condition = parse_binary(lexer, 1);
  if (lexer.peek() != '?') return condition;
  lexer.advance(1);
  const Constant yes = parse_conditional(lexer);
  lexer.expect(':');
  const Constant no = parse_conditional(lexer);
  if (!yes.floating_bits != !no.floating_bits)
    lexer.fail("'?:' with an integer and a floating-point constant");
  Constant chosen = truth(condition) ? yes : no;
  if (!chosen.floating_bits) chosen.is_unsigned = yes.is_unsigned || no.is_unsigned;
  return chosen;
}

}  // namespace

Constant Constant::of(double number) {
  return {64, false, std::bit_cast<uint64_t>(number)};
}

double Constant::as_double() const {
  return floating_bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(value))
                             : std::bit_cast<double>(value);
}

bool starts_constant(char c) {
  return is_digit(c) || c == '-' || c == '+' || c == '(' || c == '~' || c == '.';
}

Constant parse_constant(Lexer& lexer) {
  return parse_conditional(lexer);
}

int64_t parse_offset(Lexer& lexer) {
  uint64_t offset = 0;
  for (;;) {
    const char sign = lexer.peek();
    if (sign != '+' && sign != '-') return static_cast<int64_t>(offset);
    lexer.advance(1);
    const Constant term = parse_binary(lexer, kSum + 1);
    if (term.floating_bits) lexer.fail("an offset that is no integer");
    offset += sign == '+' ? term.value : -term.value;
  }
}

}  // namespace simulator::ptx
