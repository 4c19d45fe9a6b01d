// The module level of a PTX text (PTX ISA 9.0, section 11): bodies are skipped over here and read in body.cc.
#include <string>
#include <utility>
#include <vector>

#include "common/simulator/ptx/declaration.h"
#include "common/simulator/ptx/lexer.h"
#include "common/simulator/ptx/module.h"

namespace simulator::ptx {

namespace {

class ModuleParser {
 public:
  explicit ModuleParser(Module& module) : module_(module), lexer_(module.text) {}

  void run() {
    while (lexer_.peek()) directive();
    if (module_.version.empty()) lexer_.fail("no .version: this is not PTX");
    for (const Alias& each : aliases_) {
      Function* function = module_.find(each.aliasee);
      if (!function) fail_at(each.line, ".alias of " + quote(each.aliasee) + ", which is no function");
      module_.function_names[each.name] = function;
    }
    check_references();
  }

 private:
  void directive() {
    const std::string_view word = lexer_.directive();
    if (module_.version.empty() && word != "version") lexer_.fail("a PTX text begins with .version");
    Space space;
    if (word == "visible" || word == "weak" || word == "common" || word == "extern") {
      linkage(word == "extern");
    } else if (word == "entry" || word == "func") {
      function(word == "entry");
    } else if (parse_space(word, space)) {
      variables(space, false);
    } else if (word == "version") {
      if (!module_.version.empty()) lexer_.fail("a second .version");
      module_.version = lexer_.dotted_number();
    } else if (word == "target") {
      target();
    } else if (word == "address_size") {
      if (lexer_.number() != 64) lexer_.fail("only .address_size 64 is supported");
    } else if (word == "file") {
      file();
    } else if (word == "section") {
      if (lexer_.peek() == '.')
        lexer_.directive();
      else
        lexer_.identifier();
      lexer_.block();
    } else if (word == "pragma") {
      pragma();
    } else if (word == "alias") {
      alias();
    } else {
      lexer_.fail("unknown directive ." + std::string(word));
    }
  }

  void linkage(bool external) {
    const std::string_view word = lexer_.directive();
    Space space;
    if (word == "entry" || word == "func")
      function(word == "entry");
    else if (parse_space(word, space))
      variables(space, external);
    else
      lexer_.fail("unknown directive ." + std::string(word) + " after a linking directive");
  }

  void target() {
    const std::string_view name = lexer_.identifier();
    if (module_.target.empty()) module_.target = name;
    while (lexer_.accept(',')) module_.debug |= lexer_.identifier() == "debug";
  }

  void file() {
    const uint32_t index = lexer_.number();
    module_.files[index] = lexer_.quoted();
    while (lexer_.accept(',')) {  // time and size
      lexer_.peek();
      while (is_digit(lexer_.next_to())) lexer_.advance(1);
    }
  }

  // The addresses in initial values are those of variables in global memory and of functions.
  void check_references() {
    for (const Referring& each : referring_) {
      for (const Variable::Reference& reference : each.variable->references) {
        const Variable* named = module_.find_variable(reference.symbol);
        if (!named && !module_.find(reference.symbol))
          fail_at(each.line, quote(reference.symbol) + " is not declared");
        if (named && named->space == Space::shared)
          fail_at(each.line,
                  "the address of " + quote(reference.symbol) + ", in shared memory, as an initial value");
      }
    }
  }

  void alias() {
    const uint32_t line = lexer_.line();
    const std::string_view name = lexer_.identifier();
    lexer_.expect(',');
    aliases_.push_back({name, lexer_.identifier(), line});
    lexer_.expect(';');
  }

  void variables(Space space, bool external) {
    if (space != Space::global && space != Space::constant && space != Space::shared)
      lexer_.fail("a variable in this state space outside a function");
    const Declaration declaration = parse_declaration(lexer_);
    do {
      lexer_.peek();
      const uint32_t line = lexer_.line();
      Variable variable = parse_declared(lexer_, declaration, space, external).variable;
      if (variable.size == 0 && !external) lexer_.fail("array " + quote(variable.name) + " without a size");
      if (module_.function_names.contains(variable.name)) fail_twice(variable.name);
      const auto [entry, is_new] = module_.variable_names.try_emplace(variable.name);
      const bool refers = !variable.references.empty();
      if (is_new) {
        module_.variables.push_back(std::move(variable));
        entry->second = &module_.variables.back();
      } else if (entry->second->external) {
        *entry->second = std::move(variable);
      } else if (!external) {
        fail_twice(variable.name);
      }
      if (refers) referring_.push_back({entry->second, line});
    } while (lexer_.accept(','));
    lexer_.expect(';');
  }

