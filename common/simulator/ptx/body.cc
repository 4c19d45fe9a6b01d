#include "common/simulator/ptx/body.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "common/simulator/ptx/declaration.h"

namespace simulator::ptx {

BodyParser::BodyParser(Module& module, Function& function)
    : module_(module), function_(function), lexer_(function.body, function.body_line), locations_(module) {}

void BodyParser::run() {
  function_.instructions.reserve(
      static_cast<size_t>(std::count(function_.body.begin(), function_.body.end(), ';')));
  for (const Variable& formal : function_.variables) {
    if (formal.name == "_") continue;
    if (formal.space == Space::reg) {
      const auto index = static_cast<uint32_t>(function_.registers.size());
      function_.registers.push_back({formal.name, formal.type});
      declare(formal.name, {Symbol::Kind::reg, index, 0, nullptr});
    } else {
      declare(formal.name, {Symbol::Kind::variable, 0, 0, &formal});
    }
  }
  while (lexer_.peek()) statement();
  resolve_targets();
  for (const uint32_t index : pending_) {
    Instruction& instruction = function_.instructions[index];
    for (Operand& operand : instruction.operands) resolve(operand, instruction);
    if (instruction.opcode == "call") check_call(instruction);
  }
  std::vector<uint32_t>& labels = function_.label_targets;
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
}

void BodyParser::statement() {
  const char c = lexer_.peek();
  const char* begin = lexer_.position();
  if (c == '{') {
    lexer_.advance(1);
    scopes_.enter();
  } else if (c == '}') {  // braces are known to match: the body was found by them
    lexer_.advance(1);
    scopes_.leave();
  } else if (c == '.') {
    directive();
  } else if (c == '@') {
    instruction(begin);
  } else {
    const Lexer before = lexer_;
    const std::string_view name = lexer_.identifier();
    if (lexer_.accept(':')) {
      labelled(name);
    } else {
      lexer_ = before;
      instruction(begin);
    }
  }
}

void BodyParser::declare(std::string_view name, const Symbol& symbol) {
  if (!scopes_.declare(name, symbol)) lexer_.fail(quote(name) + " is declared twice");
}

void BodyParser::labelled(std::string_view label) {
  if (lexer_.peek() == '.') {
    const Lexer before = lexer_;
    const std::string_view word = lexer_.directive();
    if (word == "branchtargets") return branch_targets(label);
    if (word == "callprototype" || word == "calltargets") {
      declare(label, {Symbol::Kind::prototype, 0, 0, nullptr});
      return word == "callprototype" ? call_prototype() : call_targets();
    }
    lexer_ = before;
  }
  const auto index = static_cast<uint32_t>(function_.instructions.size());
  declare(label, {Symbol::Kind::label, index, 0, nullptr});
  function_.label_targets.push_back(index);
}

void BodyParser::directive() {
  const std::string_view word = lexer_.directive();
  Space space;
  if (word == "loc") {
    location_ = locations_.parse(lexer_, location_);
  } else if (word == "reg") {
    registers();
  } else if (parse_space(word, space)) {
    variables(space);
  } else if (word == "pragma") {
    do pragma(lexer_.quoted());
    while (lexer_.accept(','));
    lexer_.expect(';');
  } else {
    lexer_.fail("unknown directive ." + std::string(word));
  }
}

// "used_bytes_mask N", N in decimal or 0x…, is about the next instruction; all others are hints.
void BodyParser::pragma(std::string_view text) {
  constexpr std::string_view name = "used_bytes_mask ";
  if (!text.starts_with(name)) return;
  text.remove_prefix(name.size());
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint32_t mask = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mask, base);
  if (error == std::errc() && end == text.data() + text.size()) used_bytes_ = mask;
}

void BodyParser::branch_targets(std::string_view label) {
  declare(label, {Symbol::Kind::branch_targets, 0, 0, nullptr});
  TargetList list{label, scopes_.current(), lexer_.line(), {}};
  do {
    const std::string name(lexer_.identifier());
    if (lexer_.accept('<')) {
      const uint32_t count = lexer_.number();
      lexer_.expect('>');
      for (uint32_t i = 0; i < count; ++i) list.labels.push_back(name + std::to_string(i));
    } else {
      list.labels.push_back(name);
    }
  } while (lexer_.accept(','));
  lexer_.expect(';');
  target_lists_.push_back(std::move(list));
}

void BodyParser::call_targets() {
  do {
    const std::string_view name = lexer_.identifier();
    if (!module_.find(name)) lexer_.fail(".calltargets names " + quote(name) + ", which is no function");
  } while (lexer_.accept(','));
  lexer_.expect(';');
}

