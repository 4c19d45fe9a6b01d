// For tests of handlers: PTX instructions built by hand, decoded and run on one warp, without a parser or a
// scheduler.
//
//   OneWarp machine({arithmetic_opcodes()});
//   auto d = machine.reg(ptx::Type::u32), a = machine.reg(ptx::Type::u32);
//   machine.fill<uint32_t>(a, [](int lane) { return lane; });
//   machine.run("add.u32", {d, a, OneWarp::immediate(1)});
//   EXPECT_EQ(machine.get<uint32_t>(d, 31), 32u);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/warp.h"

namespace simulator::tests {

class OneWarp : public Decoder {
 public:
  explicit OneWarp(std::vector<std::span<const Opcode>> families)
      : families_(std::move(families)), frame_(std::make_unique<Storage>()) {
    function_.name = "test";
    own_program_.function = &function_;
    program_ = &own_program_;
    warp.registers = frame_->bytes;
    carry_ = allocate(4);
    lanes(~0u);
  }

  // ---- Operands. Registers start as zeroes.
  ptx::Operand reg(ptx::Type type) {
    function_.registers.push_back({"%r", type});
    offsets_.push_back(allocate(register_bytes(type)));
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::reg;
    operand.index = static_cast<uint32_t>(function_.registers.size() - 1);
    return operand;
  }
  static ptx::Operand immediate(int64_t value) {
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::immediate;
    operand.value = value;
    return operand;
  }
  static ptx::Operand floating(float value) {  // 0f…
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::floating;
    operand.floating_bits = 32;
    operand.value = std::bit_cast<uint32_t>(value);
    return operand;
  }
  static ptx::Operand floating(double value) {  // 0d…
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::floating;
    operand.floating_bits = 64;
    operand.value = std::bit_cast<int64_t>(value);
    return operand;
  }
  static ptx::Operand sink() {
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::sink;
    return operand;
  }
  static ptx::Operand pair(ptx::Operand p, ptx::Operand q) {  // p|q
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::pair;
    operand.elements = {std::move(p), std::move(q)};
    return operand;
  }
  static ptx::Operand vector(std::vector<ptx::Operand> elements) {  // {a, b, …}
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::vector;
    operand.elements = std::move(elements);
    return operand;
  }
  static ptx::Operand negated(ptx::Operand predicate) {  // !%p
    predicate.negated = true;
    return predicate;
  }

  // ---- Values. T as for Warp::reg(); predicates by the 32 bits of all lanes.
  template <class T>
  T* values(const ptx::Operand& operand) {
    return warp.reg<T>(offsets_.at(operand.index));
  }
  template <class T, class F>
  void fill(const ptx::Operand& operand, F f) {
    for (int lane = 0; lane < warp_size; ++lane) values<T>(operand)[lane] = static_cast<T>(f(lane));
  }
  template <class T>
  T get(const ptx::Operand& operand, int lane) {
    return values<T>(operand)[lane];
  }
  void set_predicate(const ptx::Operand& operand, uint32_t bits) {
    std::memcpy(warp.registers + offsets_.at(operand.index), &bits, 4);
  }
  uint32_t predicate_bits(const ptx::Operand& operand) const { return warp.pred(offsets_.at(operand.index)); }
  uint32_t carry_bits() const { return warp.pred(carry_); }
  void set_carry(uint32_t bits) { std::memcpy(warp.registers + carry_, &bits, 4); }

  // The lanes that execute from now on.
  void lanes(uint32_t mask) {
    warp.exec = mask;
    warp.full = mask == ~0u;
    warp.live = ~0u;
  }

