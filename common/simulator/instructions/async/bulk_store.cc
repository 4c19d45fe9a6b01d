// st.bulk: zeroes a range of shared memory (PTX ISA 9.7.9.13).
#include <bit>
#include <string>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/async/opcodes.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr uint32_t part = 8;            // bytes that are stored at once: the size is a multiple of it
constexpr uint64_t largest = 16777216;  // bytes

// b: the size; extra: not 0: of 64 bits.
void run_bulk_store(Warp& warp, const Inst& inst) {
  const AddressUse& use = *static_cast<const AddressUse*>(inst.data);
  const uint32_t exec = warp.exec;
  const bool full = warp.full;
  const std::byte zeroes[warp_size * part] = {};
  warp.full = false;
  for (uint32_t left = exec; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t size = inst.extra ? warp.reg<uint64_t>(inst.b)[lane] : warp.reg<uint32_t>(inst.b)[lane];
    if (size % part != 0 || size > largest) {
      fault(warp, FindingKind::illegal_instruction,
            "st.bulk of " + std::to_string(size) + " bytes: it must be a multiple of 8, at most 2^24", lane);
    }
    warp.exec = 1u << lane;
    Inst step = inst;
    for (uint64_t i = 0; i < size; i += part) {
      Resolved at;
      step.imm = inst.imm + i;
      resolve(warp, step, use, at);
      if (!at.shared) fault(warp, FindingKind::illegal_address, "st.bulk outside of shared memory", lane);
      std::memcpy(at.at[lane], zeroes, part);
      stored(warp, step, use, at, zeroes);
    }
  }
  warp.exec = exec;
  warp.full = full;
}

}  // namespace

void decode_bulk_store(Decoder& d) {
  AddressUse use;
  use.kind = AccessKind::store;
  use.counted = false;
  d.has("weak");
  memory_space(d, use);
  use.cluster = false;
  if (!use.generic && use.space != ptx::Space::shared) d.unsupported("st.bulk outside of shared memory");
  memory_address(d, d.operand(0), use, part);
  d.memory() = {};  // no memory request of a warp's
  const bool wide = d.width(d.operand(1), 32) == 64;
  d.inst().b = d.src(1, wide ? Type::u64 : Type::u32);
  d.inst().extra = wide;
  const Operand& value = d.operand(2);
  if (value.kind != Operand::Kind::immediate || value.value != 0 || d.operand_count() != 3)
    d.unsupported("the value must be 0");
  d.inst().inner = run_bulk_store;
}

}  // namespace simulator
