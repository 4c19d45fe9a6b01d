#include "common/simulator/ptx/scope.h"

#include "common/simulator/ptx/lexer.h"

namespace simulator::ptx {

namespace {

// "%r12" is prefix "%r" and number 12; false where the name does not end in a number as ranges have them.
bool split(std::string_view name, std::string_view& prefix, uint32_t& number) {
  size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  const size_t count = name.size() - digits;
  if (count == 0 || count > 9 || (count > 1 && name[digits] == '0')) return false;
  prefix = name.substr(0, digits);
  number = 0;
  for (const char c : name.substr(digits)) number = number * 10 + static_cast<uint32_t>(c - '0');
  return true;
}

}  // namespace

void Scopes::enter() {
  scopes_.push_back({current_, false, {}});
  current_ = static_cast<uint32_t>(scopes_.size()) - 1;
}

void Scopes::leave() {
  current_ = scopes_[current_].parent;
}

const Scopes::Range* Scopes::find_range(const Scope& scope, std::string_view prefix, uint32_t number) const {
  for (const Range& range : scope.ranges)
    if (number < range.count && range.prefix == prefix) return &range;
  return nullptr;
}

bool Scopes::has(std::string_view name) const {
  std::string_view prefix;
  uint32_t number;
  return (split(name, prefix, number) && find_range(scopes_[current_], prefix, number)) ||
         (scopes_[current_].named && names_.contains({current_, name}));
}

bool Scopes::declare(std::string_view name, const Symbol& symbol) {
  if (has(name)) return false;
  scopes_[current_].named = true;
  names_.emplace(Key{current_, name}, symbol);
  return true;
}

void Scopes::declare_range(std::string_view prefix, uint32_t first, uint32_t count) {
  scopes_[current_].ranges.push_back({prefix, first, count});
}

bool Scopes::find(std::string_view name, uint32_t scope, Symbol& symbol) const {
  std::string_view prefix;
  uint32_t number;
  const bool numbered = split(name, prefix, number);
  for (;; scope = scopes_[scope].parent) {
    const Scope& each = scopes_[scope];
    const Range* range = numbered ? find_range(each, prefix, number) : nullptr;
    if (range) {
      symbol = {Symbol::Kind::reg, range->first + number, 0, nullptr};
      return true;
    }
    if (each.named) {
      const auto found = names_.find({scope, name});
      if (found != names_.end()) {
        symbol = found->second;
        return true;
      }
    }
    if (scope == 0) return false;
  }
}

}  // namespace simulator::ptx