void BodyParser::skip_parameters() {
  if (!lexer_.accept('(')) return;
  if (lexer_.accept(')')) return;
  do {
    const std::string_view word = lexer_.directive();
    if (word != "param" && word != "reg") lexer_.fail("a parameter in ." + std::string(word));
    parse_declared(lexer_, parse_declaration(lexer_), word == "reg" ? Space::reg : Space::param, false);
  } while (lexer_.accept(','));
  lexer_.expect(')');
}

void BodyParser::call_prototype() {
  skip_parameters();
  lexer_.identifier();
  skip_parameters();
  while (lexer_.peek() == '.') {
    const std::string_view word = lexer_.directive();
    if (word == "abi_preserve" || word == "abi_preserve_control")
      lexer_.number();
    else if (word != "noreturn")
      lexer_.fail("unknown directive ." + std::string(word) + " of .callprototype");
  }
  lexer_.expect(';');
}

void BodyParser::variables(Space space) {
  if (space == Space::global || space == Space::constant)
    lexer_.fail("a .global or .const variable inside a function is not supported");
  const Declaration declaration = parse_declaration(lexer_);
  do {
    function_.variables.push_back(parse_declared(lexer_, declaration, space, false).variable);
    const Variable& variable = function_.variables.back();
    if (variable.size == 0) lexer_.fail("array " + quote(variable.name) + " without a size");
    declare(variable.name, {Symbol::Kind::variable, 0, 0, &variable});
  } while (lexer_.accept(','));
  lexer_.expect(';');
}

void BodyParser::registers() {
  const Declaration declaration = parse_declaration(lexer_);
  if (declaration.vector == 0) lexer_.fail("a register of an opaque type");
  do add_registers(parse_declared(lexer_, declaration, Space::reg, false), declaration.vector);
  while (lexer_.accept(','));
  lexer_.expect(';');
}

void BodyParser::add_registers(const Declared& declared, uint32_t vector) {
  const std::string_view name = declared.variable.name;
  const Type type = declared.variable.type;
  const auto first = static_cast<uint32_t>(function_.registers.size());
  if (vector > 1) {
    if (declared.range >= 0) lexer_.fail("a range of vector registers is not supported");
    for (uint32_t i = 0; i < vector; ++i) {
      function_.register_names.push_back(std::string(name) + "." + "xyzw"[i]);
      function_.registers.push_back({function_.register_names.back(), type});
    }
    return declare(name, {Symbol::Kind::vector_reg, first, vector, nullptr});
  }
  if (declared.range < 0) {
    function_.registers.push_back({name, type});
    return declare(name, {Symbol::Kind::reg, first, 0, nullptr});
  }

  const auto count = static_cast<uint32_t>(declared.range);
  if (count > 1u << 24) lexer_.fail("more than 16 million registers");
  // The names, one after the other, in one string.
  function_.register_names.emplace_back();
  std::string& names = function_.register_names.back();
  std::vector<uint32_t> ends;
  ends.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    char digits[10];
    const auto [end, error] = std::to_chars(digits, std::end(digits), i);
    names.append(name).append(digits, end);
    ends.push_back(static_cast<uint32_t>(names.size()));
  }
  const std::string_view all = names;
  const bool plain = !is_digit(name.back());  // else "%r1<3>" would look like "%r<13>": one by one
  function_.registers.reserve(function_.registers.size() + count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t begin = i ? ends[i - 1] : 0;
    function_.registers.push_back({all.substr(begin, ends[i] - begin), type});
    if (!plain) declare(function_.registers.back().name, {Symbol::Kind::reg, first + i, 0, nullptr});
  }
  if (!plain) return;
  for (uint32_t i = first; i < first + count; ++i)
    if (scopes_.has(function_.registers[i].name))
      lexer_.fail(quote(function_.registers[i].name) + " is declared twice");
  scopes_.declare_range(name, first, count);
}

void BodyParser::instruction(const char* begin) {
  Instruction instruction;
  instruction.line = lexer_.line();
  instruction.location = location_;
  instruction.used_bytes = std::exchange(used_bytes_, ~0u);
  unresolved_ = false;
  if (lexer_.accept('@')) {
    instruction.guard_negated = lexer_.accept('!');
    const std::string_view name = lexer_.identifier();
    Symbol symbol;
    if (!scopes_.find(name, scopes_.current(), symbol) || symbol.kind != Symbol::Kind::reg ||
        function_.registers[symbol.index].type != Type::pred)
      lexer_.fail(quote(name) + " is no predicate");
    instruction.guard = static_cast<int32_t>(symbol.index);
  }
  instruction.opcode = lexer_.identifier();
  modifiers_.clear();
  while (lexer_.peek() == '.') modifiers_.push_back(lexer_.directive());
  instruction.modifiers = modifiers_;
  operands_.clear();
  if (instruction.opcode == "call") {
    call_operands();
  } else if (lexer_.peek() != ';') {
    do operands_.push_back(operand());
    while (lexer_.accept(','));
  }
  instruction.text = lexer_.since(begin);
  lexer_.expect(';');
  instruction.operands.assign(std::make_move_iterator(operands_.begin()),
                              std::make_move_iterator(operands_.end()));
  if (unresolved_) pending_.push_back(static_cast<uint32_t>(function_.instructions.size()));
  function_.instructions.push_back(std::move(instruction));
}

