// Loads that the compiler has moved in front of the choice that they are made for: "x = p ? *a : 0" becomes a
// load and a selp, "p && *a > 0" a load, a setp and an and. The lanes that were not to load read whatever is
// there, and do not use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/simulator/ptx/module.h"

namespace simulator {

class Speculation {
 public:
  explicit Speculation(const ptx::Function& function);

  struct Choice {
    const ptx::Operand* predicate;  // it has its value before the load
    bool when;                      // the value of the predicate register in the lanes that were to load
  };
  // Of the load that is instruction `load`; nothing: all lanes were to load, as far as can be seen.
  std::optional<Choice> of(size_t load) const;

 private:
  bool between(const ptx::Operand& predicate, size_t load, size_t use) const;

  const ptx::Function& function_;
  std::vector<uint32_t> mentions_;  // per register: how often it is written or read
};

}  // namespace simulator
