#include "common/simulator/program/carried.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>

namespace simulator {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

// The nth modifier that is a type.
Type type_of(const Instruction& instruction, int nth = 0) {
  for (const std::string_view modifier : instruction.modifiers) {
    if (Type type; ptx::parse_type(modifier, type) && nth-- == 0) return type;
  }
  return Type::none;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

// A load or a store of memory, not of parameters.
bool accesses_memory(const Instruction& instruction, std::string_view opcode) {
  return instruction.opcode == opcode && instruction.operands.size() >= 2 &&
         std::none_of(instruction.modifiers.begin(), instruction.modifiers.end(), [](std::string_view each) {
           return each.starts_with("param") || each == "async" || each == "bulk";
         });
}

// An argument or a result of a call: there it is carried on, for all that is known here.
bool stores_param(const Instruction& instruction) {
  return instruction.opcode == "st" && instruction.operands.size() >= 2 &&
         !accesses_memory(instruction, "st") &&
         std::none_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                      [](std::string_view each) { return each == "async" || each == "bulk"; });
}
bool stores(const Instruction& instruction) {
  return accesses_memory(instruction, "st") || stores_param(instruction);
}

bool moves_bytes(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  return (opcode == "mov" || opcode == "cvt" || opcode == "prmt" || opcode == "shr") &&
         instruction.operands.size() >= 2;
}

std::span<const Operand> elements_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.elements;
  return {&operand, 1};
}

template <class F>
void each_register(const Operand& operand, F f) {
  if (operand.kind == Operand::Kind::reg) f(operand.index);
  for (const Operand& element : operand.elements) each_register(element, f);
}

}  // namespace

Carried::Carried(const ptx::Function& function, const std::vector<Access>& accesses)
    : function_(function), writer_(function.registers.size(), none), loads_(function.instructions.size()) {
  const auto& code = function.instructions;
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    for (const uint32_t r : accesses[i].writes) writer_[r] = writer_[r] == none ? i : several;
  }
  if (!stores_loads(accesses)) return;
  values_.resize(function.registers.size());
  uint32_t block = 0;  // where it begins
  std::vector<bool> carries(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (begins_block(i)) block = i;
    if (accesses_memory(code[i], "ld")) load(i);
    if (!moves_bytes(code[i])) continue;
    const auto in_block = [&](uint32_t r) { return !follows(r) || (writer_[r] >= block && writer_[r] < i); };
    carries[i] = std::all_of(accesses[i].reads.begin(), accesses[i].reads.end(), in_block) && carry(code[i]);
  }
  std::vector<uint32_t> stored(code.size());  // as Load::bytes
  for (size_t i = 0; i < code.size(); ++i) {
    if (carries[i]) continue;
    if (stores(code[i])) {
      each_register(code[i].operands[0], [&](uint32_t r) { use(r); });
      for (const CarriedByte& each : of_store(i)) {
        if (each.load != CarriedByte::no_load) stored[each.load] |= 1u << each.byte;
      }
    } else {
      for (const uint32_t r : accesses[i].reads) use(r);
    }
  }
  for (size_t i = 0; i < code.size(); ++i) loads_[i].bytes &= stored[i];
  find_structs(accesses);
}

// Does some store have a value from a load? Most functions compute what they store.
bool Carried::stores_loads(const std::vector<Access>& accesses) const {
  std::vector<uint32_t> values;
  for (const Instruction& at : function_.instructions) {
    if (stores(at)) each_register(at.operands[1], [&](uint32_t r) { values.push_back(r); });
  }
  std::vector<bool> seen(function_.registers.size());
  while (!values.empty()) {
    const uint32_t r = values.back();
    values.pop_back();
    if (seen[r] || !follows(r)) continue;
    seen[r] = true;
    const Instruction& writer = function_.instructions[writer_[r]];
    if (accesses_memory(writer, "ld")) return true;
    const std::vector<uint32_t>& from = accesses[writer_[r]].reads;
    if (moves_bytes(writer)) values.insert(values.end(), from.begin(), from.end());
  }
  return false;
}

