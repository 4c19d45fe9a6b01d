// Asynchronous instructions go on using registers after they were issued. Any other instruction of their
// function that names one of these runs through a handler that checks first.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/unit.h"

namespace simulator {

// Of a function, by the family of instructions that uses its registers so.
class Watch {
 public:
  Watch(const Unit& unit_, std::vector<bool> registers_) : unit(unit_), registers(std::move(registers_)) {}
  virtual ~Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // What runs in place of an instruction. names_one: of `registers`. Null: it is not watched.
  virtual Handler handler(const ptx::Instruction& instruction, bool names_one) const = 0;

  const Unit& unit;                   // which keeps what is under way
  const std::vector<bool> registers;  // by number
};

// Null: the function has no such instructions.
using MakeWatch = std::unique_ptr<const Watch> (*)(const ptx::Function&);

// What waits for these instructions: until then the registers are in use.
void keep_watched(Decoder& decoder);

// Adds those that an operand names.
void add_registers(const ptx::Operand& operand, std::vector<bool>& registers);

// Compilers put moves where they like.
bool is_move(const ptx::Instruction& instruction);

}  // namespace simulator
