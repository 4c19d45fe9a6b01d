#include "common/simulator/decode/decoder.h"

namespace simulator {

bool Decoder::has(std::string_view wanted) {
  bool found = false;
  for (size_t i = 0; i < ptx_->modifiers.size(); ++i) {
    if (ptx_->modifiers[i] == wanted) {
      understood_ |= 1ull << i;
      found = true;
    }
  }
  return found;
}

int Decoder::one_of(std::initializer_list<std::string_view> wanted) {
  int index = 0;
  for (std::string_view each : wanted) {
    if (has(each)) return index;
    ++index;
  }
  return -1;
}

ptx::Type Decoder::type(int nth) {
  for (size_t i = 0; i < ptx_->modifiers.size(); ++i) {
    ptx::Type found;
    if (!ptx::parse_type(ptx_->modifiers[i], found) || nth-- > 0) continue;
    understood_ |= 1ull << i;
    return found;
  }
  return ptx::Type::none;
}

std::string_view Decoder::modifier(size_t nth) {
  if (nth >= ptx_->modifiers.size()) return {};
  understood_ |= 1ull << nth;
  return ptx_->modifiers[nth];
}

const ptx::Operand& Decoder::operand(size_t nth) const {
  if (nth >= ptx_->operands.size()) throw Unsupported("an operand is missing");
  return ptx_->operands[nth];
}

uint32_t Decoder::dst(const ptx::Operand& operand, ptx::Type as) {
  return offset_of(operand, as, true);
}
uint32_t Decoder::src(const ptx::Operand& operand, ptx::Type as) {
  return offset_of(operand, as, false);
}
bool Decoder::unused(const ptx::Operand& operand) {
  return is_unused(operand);
}

int Decoder::width(const ptx::Operand& operand, int otherwise) {
  if (operand.kind != ptx::Operand::Kind::reg) return otherwise;
  return ptx::bits(program_->function->registers[operand.index].type);
}

uint32_t Decoder::predicate(const ptx::Operand& operand, bool& negated) {
  negated = operand.negated;
  return src(operand, ptx::Type::pred);
}

const uint32_t* Decoder::list(std::vector<uint32_t> offsets) {
  program_->lists.push_back(std::move(offsets));
  return program_->lists.back().data();
}

void Decoder::unsupported(const std::string& why) {
  throw Unsupported(why);
}

}  // namespace simulator