  // "add.sat.s32" and its operands, decoded. Throws Unsupported, also for a modifier that is not read.
  const Inst& decode(std::string_view name, std::vector<ptx::Operand> operands) {
    texts_.emplace_back(name);
    std::string_view rest = texts_.back();
    instruction_ = {};
    instruction_.text = rest;
    instruction_.operands = std::move(operands);
    bool first = true;
    while (!rest.empty()) {
      size_t end = rest.find('.');
      while (end != std::string_view::npos && rest.substr(end, 2) == "::") end = rest.find('.', end + 2);
      const std::string_view part = rest.substr(0, end);
      if (first) {
        instruction_.opcode = part;
      } else {
        instruction_.modifiers.push_back(part);
      }
      first = false;
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    const Opcode* opcode = nullptr;
    for (const auto family : families_)
      for (const Opcode& candidate : family)
        if (candidate.name == instruction_.opcode) opcode = &candidate;
    if (!opcode) throw Unsupported("unknown opcode " + std::string(instruction_.opcode));
    ptx_ = &instruction_;
    for (int pass = 0; pass < 2; ++pass) {
      inst_ = {};
      memory_ = {};
      early_clobber_ = own_guard_ = false;
      understood_ = 0;
      opcode->decode(*this);
    }
    for (size_t nth = 0; nth < instruction_.modifiers.size(); ++nth)
      if (!(understood_ >> nth & 1))
        throw Unsupported("modifier " + std::string(instruction_.modifiers[nth]));
    if (!inst_.inner) throw std::logic_error("decoded without a handler: " + std::string(name));
    return inst_;
  }
  void run(std::string_view name, std::vector<ptx::Operand> operands) {
    const Inst instruction = decode(name, std::move(operands));
    instruction.inner(warp, instruction);
  }
  bool supports(std::string_view name, std::vector<ptx::Operand> operands) {
    try {
      decode(name, std::move(operands));
      return true;
    } catch (const Unsupported&) {
      return false;
    }
  }
  bool clobbers_early() const { return early_clobber_; }  // the instruction decoded last
  uint32_t carry() override { return carry_; }

  Warp warp;

 protected:
  uint32_t offset_of(const ptx::Operand& operand, ptx::Type as, bool write) override {
    using Kind = ptx::Operand::Kind;
    if (operand.kind == Kind::reg) return offsets_.at(operand.index);
    if (operand.kind == Kind::sink && write) return allocate(register_bytes(as));
    if (write) throw std::logic_error("not a destination");
    if (operand.kind == Kind::immediate) return constant(static_cast<uint64_t>(operand.value), as);
    if (operand.kind != Kind::floating) throw std::logic_error("an operand that the fixture does not know");
    const double value = operand.floating_bits == 32
                             ? std::bit_cast<float>(static_cast<uint32_t>(operand.value))
                             : std::bit_cast<double>(operand.value);
    if (as == ptx::Type::f32) return constant(std::bit_cast<uint32_t>(static_cast<float>(value)), as);
    if (as == ptx::Type::f64) return constant(std::bit_cast<uint64_t>(value), as);
    return constant(static_cast<uint64_t>(operand.value), as);
  }
  bool is_unused(const ptx::Operand& operand) override { return operand.kind == ptx::Operand::Kind::sink; }

 private:
  struct Storage {
    alignas(64) std::byte bytes[1 << 20] = {};
  };
  static uint32_t register_bytes(ptx::Type type) {
    const int bits = ptx::bits(type);
    return bits == 1 ? 4 : warp_size * static_cast<uint32_t>(bits == 8 ? 2 : bits / 8);
  }
  uint32_t allocate(uint32_t bytes) {
    const uint32_t offset = used_;
    used_ += (bytes + 63) / 64 * 64;
    if (used_ > sizeof(Storage)) throw std::length_error("the fixture's frame is full");
    return offset;
  }
  uint32_t constant(uint64_t value, ptx::Type type) {
    const auto [place, fresh] = constants_.try_emplace({value, register_bytes(type)}, 0);
    if (fresh) {
      const uint32_t bytes = register_bytes(type);
      place->second = allocate(bytes);
      std::byte* const target = warp.registers + place->second;
      if (bytes == 4) {
        const uint32_t all = value ? ~0u : 0;
        std::memcpy(target, &all, 4);
      } else {
        for (int lane = 0; lane < warp_size; ++lane)
          std::memcpy(target + static_cast<uint32_t>(lane) * (bytes / warp_size), &value, bytes / warp_size);
      }
    }
    return place->second;
  }

  std::vector<std::span<const Opcode>> families_;
  std::unique_ptr<Storage> frame_;
  uint32_t used_ = 0, carry_ = 0;
  std::vector<uint32_t> offsets_;  // of registers, by index
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> constants_;
  std::deque<std::string> texts_;
  ptx::Function function_;
  Program own_program_;
  ptx::Instruction instruction_;
};

}  // namespace simulator::tests
