// Operands of instructions (PTX ISA 9.0, section 6).
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "common/simulator/ptx/body.h"
#include "common/simulator/ptx/expression.h"

namespace simulator::ptx {

namespace {

constexpr std::string_view kVectorSpecials[] = {
    "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
constexpr std::string_view kSpecials[] = {"%laneid",
                                          "%warpid",
                                          "%nwarpid",
                                          "%smid",
                                          "%nsmid",
                                          "%gridid",
                                          "%is_explicit_cluster",
                                          "%cluster_ctarank",
                                          "%cluster_nctarank",
                                          "%lanemask_eq",
                                          "%lanemask_le",
                                          "%lanemask_lt",
                                          "%lanemask_ge",
                                          "%lanemask_gt",
                                          "%clock",
                                          "%clock_hi",
                                          "%clock64",
                                          "%globaltimer",
                                          "%globaltimer_lo",
                                          "%globaltimer_hi",
                                          "%reserved_smem_offset_begin",
                                          "%reserved_smem_offset_end",
                                          "%reserved_smem_offset_cap",
                                          "%reserved_smem_offset_0",
                                          "%reserved_smem_offset_1",
                                          "%total_smem_size",
                                          "%aggr_smem_size",
                                          "%dynamic_smem_size",
                                          "%current_graph_exec"};

template <size_t size>
bool among(const std::string_view (&names)[size], std::string_view name) {
  for (const std::string_view each : names)
    if (each == name) return true;
  return false;
}

bool is_special(std::string_view name) {
  if (name[0] != '%') return false;
  if (among(kVectorSpecials, name) || among(kSpecials, name)) return true;
  for (const std::string_view numbered : {"%pm", "%envreg"}) {  // %pm0, %pm0_64, %envreg31
    if (name.starts_with(numbered) && name.size() > numbered.size() && is_digit(name[numbered.size()]))
      return true;
  }
  return false;
}

// The component that ".x" or ".r" names; -1: none.
int component(std::string_view suffix) {
  if (suffix.size() != 1) return -1;
  const size_t place = std::string_view("xyzwrgba").find(suffix[0]);
  return place == std::string_view::npos ? -1 : static_cast<int>(place % 4);
}

// "b0" … "b3", "h0", "h1": bytes and halves of a 32-bit register.
bool is_part(std::string_view suffix) {
  if (suffix.size() != 2) return false;
  return (suffix[0] == 'b' && suffix[1] >= '0' && suffix[1] <= '3') ||
         (suffix[0] == 'h' && (suffix[1] == '0' || suffix[1] == '1'));
}

}  // namespace

Operand BodyParser::register_operand(uint32_t index, std::string_view text) const {
  Operand operand;
  operand.kind = Operand::Kind::reg;
  operand.index = index;
  operand.text = text;
  return operand;
}

Operand BodyParser::operand() {
  Operand first = plain_operand();
  if (lexer_.peek() != '|') return first;
  const char* begin = first.text.data();
  lexer_.advance(1);
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.elements.reserve(2);
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(plain_operand());
  pair.text = lexer_.since(begin);
  return pair;
}

Operand BodyParser::plain_operand() {
  const char c = lexer_.peek();
  if (starts_identifier(c)) return named_operand(true);
  if (starts_constant(c)) return constant();
  if (c == '[') return address();
  if (c == '{') return vector('{', '}');
  if (c != '!') lexer_.fail_expected("an operand");

  const Lexer before = lexer_;
  const char* begin = lexer_.position();
  lexer_.advance(1);
  Symbol symbol;
  if (starts_identifier(lexer_.peek()) && scopes_.find(lexer_.identifier(), scopes_.current(), symbol)) {
    if (symbol.kind != Symbol::Kind::reg) lexer_.fail("'!' before what is no register");
    Operand operand = register_operand(symbol.index, lexer_.since(begin));
    operand.negated = true;
    return operand;
  }
  lexer_ = before;
  return constant();
}

Operand BodyParser::constant() {
  const char* begin = lexer_.position();
  const Constant constant = parse_constant(lexer_);
  Operand operand;
  operand.kind = constant.floating_bits ? Operand::Kind::floating : Operand::Kind::immediate;
  operand.floating_bits = constant.floating_bits;
  operand.value = static_cast<int64_t>(constant.value);
  operand.text = lexer_.since(begin);
  return operand;
}

Operand BodyParser::named_operand(bool with_offset) {
  const Lexer before = lexer_;
  const char* begin = lexer_.position();
  Operand operand;
  operand.text = lexer_.identifier();
  if (operand.text == "_") {
    operand.kind = Operand::Kind::sink;
    return operand;
  }
  Symbol symbol;
  if (scopes_.find(operand.text, scopes_.current(), symbol)) {
    if (symbol.kind == Symbol::Kind::reg) {
      if (lexer_.next_to() == '.') return register_part(std::move(operand), symbol);
      return register_operand(symbol.index, operand.text);
    }
    if (symbol.kind == Symbol::Kind::vector_reg) return register_part(std::move(operand), symbol);
  }
  if (is_special(operand.text)) return special(std::move(operand));
  if (operand.text == "WARP_SZ") {
    const char c = lexer_.peek();
    if (c == ',' || c == ';' || c == '}' || c == ']' || c == ')') return special(std::move(operand));
    lexer_ = before;
    return constant();
  }
  if (symbol.variable) {
    operand.kind = Operand::Kind::variable;
    operand.variable = symbol.variable;
  } else {  // perhaps a label of this scope that comes later: see resolve()
    operand.kind = Operand::Kind::name;
    operand.index = scopes_.current();
    unresolved_ = true;
  }
  if (with_offset) {
    operand.value = parse_offset(lexer_);
    operand.text = lexer_.since(begin);
  }
  return operand;
}

Operand BodyParser::special(Operand operand) {
  operand.kind = Operand::Kind::special;
  const std::string_view name = operand.text;
  if (lexer_.next_to() != '.') return operand;
  if (!among(kVectorSpecials, name) || component(lexer_.directive()) < 0)
    lexer_.fail("no such part of " + quote(name));
  operand.text = lexer_.since(name.data());
  return operand;
}

// Of a vector register, all or a component; of a plain one, a part.
Operand BodyParser::register_part(Operand operand, const Symbol& symbol) {
  const std::string_view name = operand.text;
  if (lexer_.next_to() != '.') {
    operand.kind = Operand::Kind::vector;
    for (uint32_t i = 0; i < symbol.count; ++i)
      operand.elements.push_back(register_operand(symbol.index + i, name));
    return operand;
  }
  const std::string_view suffix = lexer_.directive();
  const std::string_view text = lexer_.since(name.data());
  if (symbol.kind == Symbol::Kind::vector_reg) {
    const int which = component(suffix);
    if (which < 0 || which >= static_cast<int>(symbol.count)) lexer_.fail("no such part of " + quote(name));
    return register_operand(symbol.index + static_cast<uint32_t>(which), text);
  }
  if (!is_part(suffix)) lexer_.fail("no such part of " + quote(name));
  operand.kind = Operand::Kind::part;
  operand.text = text;
  operand.elements.push_back(register_operand(symbol.index, name));
  return operand;
}

Operand BodyParser::vector(char open, char close) {
  const char* begin = lexer_.position();
  lexer_.expect(open);
  Operand operand;
  operand.kind = Operand::Kind::vector;
  if (lexer_.peek() != close) {
    do operand.elements.push_back(this->operand());
    while (lexer_.accept(','));
  }
  lexer_.expect(close);
  operand.text = lexer_.since(begin);
  return operand;
}

Operand BodyParser::address() {
  const char* begin = lexer_.position();
  lexer_.expect('[');
  Operand operand;
  operand.kind = Operand::Kind::address;
  if (starts_identifier(lexer_.peek())) {
    operand.elements.push_back(named_operand(false));
    const Operand::Kind kind = operand.elements[0].kind;
    if (kind != Operand::Kind::reg && kind != Operand::Kind::variable && kind != Operand::Kind::name &&
        kind != Operand::Kind::immediate)
      lexer_.fail(quote(operand.elements[0].text) + " is not the base of an address");
    operand.value = parse_offset(lexer_);
  } else {
    operand.elements.push_back(constant());
    if (operand.elements[0].kind != Operand::Kind::immediate) lexer_.fail("an address that is no integer");
  }
  while (lexer_.accept(',')) operand.elements.push_back(this->operand());
  lexer_.expect(']');
  operand.text = lexer_.since(begin);
  return operand;
}

}  // namespace simulator::ptx
