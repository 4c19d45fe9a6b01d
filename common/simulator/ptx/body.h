// One function's body, from text to instructions (PTX ISA 9.0, 4.3 "Statements", 6 "Instruction Operands").
// The implementation of Module::parse_body(); not for use elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/ptx/lexer.h"
#include "common/simulator/ptx/locations.h"
#include "common/simulator/ptx/module.h"
#include "common/simulator/ptx/scope.h"

namespace simulator::ptx {

struct Declared;

class BodyParser {
 public:
  BodyParser(Module& module, Function& function);
  void run();

 private:
  struct TargetList {  // .branchtargets
    std::string_view name;
    uint32_t scope, line;
    std::vector<std::string> labels;
  };

  // body.cc: statements
  void statement();
  void directive();
  void pragma(std::string_view text);
  void labelled(std::string_view label);
  void branch_targets(std::string_view label);
  void call_targets();
  void call_prototype();
  void skip_parameters();
  void declare(std::string_view name, const Symbol& symbol);
  void variables(Space space);
  void registers();
  void add_registers(const Declared& declared, uint32_t vector);
  void instruction(const char* begin);
  void call_operands();
  static void check_call(const Instruction& call);
  void resolve(Operand& operand, const Instruction& instruction);
  void resolve_targets();

  // operand.cc
  Operand operand();
  Operand plain_operand();
  Operand named_operand(bool with_offset);
  Operand address();
  Operand vector(char open, char close);
  Operand constant();
  Operand special(Operand operand);
  Operand register_part(Operand operand, const Symbol& symbol);
  Operand register_operand(uint32_t index, std::string_view text) const;

  Module& module_;
  Function& function_;
  Lexer lexer_;
  Scopes scopes_;
  Locations locations_;
  uint32_t location_ = 0;
  uint32_t used_bytes_ = ~0u;      // of the next instruction
  bool unresolved_ = false;        // does the current instruction have names to resolve at the end?
  std::vector<uint32_t> pending_;  // such instructions
  std::vector<Operand> operands_;  // of the current instruction
  std::vector<std::string_view> modifiers_;
  std::vector<TargetList> target_lists_;
};

}  // namespace simulator::ptx
