#include "common/simulator/loading/frame_decoder.h"

#include <bit>
#include <cmath>

#include "common/simulator/decode/watch.h"
#include "common/simulator/instructions/opcodes.h"
#include "common/simulator/machine/machine.h"

namespace simulator {
namespace {

constexpr uint64_t sink_mark =
    0x5111c5111c5111c0;  // the "value" of what "_" writes to: no other has such a `high`

// Rounds an f64 to the 16-bit formats (nearest even); immediates only, so speed is no matter.
uint16_t to_bfloat16(float value) {
  uint32_t word = std::bit_cast<uint32_t>(value);
  if (value != value) return 0x7fff;
  word += 0x7fff + (word >> 16 & 1);
  return static_cast<uint16_t>(word >> 16);
}

void run_guarded(Warp& warp, const Inst& inst) {
  const uint32_t exec = warp.exec;
  const uint32_t predicate = warp.pred(inst.guard);
  const uint32_t lanes = exec & (inst.guard_negated ? ~predicate : predicate);
  if (lanes == exec) return inst.inner(warp, inst);
  if (lanes == 0) return;
  const bool full = warp.full;
  warp.exec = lanes;
  warp.full = false;
  inst.inner(warp, inst);
  warp.exec = exec;
  warp.full = full;
}

uint16_t to_half(double value) {
  if (value != value) return 0x7fff;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (size >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int step = std::max(exponent - 11, -24);  // of the last bit
  const double units = std::nearbyint(std::ldexp(size, -step));
  if (step == -24)
    return static_cast<uint16_t>(sign + static_cast<uint16_t>(units));  // subnormal, or the first normal
  return static_cast<uint16_t>(sign + ((step + 25 - 1) << 10) + static_cast<int>(units));
}

}  // namespace

std::vector<Access> FrameDecoder::collect() {
  const ptx::Function& function = *program_->function;
  std::vector<Access> accesses(function.instructions.size());
  offsets_ = nullptr;
  for (size_t i = 0; i < accesses.size(); ++i) {
    access_ = &accesses[i];
    one(function.instructions[i]);
    if (ptx_->guard >= 0) {
      access_->reads.push_back(static_cast<uint32_t>(ptx_->guard));
      access_->partial_write = true;
    }
    access_->early_clobber = early_clobber_;
  }
  carried_.emplace(function, accesses);
  return accesses;
}

void FrameDecoder::emit(const Allocated& allocated) {
  offsets_ = &allocated;
  const ptx::Function& function = *program_->function;
  Access ignored;
  for (const ptx::Instruction& instruction : function.instructions) {
    ignored = {};
    access_ = &ignored;
    one(instruction);
    inst_.run = inst_.inner;
    if (instruction.guard >= 0) {
      inst_.guard = allocated.offset[static_cast<size_t>(instruction.guard)];
      inst_.guard_negated = instruction.guard_negated;
      if (!own_guard_) inst_.run = run_guarded;
    }
    watch(ignored);
    program_->code.push_back(inst_);
    program_->memory.push_back(memory_);
  }
  for (const auto& [kind, refusal] : refusals_) {
    if (refusal.count > 1) {
      program_->unsupported[refusal.index] += " (and " + std::to_string(refusal.count - 1) + " more like it)";
    }
  }
}

std::optional<Speculation::Choice> FrameDecoder::speculated() {
  return speculation_.of(index());
}

Carried::Load FrameDecoder::carried() {
  return carried_ ? carried_->of_load(index()) : Carried::Load{};
}

std::vector<CarriedByte> FrameDecoder::carried_here() {
  return carried_ ? carried_->of_store(index()) : std::vector<CarriedByte>{};
}

uint32_t FrameDecoder::constant(uint32_t bytes, uint64_t low, uint64_t high, bool shared) {
  const auto [known, made] = constant_of_.try_emplace({bytes, low, high, shared}, next_constant_);
  if (!made) return known->second;
  const uint32_t offset = next_constant_;
  next_constant_ += std::max(64u, bytes * warp_size);
  program_->constants.push_back({offset, bytes, low, high, shared});
  return offset;
}

void FrameDecoder::one(const ptx::Instruction& instruction) {
  ptx_ = &instruction;
  inst_ = {};
  memory_ = {};
  understood_ = 0;
  early_clobber_ = own_guard_ = false;
  try {
    const Decode decode = find_opcode(instruction.opcode);
    if (!decode) unsupported("this simulator has no such instruction");
    decode(*this);
    for (size_t i = 0; i < instruction.modifiers.size(); ++i) {
      if (!(understood_ >> i & 1))
        unsupported("this simulator has no '." + std::string(instruction.modifiers[i]) + "' here");
    }
    if (!inst_.inner) unsupported("this simulator has no such form");
  } catch (const std::exception& problem) {  // Unsupported, or an operand that is not what it should be
    if (offsets_) {
      refuse(problem.what());
      inst_ = {};
      inst_.inner = [](Warp& warp, const Inst&) {
        fault(warp, FindingKind::not_supported, "this simulator has no such instruction");
      };
    }
  }
}

void FrameDecoder::watch(const Access& access) {
  if (!program_->watch) return;
  Watched& watched = program_->watched.emplace_back();
  for (const auto* registers : {&access.reads, &access.writes}) {
    for (const uint32_t r : *registers) {
      if (program_->watch->registers[r]) watched.registers.push_back(offsets_->offset[r]);
    }
  }
  const Handler handler = program_->watch->handler(*ptx_, !watched.registers.empty());
  if (!handler) return;
  watched.run = inst_.run;
  inst_.run = handler;
}

void FrameDecoder::refuse(const std::string& why) {
  std::string kind = std::string(ptx_->opcode) + ' ' + why;
  for (const std::string_view modifier : ptx_->modifiers) kind.append(1, '.').append(modifier);
  Refusal& refusal = refusals_[kind];
  if (refusal.count++ == 0) {
    refusal.index = program_->unsupported.size();
    std::string text;  // on one line: calls are written over several
    for (const char c : ptx_->text) {
      const bool space = c == '\n' || c == '\t' || c == '\r' || c == ' ';
      if (!space) text += c;
      if (space && !text.empty() && text.back() != ' ') text += ' ';
    }
    program_->unsupported.push_back("PTX line " + std::to_string(ptx_->line) + ": " + text + ": " + why);
  }
}

uint32_t FrameDecoder::offset_of(const ptx::Operand& operand, ptx::Type as, bool write) {
  using Kind = ptx::Operand::Kind;
  const int bits = ptx::bits(as);
  switch (operand.kind) {
    case Kind::reg: {
      auto& list = write ? access_->writes : access_->reads;
      list.push_back(operand.index);
      return offsets_ ? offsets_->offset[operand.index] : 0;
    }
    case Kind::sink:
      if (!write) unsupported("'_' as a source");
      return constant(class_bytes(bits), sink_mark, sink_mark);  // its own storage, never read
    case Kind::immediate:
      if (write) break;
      if (as == ptx::Type::pred) return constant(0, operand.value != 0 ? ~0ull : 0);
      if (as == ptx::Type::f32 || as == ptx::Type::f64) {
        return floating_constant(static_cast<double>(operand.value), as);
      }
      return integer_constant(static_cast<uint64_t>(operand.value), bits);
    case Kind::floating: {
      if (write) break;
      if (operand.floating_bits == 32 && as != ptx::Type::f64) {
        if (bits == 16) {
          return floating_constant(std::bit_cast<float>(static_cast<uint32_t>(operand.value)), as);
        }
        return integer_constant(static_cast<uint32_t>(operand.value), bits);
      }
      if (operand.floating_bits == 32) {
        return floating_constant(std::bit_cast<float>(static_cast<uint32_t>(operand.value)), as);
      }
      if (as == ptx::Type::b64 || as == ptx::Type::u64)
        return integer_constant(static_cast<uint64_t>(operand.value), bits);
      return floating_constant(std::bit_cast<double>(operand.value), as);
    }
    case Kind::variable:
      if (write) break;
      if (operand.variable->space == ptx::Space::shared) {
        if (bits != 32 && bits != 64) unsupported("a shared address of another width");
        const uint64_t address = loader_->address_of(*operand.variable);
        return constant(class_bytes(bits), address + static_cast<uint64_t>(operand.value), 0, true);
      }
      return integer_constant(loader_->address_of(*operand.variable) + static_cast<uint64_t>(operand.value),
                              bits);
    case Kind::function:
      if (write) break;
      return integer_constant(loader_->address_of(*operand.function), bits);
    case Kind::special:
      if (operand.text == "WARP_SZ" && !write) return integer_constant(warp_size, bits);
      break;
    default:
      break;
  }
  unsupported("this simulator has no operand '" + std::string(operand.text) + "' here");
}

uint32_t FrameDecoder::integer_constant(uint64_t value, int bits) {
  if (bits == 128) return constant(16, value, static_cast<int64_t>(value) < 0 ? ~0ull : 0);
  return constant(class_bytes(bits), bits >= 64 ? value : value & ((1ull << bits) - 1));
}

uint32_t FrameDecoder::floating_constant(double value, ptx::Type as) {
  switch (as) {
    case ptx::Type::f64:
      return constant(8, std::bit_cast<uint64_t>(value));
    case ptx::Type::f32:
      return constant(4, std::bit_cast<uint32_t>(static_cast<float>(value)));
    case ptx::Type::bf16:
      return constant(2, to_bfloat16(static_cast<float>(value)));
    case ptx::Type::f16:
      return constant(2, to_half(value));
    default:
      break;
  }
  unsupported("this simulator has no floating-point immediate here");
}

}  // namespace simulator