void BodyParser::call_operands() {
  Operand none;
  none.kind = Operand::Kind::vector;
  if (lexer_.peek() == '(') {
    operands_.push_back(vector('(', ')'));
    lexer_.expect(',');
  } else {
    operands_.push_back(none);
  }
  operands_.push_back(operand());
  const Operand::Kind callee = operands_.back().kind;
  if (callee != Operand::Kind::reg && callee != Operand::Kind::name)
    lexer_.fail("a call of what is no function");
  operands_.push_back(none);
  if (!lexer_.accept(',')) return;
  if (lexer_.peek() == '(') {
    operands_.back() = vector('(', ')');
    if (!lexer_.accept(',')) return;
  }
  operands_.push_back(operand());
  if (operands_.back().kind != Operand::Kind::name) lexer_.fail("a prototype expected");
}

void BodyParser::check_call(const Instruction& call) {
  const Operand::Kind callee = call.operands[1].kind;
  if (callee != Operand::Kind::reg && callee != Operand::Kind::function)
    fail_at(call.line, quote(call.operands[1].text) + " is no function");
  if (call.operands.size() == 4 && call.operands[3].kind != Operand::Kind::name)
    fail_at(call.line, quote(call.operands[3].text) + " is no prototype");
}

// Labels may come after their use, so a name that is neither a register nor a variable of the function is
// looked up when the whole body has been read. `index` of such an operand is the scope it stands in.
void BodyParser::resolve(Operand& operand, const Instruction& instruction) {
  for (Operand& element : operand.elements) resolve(element, instruction);
  if (operand.kind != Operand::Kind::name) return;
  size_t size = 0;  // less an offset: "name+8"
  while (size < operand.text.size() &&
         (starts_identifier(operand.text[size]) || is_digit(operand.text[size])))
    ++size;
  const std::string_view name = operand.text.substr(0, size);
  Symbol symbol;
  if (scopes_.find(name, operand.index, symbol)) {
    operand.index = 0;
    switch (symbol.kind) {
      case Symbol::Kind::label:
        operand.kind = Operand::Kind::label;
        operand.index = symbol.index;
        break;
      case Symbol::Kind::branch_targets:
      case Symbol::Kind::prototype:
        break;
      default:
        fail_at(instruction.line, quote(name) + " is used before it is declared");
    }
  } else if (const Variable* variable = module_.find_variable(name)) {
    operand.kind = Operand::Kind::variable;
    operand.variable = variable;
    operand.index = 0;
    return;
  } else if (const Function* function = module_.find(name)) {
    operand.kind = Operand::Kind::function;
    operand.function = function;
    operand.index = 0;
  } else {
    fail_at(instruction.line, quote(name) + " is not declared");
  }
  if (operand.value != 0)
    fail_at(instruction.line, "an offset from " + quote(name) + ", which is no variable");
}

void BodyParser::resolve_targets() {
  for (const TargetList& list : target_lists_) {
    const auto [targets, is_new] = function_.branch_targets.try_emplace(list.name);
    if (!is_new)
      fail_at(list.line, "a second .branchtargets " + quote(list.name) + " in a function is not supported");
    for (const std::string& label : list.labels) {
      Symbol symbol;
      if (!scopes_.find(label, list.scope, symbol) || symbol.kind != Symbol::Kind::label)
        fail_at(list.line, quote(label) + " is no label");
      targets->second.push_back(symbol.index);
    }
  }
}

void Module::parse_body(Function& function) {
  if (function.parsed) return;
  if (!function.defined) fail_at(function.line, quote(function.name) + " has no body");
  const size_t formals = function.params.size() + function.results.size();
  try {
    BodyParser(*this, function).run();
    function.parsed = true;
  } catch (...) {  // as before, so that a second call fails in the same way
    function.registers.clear();
    function.register_names.clear();
    function.instructions.clear();
    function.branch_targets.clear();
    function.label_targets.clear();
    while (function.variables.size() > formals) function.variables.pop_back();
    throw;
  }
}

}  // namespace simulator::ptx
