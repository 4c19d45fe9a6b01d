#include "common/simulator/ptx/declaration.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "common/simulator/ptx/expression.h"

namespace simulator::ptx {

namespace {

constexpr uint64_t kMaxBytes = 1ull << 40;  // of a variable: keeps sizes far from overflow

// Reads an initial value into a variable (5.4.4).
class Initializer {
 public:
  // stride[level]: bytes of an object `level` dimensions deep; the last is the element.
  Initializer(Lexer& lexer, Variable& variable, const std::vector<uint64_t>& stride, bool unsized)
      : lexer_(lexer), variable_(variable), stride_(stride), unsized_(unsized), element_(stride.back()) {}

  void run() {
    object(0, 0);
    if (unsized_) {
      const uint64_t row = stride_[1];
      variable_.size = (written_ + row - 1) / row * row;
    }
    variable_.initial.resize(variable_.size);
  }

 private:
  void object(size_t level, uint64_t offset) {
    if (level + 1 == stride_.size()) return value(offset);
    lexer_.expect('{');
    const uint64_t end = level == 0 && unsized_ ? kMaxBytes : offset + stride_[level];
    if (lexer_.accept('}')) return;
    do {
      if (offset >= end) lexer_.fail("more initial values than " + quote(variable_.name) + " has room for");
      object(level + 1, offset);
      offset += stride_[level + 1];
      written_ = std::max(written_, offset);
    } while (lexer_.accept(','));
    lexer_.expect('}');
  }

  void value(uint64_t offset) {
    const char c = lexer_.peek();
    if (starts_identifier(c) && !lexer_.rest().starts_with("WARP_SZ")) return reference(offset, ~0ull);
    if (is_digit(c)) {
      const Lexer before = lexer_;
      while (is_digit(lexer_.next_to()) || starts_identifier(lexer_.next_to())) lexer_.advance(1);
      const bool masked = lexer_.peek() == '(';
      lexer_ = before;
      if (masked) return mask(offset);
    }
    store(offset, parse_constant(lexer_));
  }

  // 0xFF00(symbol + 4): one byte of an address, or of a number.
  void mask(uint64_t offset) {
    const std::string_view text = lexer_.rest();
    const size_t size = text.find_first_of(" \t(");
    Lexer literal(text.substr(0, size), lexer_.line());
    const uint64_t bits = parse_constant(literal).value;
    lexer_.advance(size);
    if (bits == 0 || bits >> std::countr_zero(bits) != 0xFF || std::countr_zero(bits) % 8)
      lexer_.fail("a mask that is not one byte");
    lexer_.expect('(');
    if (starts_identifier(lexer_.peek()) && !lexer_.rest().starts_with("WARP_SZ")) {
      reference(offset, bits);
    } else {
      Constant constant = parse_constant(lexer_);
      if (constant.floating_bits) lexer_.fail("a mask of a floating-point constant");
      constant.value = (constant.value & bits) >> std::countr_zero(bits);
      store(offset, constant);
    }
    lexer_.expect(')');
  }

  void reference(uint64_t offset, uint64_t mask) {
    Variable::Reference reference{offset, lexer_.identifier(), 0, false, mask};
    if (reference.symbol == "generic" && lexer_.accept('(')) {
      reference.generic = true;
      reference.symbol = lexer_.identifier();
      lexer_.expect(')');
    }
    reference.addend = parse_offset(lexer_);
    if (mask == ~0ull && element_ < 4) lexer_.fail("an address in fewer than 4 bytes");
    if (variable_.type == Type::f32 || variable_.type == Type::f64 || element_ > 8)
      lexer_.fail("an address as the initial value of a variable that is no integer of 32 or 64 bits");
    variable_.references.push_back(reference);
  }

  void store(uint64_t offset, const Constant& constant) {
    uint64_t stored = constant.value;
    const Type type = variable_.type;
    const bool bits_alone = type == (constant.floating_bits == 32 ? Type::b32 : Type::b64);
    if (constant.floating_bits && type == Type::f32) {
      stored = std::bit_cast<uint32_t>(static_cast<float>(constant.as_double()));
    } else if (constant.floating_bits && type == Type::f64) {
      stored = std::bit_cast<uint64_t>(constant.as_double());
    } else if (constant.floating_bits && !bits_alone) {
      lexer_.fail("a floating-point initial value of a variable that is no .f32 or .f64");
    } else if (!constant.floating_bits && (type == Type::f32 || type == Type::f64)) {
      lexer_.fail("an integer as the initial value of a floating-point variable");
    }
    if (variable_.initial.size() < offset + element_) variable_.initial.resize(offset + element_);
    std::memcpy(variable_.initial.data() + offset, &stored, std::min<uint64_t>(element_, sizeof(stored)));
  }

