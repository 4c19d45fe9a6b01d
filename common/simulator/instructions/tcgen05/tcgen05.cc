// tcgen05: the tensor core of the 5th generation (PTX ISA 9.7.16). Which file has which instruction, and
// tcgen05.commit.
#include <bit>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/tcgen05/common.h"
#include "common/simulator/instructions/tcgen05/memory_instruction.h"
#include "common/simulator/instructions/tcgen05/mma.h"
#include "common/simulator/instructions/tcgen05/opcodes.h"
#include "common/simulator/instructions/tcgen05/pipeline.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

using ptx::Type;

struct CommitUse {
  AddressUse mbarrier;
  uint32_t mask = 0;  // register: CTAs; 0: no multicast
};

// A generic address that is only an offset in shared memory: "If the address specified by mbar does not fall
// within the address window of .shared::cluster state space then the behavior is undefined" (PTX ISA,
// tcgen05.commit). Hardware takes it.
void take_shared_offsets(Warp& warp, Resolved& at) {
  bool reported = !(warp.worker->checking && settings().strict);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (at.address[lane] >> 32) continue;
    if (!reported) {
      finding(
          warp, FindingKind::illegal_instruction,
          "tcgen05.commit without .shared::cluster takes a generic address, and this is an offset in shared "
          "memory: undefined behaviour by the PTX ISA, though hardware takes it",
          lane);
    }
    reported = true;
    at.address[lane] += shared_window;
  }
}

void run_commit(Warp& warp, const Inst& inst) {
  const CommitUse& use = *static_cast<const CommitUse*>(inst.data);
  check_single_thread(warp, "commit");
  Resolved at;
  named_addresses(warp, inst, use.mbarrier, at);
  if (use.mbarrier.generic) take_shared_offsets(warp, at);
  resolve_addresses(warp, inst, use.mbarrier, at);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    if (!at.shared) {
      fault(warp, FindingKind::illegal_address, "an mbarrier object must lie in shared memory",
            static_cast<int>(lane));
    }
    const uint32_t address = at.holder[lane]->rank << rank_shift | static_cast<uint32_t>(at.address[lane]);
    begin_tcgen05_commit(warp, lane, address, use.mask ? warp.reg<uint16_t>(use.mask)[lane] : 0);
  }
}

void decode_commit(Decoder& d) {
  CommitUse use;
  tcgen05_cta_group(d);
  if (!d.has("mbarrier::arrive::one")) d.unsupported("unknown completion mechanism");
  use.mbarrier.kind = AccessKind::atomic;
  memory_space(d, use.mbarrier);
  use.mbarrier.cluster = true;
  if (!d.has("b64")) d.unsupported("the type must be .b64");
  const bool multicast = d.has("multicast::cluster");
  if (d.operand_count() != (multicast ? 2 : 1)) d.unsupported("unexpected operands");
  if (multicast) use.mask = d.src(1, Type::u16);
  use.mbarrier = memory_address(d, d.operand(0), use.mbarrier, 8);
  d.memory() = {};  // no memory request: mbarriers are a unit of their own
  d.inst().data = d.keep(use);
  d.inst().inner = run_commit;
}

void decode(Decoder& d) {
  if (d.has("mma")) return decode_tcgen05_mma(d);
  if (d.has("commit")) return decode_commit(d);
  decode_tcgen05_memory(d);
}

}  // namespace

std::span<const Opcode> tcgen05_opcodes() {
  static const Opcode table[] = {{"tcgen05", decode}};
  return table;
}

}  // namespace simulator
