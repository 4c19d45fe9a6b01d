// Local memory as a stack: activations of functions, and alloca (PTX ISA 9.7.16, stack manipulation).
#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/frames.h"

namespace simulator {

namespace {

using ptx::Type;

// All lanes of an activation get the same place, as large as the largest that one of them needs.
template <class Register>
void run_alloca(Warp& warp, const Inst& inst) {
  const Register* sizes = warp.reg<Register>(inst.a);
  uint64_t most = 0;
  for (uint32_t left = warp.exec; left; left &= left - 1)
    most = std::max<uint64_t>(most, sizes[std::countr_zero(left)]);
  Frame& frame = *warp.frame;
  const uint64_t align = inst.imm, begin = (frame.local_end() + align - 1) / align * align;
  const uint64_t end = begin + (std::min<uint64_t>(most, max_local_bytes + 1) + 15) / 16 * 16;
  if (end > max_local_bytes) {
    fault(warp, FindingKind::stack_overflow,
          "alloca of " + std::to_string(most) + " bytes: more than a thread's stack holds");
  }
  frame.dynamic += static_cast<uint32_t>(end) - frame.local_end();
  begin_local(warp, static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
  warp.write<Register>(inst.d, [&](int) { return static_cast<Register>(begin); });
}

template <class Register>
void run_stack_save(Warp& warp, const Inst& inst) {
  const uint32_t end = warp.frame->local_end();
  warp.write<Register>(inst.d, [&](int) { return static_cast<Register>(end); });
}

// What other lanes of the activation may still use stays.
template <class Register>
void run_stack_restore(Warp& warp, const Inst& inst) {
  Frame& frame = *warp.frame;
  if (warp.exec != frame.lanes) return;
  const Register* ends = warp.reg<Register>(inst.a);
  uint64_t end = 0;
  for (uint32_t left = warp.exec; left; left &= left - 1)
    end = std::max<uint64_t>(end, ends[std::countr_zero(left)]);
  const uint32_t fixed = frame.local_top + frame.program->local_bytes;
  if (end >= fixed && end <= frame.local_end()) frame.dynamic = static_cast<uint32_t>(end) - fixed;
}

Type pointer_type(Decoder& d) {
  const Type type = d.type();
  if (type != Type::u32 && type != Type::u64) d.unsupported("a stack address has 32 or 64 bits");
  return type;
}

void decode_alloca(Decoder& d) {
  const Type type = pointer_type(d);
  uint64_t align = 16;
  if (d.operand_count() > 2) {
    const ptx::Operand& given = d.operand(2);
    if (given.kind != ptx::Operand::Kind::immediate || given.value <= 0 ||
        !std::has_single_bit(static_cast<uint64_t>(given.value)) || given.value > 256)
      d.unsupported("an alignment of this kind");
    align = std::max<uint64_t>(align, static_cast<uint64_t>(given.value));
  }
  d.inst().imm = align;
  d.inst().a = d.src(1, type);
  d.inst().d = d.dst(0, type);
  d.inst().inner = type == Type::u64 ? run_alloca<uint64_t> : run_alloca<uint32_t>;
}

void decode_stack_save(Decoder& d) {
  const Type type = pointer_type(d);
  d.inst().d = d.dst(0, type);
  d.inst().inner = type == Type::u64 ? run_stack_save<uint64_t> : run_stack_save<uint32_t>;
}

void decode_stack_restore(Decoder& d) {
  const Type type = pointer_type(d);
  d.inst().a = d.src(0, type);
  d.inst().inner = type == Type::u64 ? run_stack_restore<uint64_t> : run_stack_restore<uint32_t>;
}

}  // namespace

std::span<const Opcode> stack_opcodes() {
  static const Opcode table[] = {
      {"alloca", decode_alloca},
      {"stacksave", decode_stack_save},
      {"stackrestore", decode_stack_restore},
  };
  return table;
}

}  // namespace simulator