  Lexer& lexer_;
  Variable& variable_;
  const std::vector<uint64_t>& stride_;
  const bool unsized_;
  const uint64_t element_;
  uint64_t written_ = 0;  // bytes from the start that have a value
};

uint64_t parse_dimension(Lexer& lexer) {
  const Constant dimension = parse_constant(lexer);
  if (dimension.floating_bits || dimension.value == 0 || dimension.value > kMaxBytes)
    lexer.fail("not a dimension of an array");
  return dimension.value;
}

uint32_t parse_align(Lexer& lexer) {
  const uint32_t align = lexer.number();
  if (!std::has_single_bit(align)) lexer.fail("an alignment that is not a power of two");
  return align;
}

// The properties of a .samplerref: nothing here executes texture instructions.
void skip_opaque_value(Lexer& lexer) {
  if (lexer.peek() == '{')
    lexer.block();
  else
    lexer.identifier();
}

}  // namespace

bool parse_space(std::string_view directive, Space& space) {
  if (directive == "reg")
    space = Space::reg;
  else if (directive == "const")
    space = Space::constant;
  else if (directive == "global")
    space = Space::global;
  else if (directive == "local")
    space = Space::local;
  else if (directive == "param")
    space = Space::param;
  else if (directive == "shared")
    space = Space::shared;
  else
    return false;
  return true;
}

bool parse_attribute(Lexer& lexer) {
  bool managed = false;
  lexer.expect('(');
  do {
    const std::string_view attribute = lexer.directive();
    if (attribute == "managed") {
      managed = true;
    } else if (attribute == "unified") {
      lexer.expect('(');
      parse_constant(lexer);
      lexer.expect(',');
      parse_constant(lexer);
      lexer.expect(')');
    } else {
      lexer.fail("unknown attribute ." + std::string(attribute));
    }
  } while (lexer.accept(','));
  lexer.expect(')');
  return managed;
}

Declaration parse_declaration(Lexer& lexer) {
  Declaration declaration;
  bool pointer = false;  // after .ptr, .align is that of what is pointed to
  Space space;
  while (lexer.peek() == '.') {
    const std::string_view word = lexer.directive();
    if (word == "align") {
      const uint32_t align = parse_align(lexer);
      if (!pointer) declaration.align = align;
    } else if (word == "attribute") {
      declaration.managed |= parse_attribute(lexer);
    } else if (word == "v2" || word == "v4") {
      declaration.vector = static_cast<uint32_t>(word[1] - '0');
    } else if (word == "ptr") {
      pointer = true;
    } else if ((pointer && parse_space(word, space) && space != Space::reg) ||
               (declaration.type == Type::none && parse_type(word, declaration.type))) {
      continue;
    } else if (declaration.type == Type::none &&
               (word == "texref" || word == "samplerref" || word == "surfref")) {
      declaration.type = Type::none;
      declaration.align = 8;
      declaration.vector = 0;  // opaque
      return declaration;
    } else {
      lexer.fail("unknown directive ." + std::string(word) + " in a declaration");
    }
  }
  if (declaration.type == Type::none) lexer.fail_expected("a type");
  return declaration;
}

Declared parse_declared(Lexer& lexer, const Declaration& declaration, Space space, bool external) {
  Declared declared;
  Variable& variable = declared.variable;
  const bool opaque = declaration.vector == 0;
  variable.space = space;
  variable.type = opaque ? Type::b64 : declaration.type;
  variable.managed = declaration.managed;
  variable.external = external;
  variable.name = lexer.identifier();
  if (space == Space::reg) {
    if (lexer.accept('<')) {
      declared.range = lexer.number();
      lexer.expect('>');
    }
    variable.size = static_cast<uint64_t>(bits(variable.type)) / 8;
    return declared;
  }
  if (variable.type == Type::pred) lexer.fail("a variable of type .pred");
  if (lexer.next_to() == '<') lexer.fail("a range of variables is not supported outside .reg");

  const uint64_t element = static_cast<uint64_t>(bits(variable.type)) / 8;
  const uint64_t whole = element * std::max(1u, declaration.vector);
  variable.align = declaration.align ? declaration.align : static_cast<uint32_t>(whole);
  std::vector<uint64_t> dimensions;
  bool unsized = false;
  while (lexer.accept('[')) {
    if (dimensions.empty() && lexer.peek() == ']') unsized = true;
    dimensions.push_back(unsized && dimensions.empty() ? 1 : parse_dimension(lexer));
    lexer.expect(']');
  }
  if (declaration.vector > 1) dimensions.push_back(declaration.vector);
  std::vector<uint64_t> stride(dimensions.size() + 1, element);
  for (size_t level = dimensions.size(); level-- > 0;) {
    if (stride[level + 1] > kMaxBytes / dimensions[level]) lexer.fail("a variable of more than 1 TiB");
    stride[level] = stride[level + 1] * dimensions[level];
  }
  variable.size = unsized ? 0 : stride[0];
  if (lexer.peek() != '=') return declared;
  lexer.advance(1);
  if (space != Space::global && space != Space::constant) lexer.fail("an initial value in this state space");
  if (external) lexer.fail("an initial value of an external variable");
  if (opaque)
    skip_opaque_value(lexer);
  else
    Initializer(lexer, variable, stride, unsized).run();
  return declared;
}

}  // namespace simulator::ptx