bool Carried::begins_block(size_t at) const {
  if (at == 0 || std::binary_search(function_.label_targets.begin(), function_.label_targets.end(), at))
    return true;
  const std::string_view before = function_.instructions[at - 1].opcode;
  return before == "bra" || before == "brx" || before == "call";
}

// It has one value for each time that its one writer runs.
bool Carried::follows(uint32_t reg) const {
  return writer_[reg] < several &&
         ptx::bits(function_.registers[reg].type) <= static_cast<int>(8 * most_bytes);
}
bool Carried::follows(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg && follows(operand.index);
}

Carried::Value Carried::value_of(const Operand& operand) const {
  return follows(operand) ? values_[operand.index] : Value{};
}

void Carried::set(const Operand& to, const Value& value) {
  if (follows(to)) values_[to.index] = value;
}

void Carried::load(size_t at) {
  const Instruction& instruction = function_.instructions[at];
  const Type type = type_of(instruction);
  const uint32_t bytes = static_cast<uint32_t>(ptx::bits(type)) / 8;
  uint32_t begin = 0;
  for (const Operand& to : elements_of(instruction.operands[0])) {
    const bool extended =
        follows(to) && is_signed(type) && ptx::bits(function_.registers[to.index].type) > ptx::bits(type);
    if (follows(to) && !extended && bytes <= most_bytes) {
      Value value;
      for (uint32_t b = 0; b < bytes; ++b)
        value[b] = {static_cast<uint32_t>(at), static_cast<uint8_t>(begin + b)};
      set(to, value);
      loads_[at].bytes |= ((1u << (bytes - 1) << 1) - 1) << begin;
    }
    begin += bytes;
  }
}

// An instruction that moves whole bytes, and whose results are followed.
bool Carried::carry(const Instruction& at) {
  const auto& o = at.operands;
  const std::span<const Operand> results = elements_of(o[0]);
  const auto is_followed = [&](const Operand& each) {
    return each.kind == Operand::Kind::sink || follows(each);
  };
  if (!std::all_of(results.begin(), results.end(), is_followed)) return false;
  const size_t bits = static_cast<size_t>(ptx::bits(type_of(at)));
  if (at.opcode == "mov" && o.size() == 2) {
    const std::span<const Operand> from = elements_of(o[1]);
    const size_t part = bits / 8 / std::max(results.size(), from.size());
    if (bits / 8 > most_bytes || part == 0) return false;
    Value all;
    for (size_t i = 0; i < from.size(); ++i) {
      const Value value = value_of(from[i]);
      std::copy_n(value.begin(), from.size() == 1 ? bits / 8 : part,
                  all.begin() + static_cast<ptrdiff_t>(i * part));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      Value value;
      std::copy_n(all.begin() + static_cast<ptrdiff_t>(i * part), results.size() == 1 ? bits / 8 : part,
                  value.begin());
      set(results[i], value);
    }
    return true;
  }
  if (at.opcode == "cvt" && o.size() == 2 && at.modifiers.size() == 2) {  // cut off, or extended with zeroes
    const Type to = type_of(at), from = type_of(at, 1);
    const auto whole = [](Type type) { return type == Type::u16 || type == Type::u32 || type == Type::u64; };
    if (!whole(to) || !whole(from)) return false;
    Value value = value_of(o[1]);
    std::fill(value.begin() + std::min(ptx::bits(to), ptx::bits(from)) / 8, value.end(), CarriedByte{});
    set(o[0], value);
    return true;
  }
  if (at.opcode == "prmt" && o.size() == 4 && at.modifiers.size() == 1 &&
      o[3].kind == Operand::Kind::immediate && (o[3].value & 0x8888) == 0) {
    const Value low = value_of(o[1]), high = value_of(o[2]);
    Value value;
    for (size_t b = 0; b < 4; ++b) {
      const size_t from = static_cast<size_t>(o[3].value) >> 4 * b & 7;
      value[b] = from < 4 ? low[from] : high[from - 4];
    }
    set(o[0], value);
    return true;
  }
  if (at.opcode == "shr" && o.size() == 3 && !is_signed(type_of(at)) &&
      o[2].kind == Operand::Kind::immediate && o[2].value % 8 == 0 && o[2].value >= 0 &&
      static_cast<size_t>(o[2].value) < bits) {
    const Value from = value_of(o[1]);
    Value value;
    std::copy(from.begin() + o[2].value / 8, from.begin() + static_cast<ptrdiff_t>(bits / 8), value.begin());
    set(o[0], value);
    return true;
  }
  return false;
}

