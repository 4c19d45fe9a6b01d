// Values that a function only carries from one place in memory to another, perhaps packed into other
// registers on the way: such as a struct that is copied as a whole, its padding with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/simulator/program/registers.h"
#include "common/simulator/ptx/module.h"

namespace simulator {

struct CarriedByte {
  static constexpr uint32_t no_load = ~0u;
  uint32_t load = no_load;  // the instruction that loads it
  uint8_t byte = 0;         // of what that loads
};

class Carried {
 public:
  Carried(const ptx::Function& function, const std::vector<Access>& accesses);

  struct Load {
    uint32_t bytes = 0;          // a bit per byte: stores use it, and nothing else
    int32_t begin = 0, end = 0;  // around its address: what its thread loads together, a struct
  };
  Load of_load(size_t load) const { return loads_[load]; }
  // Of the value that it stores, byte by byte; empty: none is carried.
  std::vector<CarriedByte> of_store(size_t store) const;

 private:
  static constexpr uint32_t most_bytes = 8;  // of a register that is followed
  using Value = std::array<CarriedByte, most_bytes>;

  bool stores_loads(const std::vector<Access>& accesses) const;
  bool begins_block(size_t at) const;
  bool follows(uint32_t reg) const;
  bool follows(const ptx::Operand& operand) const;
  Value value_of(const ptx::Operand& operand) const;
  void set(const ptx::Operand& to, const Value& value);
  void load(size_t at);
  bool carry(const ptx::Instruction& instruction);
  void use(uint32_t reg);
  std::pair<ptx::Operand, int64_t> base_of(ptx::Operand base) const;
  void find_structs(const std::vector<Access>& accesses);

  const ptx::Function& function_;
  static constexpr uint32_t none = ~0u, several = none - 1;
  std::vector<uint32_t> writer_;  // per register: the one instruction that writes it
  std::vector<Value> values_;     // per register; empty: nothing is carried
  std::vector<Load> loads_;       // per instruction
};

}  // namespace simulator
