// Decodes a function: the Decoder that decode functions see, with registers in the frame of a warp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/program/registers.h"

namespace simulator {

inline uint32_t class_bytes(int bits) {  // per lane, of a register
  return bits <= 1 ? 0 : bits <= 16 ? 2 : static_cast<uint32_t>(bits) / 8;
}

// The carry flags come first in a frame; so that offset 0 can mean "no guard".
constexpr uint32_t carry_offset = 0, first_constant = 64;

class FrameDecoder final : public Decoder {
 public:
  FrameDecoder(Loader& loader, Program& program) : speculation_(*program.function) {
    loader_ = &loader;
    program_ = &program;
  }

  // First pass: what is read and written. Constants get their storage here.
  std::vector<Access> collect();

  // Second pass: instructions.
  void emit(const Allocated& allocated);

  uint32_t constants_end() const { return next_constant_; }
  uint32_t carry() override { return carry_offset; }
  std::optional<Speculation::Choice> speculated() override;
  Carried::Load carried() override;
  std::vector<CarriedByte> carried_here() override;

  uint32_t constant(uint32_t bytes, uint64_t low, uint64_t high = 0, bool shared = false);

 private:
  void one(const ptx::Instruction& instruction);
  size_t index() const { return static_cast<size_t>(ptx_ - program_->function->instructions.data()); }

  void watch(const Access& access);  // if it is to be (decode/watch.h)

  // One line for all instructions that differ in their operands only: there may be thousands.
  void refuse(const std::string& why);

  uint32_t offset_of(const ptx::Operand& operand, ptx::Type as, bool write) override;

  uint32_t integer_constant(uint64_t value, int bits);
  uint32_t floating_constant(double value, ptx::Type as);
  bool is_unused(const ptx::Operand& operand) override {
    if (operand.kind == ptx::Operand::Kind::sink) return true;
    return offsets_ && operand.kind == ptx::Operand::Kind::reg && !offsets_->read[operand.index];
  }

  struct Refusal {
    size_t index = 0;  // in Program::unsupported
    uint32_t count = 0;
  };
  std::map<std::string, Refusal> refusals_;
  Speculation speculation_;
  std::optional<Carried> carried_;  // in the second pass
  const Allocated* offsets_ = nullptr;
  Access* access_ = nullptr;
  uint32_t next_constant_ = first_constant;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t, bool>, uint32_t>
      constant_of_;  // bytes, low, high, shared → offset
};

}  // namespace simulator