void Carried::use(uint32_t reg) {
  for (const CarriedByte& each : values_[reg]) {
    if (each.load != CarriedByte::no_load) loads_[each.load].bytes &= ~(1u << each.byte);
  }
}

std::vector<CarriedByte> Carried::of_store(size_t store) const {
  const Instruction& instruction = function_.instructions[store];
  std::vector<CarriedByte> bytes;
  if (values_.empty() || !stores(instruction)) return bytes;
  const uint32_t each = static_cast<uint32_t>(ptx::bits(type_of(instruction))) / 8;
  if (each > most_bytes) return bytes;
  for (const Operand& element : elements_of(instruction.operands[1])) {
    const Value value = value_of(element);
    bytes.insert(bytes.end(), value.begin(), value.begin() + each);
  }
  const bool any = std::any_of(bytes.begin(), bytes.end(), [&](const CarriedByte& byte) {
    return byte.load != CarriedByte::no_load && loads_[byte.load].bytes >> byte.byte & 1;
  });
  return any ? bytes : std::vector<CarriedByte>{};
}

// A debug build adds to an address what others have as the offset of a load.
std::pair<Operand, int64_t> Carried::base_of(Operand base) const {
  int64_t offset = 0;
  const auto once = [&](const Operand& each) {
    return each.kind == Operand::Kind::reg && writer_[each.index] < several;
  };
  while (once(base)) {
    const Instruction& writer = function_.instructions[writer_[base.index]];
    const auto& o = writer.operands;
    if (writer.opcode != "add" || writer.guard >= 0 || o.size() != 3 || !once(o[1]) ||
        o[2].kind != Operand::Kind::immediate)
      break;
    offset += o[2].value;
    base = o[1];
  }
  return {base, offset};
}

// Loads of a basic block from neighbouring addresses with one base.
void Carried::find_structs(const std::vector<Access>& accesses) {
  struct Piece {
    std::tuple<Operand::Kind, uint32_t, const ptx::Variable*> base;
    int64_t begin, end;
    size_t load;
  };
  std::vector<Piece> pieces;
  const auto close = [&] {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& x, const Piece& y) {
      return std::tie(x.base, x.begin, x.load) < std::tie(y.base, y.begin, y.load);
    });
    for (size_t first = 0, next = 0; first < pieces.size(); first = next) {
      int64_t end = pieces[first].end;
      while (++next < pieces.size() && pieces[next].base == pieces[first].base && pieces[next].begin <= end)
        end = std::max(end, pieces[next].end);
      for (size_t i = first; i < next; ++i) {
        loads_[pieces[i].load].begin = static_cast<int32_t>(pieces[first].begin - pieces[i].begin);
        loads_[pieces[i].load].end = static_cast<int32_t>(end - pieces[i].begin);
      }
    }
    pieces.clear();
  };
  for (size_t i = 0; i < function_.instructions.size(); ++i) {
    const Instruction& at = function_.instructions[i];
    if (begins_block(i)) close();
    if (accesses_memory(at, "ld") && !at.operands[1].elements.empty()) {
      const Operand& address = at.operands[1];
      const auto [base, offset] = base_of(address.elements[0]);
      const int64_t count = static_cast<int64_t>(elements_of(at.operands[0]).size());
      pieces.push_back({{base.kind, base.index, base.variable},
                        offset + address.value,
                        offset + address.value + ptx::bits(type_of(at)) / 8 * count,
                        i});
    }
    for (const uint32_t r : accesses[i].writes) {
      if (writer_[r] == several) close();  // it may be a base
    }
  }
  close();
}

}  // namespace simulator
