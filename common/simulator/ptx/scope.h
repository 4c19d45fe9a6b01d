// Names inside a function. Every { } is a scope (inline assembly and calls make many): a name is looked for
// in the innermost one, then outwards.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/simulator/ptx/module.h"

namespace simulator::ptx {

struct Symbol {
  enum class Kind : uint8_t {
    reg,         // index: Function::registers
    vector_reg,  // `count` registers from index
    variable,
    label,  // index: the instruction it stands before
    branch_targets,
    prototype  // .callprototype or .calltargets
  };
  Kind kind = Kind::reg;
  uint32_t index = 0;
  uint32_t count = 0;
  const Variable* variable = nullptr;
};

class Scopes {
 public:
  Scopes() : scopes_(1) {}

  uint32_t current() const { return current_; }
  void enter();
  void leave();  // not from the outermost one (0)

  // False where the current scope has the name already.
  bool declare(std::string_view name, const Symbol& symbol);
  // name0, name1, …: `count` registers from `first`. A prefix must not end in a digit.
  void declare_range(std::string_view prefix, uint32_t first, uint32_t count);

  // As seen from `scope`; false where there is no such name.
  bool find(std::string_view name, uint32_t scope, Symbol& symbol) const;
  // Whether the current scope itself has it.
  bool has(std::string_view name) const;

 private:
  struct Range {
    std::string_view prefix;
    uint32_t first, count;
  };
  struct Scope {
    uint32_t parent = 0;
    bool named = false;  // is anything in names_ of this scope?
    std::vector<Range> ranges;
  };
  struct Key {
    uint32_t scope;
    std::string_view name;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()(key.name) + key.scope * 0x9E3779B97F4A7C15ull;
    }
  };
  const Range* find_range(const Scope& scope, std::string_view prefix, uint32_t number) const;

  std::vector<Scope> scopes_;
  std::unordered_map<Key, Symbol, Hash> names_;
  uint32_t current_ = 0;
};

}  // namespace simulator::ptx