  [[noreturn]] void fail_twice(std::string_view name) { lexer_.fail(quote(name) + " is declared twice"); }

  void function(bool entry) {
    const uint32_t line = lexer_.line();
    Function parsed;
    parsed.entry = entry;
    parsed.line = line;
    if (!entry) {
      while (lexer_.peek() == '.') function_directive(parsed, lexer_.directive());
      if (lexer_.peek() == '(') formals(parsed, parsed.results);
    }
    parsed.name = lexer_.identifier();
    if (lexer_.peek() == '(') formals(parsed, parsed.params);
    while (lexer_.peek() == '.') function_directive(parsed, lexer_.directive());
    if (!lexer_.accept(';')) {
      if (lexer_.peek() != '{') lexer_.fail_expected("'{' or ';'");
      parsed.body_line = lexer_.line();
      parsed.body = lexer_.block();
      parsed.defined = true;
    }
    if (module_.variable_names.contains(parsed.name)) fail_twice(parsed.name);

    const auto [known, is_new] = module_.function_names.try_emplace(parsed.name);
    if (is_new) {
      module_.functions.push_back(std::move(parsed));
      known->second = &module_.functions.back();
    } else if (known->second->defined && parsed.defined) {
      fail_twice(parsed.name);
    } else if (parsed.defined) {
      *known->second = std::move(parsed);
    }
  }

  void formals(Function& parsed, std::vector<const Variable*>& list) {
    lexer_.expect('(');
    if (lexer_.accept(')')) return;
    do {
      const std::string_view word = lexer_.directive();
      if (word != "param" && word != "reg") lexer_.fail("a parameter in ." + std::string(word));
      const Space space = word == "reg" ? Space::reg : Space::param;
      const Declaration declaration = parse_declaration(lexer_);
      Declared declared = parse_declared(lexer_, declaration, space, false);
      if (declared.range >= 0 || (space == Space::reg && declaration.vector != 1))
        lexer_.fail("a parameter that is more than one register");
      parsed.variables.push_back(std::move(declared.variable));
      list.push_back(&parsed.variables.back());
    } while (lexer_.accept(','));
    lexer_.expect(')');
  }

  void triple(uint32_t (&values)[3]) {
    values[1] = values[2] = 1;
    int i = 0;
    do {
      if (i == 3) lexer_.fail("more than three dimensions");
      values[i++] = lexer_.number();
    } while (lexer_.accept(','));
  }

  void function_directive(Function& parsed, std::string_view word) {
    if (word == "maxntid")
      triple(parsed.max_threads);
    else if (word == "reqntid")
      triple(parsed.required_threads);
    else if (word == "reqnctapercluster")
      triple(parsed.required_cluster);
    else if (word == "maxclusterrank")
      parsed.max_cluster_rank = lexer_.number();
    else if (word == "explicitcluster")
      parsed.explicit_cluster = true;
    else if (word == "blocksareclusters")
      parsed.blocks_are_clusters = true;
    else if (word == "minnctapersm")
      parsed.min_ctas = lexer_.number();
    else if (word == "maxnreg")
      parsed.max_registers = lexer_.number();
    else if (word == "attribute")
      parse_attribute(lexer_);
    else if (word == "pragma")
      pragma();
    // No effect on what the function does:
    else if (word == "maxnctapersm" || word == "abi_preserve" || word == "abi_preserve_control" ||
             word == "local_maxnreg")
      lexer_.number();
    else if (word != "noreturn")
      lexer_.fail("unknown directive ." + std::string(word) + " of a function");
  }

  void pragma() {
    do lexer_.quoted();
    while (lexer_.accept(','));
    lexer_.expect(';');
  }

  struct Alias {
    std::string_view name, aliasee;
    uint32_t line;
  };
  struct Referring {  // a variable with addresses among its initial values
    const Variable* variable;
    uint32_t line;
  };
  Module& module_;
  Lexer lexer_;
  std::vector<Alias> aliases_;
  std::vector<Referring> referring_;
};

}  // namespace

Module::Module(std::string source) : text(std::move(source)) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  locations.emplace_back();
  ModuleParser(*this).run();
}

Function* Module::find(std::string_view name) {
  const auto found = function_names.find(name);
  return found == function_names.end() ? nullptr : found->second;
}

const Variable* Module::find_variable(std::string_view name) const {
  const auto found = variable_names.find(name);
  return found == variable_names.end() ? nullptr : found->second;
}

}  // namespace simulator::ptx
