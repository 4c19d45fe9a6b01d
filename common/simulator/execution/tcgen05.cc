// tcgen05: the tensor core of the 5th generation (PTX ISA 9.7.16). Which file has which instruction, and
// tcgen05.commit.
#include "common/simulator/execution/tcgen05.h"

#include <bit>
#include <cstdio>

#include "common/simulator/counters/counts.h"
#include "common/simulator/execution/addresses.h"
#include "common/simulator/execution/check_async.h"
#include "common/simulator/execution/decoder.h"
#include "common/simulator/execution/memory_operand.h"
#include "common/simulator/execution/tensor_memory_instruction.h"
#include "common/simulator/execution/tensor_pipeline.h"

namespace simulator {
namespace {

using ptx::Type;

struct CommitUse {
  AddressUse mbarrier;
  uint32_t mask = 0;  // register: CTAs; 0: no multicast
};

// A generic address that is only an offset in shared memory names no mbarrier, but hardware takes it for one.
void take_shared_offsets(Warp& warp, Resolved& at) {
  bool told = !warp.worker->checking;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (at.address[lane] >> 32) continue;
    if (!told) {
      finding(
          warp, FindingKind::illegal_instruction,
          "tcgen05.commit without .shared::cluster takes a generic address, and this is an offset in shared "
          "memory, which hardware takes as well",
          lane);
    }
    told = true;
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
    begin_tensor_commit(warp, lane, address, use.mask ? warp.reg<uint16_t>(use.mask)[lane] : 0);
  }
}

void decode_commit(Decoder& d) {
  CommitUse use;
  tensor_cta_group(d);
  if (!d.has("mbarrier::arrive::one")) d.unsupported("unknown completion mechanism");
  use.mbarrier.kind = AccessKind::atomic;
  memory_space(d, use.mbarrier);
  use.mbarrier.cluster = true;
  if (!d.has("b64")) d.unsupported("the type must be .b64");
  const bool multicast = d.has("multicast::cluster");
  if (d.operand_count() != (multicast ? 2 : 1)) d.unsupported("unexpected operands");
  if (multicast) use.mask = d.src(1, Type::u16);
  use.mbarrier = memory_address(d, d.operand(0), use.mbarrier, 8);
  d.memory() = {};  // no memory request: it is its own unit's affair
  d.inst().data = d.keep(use);
  d.inst().inner = run_commit;
}

void decode(Decoder& d) {
  if (d.has("mma")) return decode_tensor_mma(d);
  if (d.has("commit")) return decode_commit(d);
  decode_tensor_memory(d);
}

}  // namespace

uint32_t tensor_cta_group(Decoder& d) {
  const int found = d.one_of({"cta_group::1", "cta_group::2"});
  if (found < 0) d.unsupported("without .cta_group");
  const uint32_t group = static_cast<uint32_t>(found) + 1;
  uint32_t& of_kernel = d.program().cta_group;
  if (of_kernel && of_kernel != group) d.unsupported(one_cta_group);
  of_kernel = group;
  return group;
}

void check_single_thread(Warp& warp, const char* name) {
  const int threads = std::popcount(warp.exec);
  if (threads == 1 || !warp.worker->checking) return;
  finding(warp, FindingKind::illegal_instruction,
          std::to_string(threads) + " threads of a warp execute tcgen05." + name +
              ", and each of them initiates the operation: it is issued \"from a single thread\" (PTX ISA, "
              "Table 46)");
}

void check_tensor_chunks(Warp& warp, uint32_t lane, const std::vector<uint32_t>& chunks, const char* name) {
  const uint32_t end = warp.cta->grid->shared_bytes;
  for (const uint32_t at : chunks) {
    if (at >= shared_reserved && at + 16 <= end) continue;
    const ptx::Instruction& instruction = warp.frame->program->function->instructions[warp.pc - 1];
    char text[160];
    std::snprintf(text, sizeof text,
                  "tcgen05.%s reads 16 bytes of %s at 0x%x of shared memory, which lies from 0x%x to 0x%x",
                  std::string(instruction.modifiers.front()).c_str(), name, at, shared_reserved, end);
    fault(warp, FindingKind::shared_out_of_bounds, text, static_cast<int>(lane));
  }
}

AsyncAccesses::Id note_tensor_chunks(Warp& warp, uint32_t lane, std::span<Cta* const> ctas,
                                     std::span<const std::vector<uint32_t>> matrices) {
  if (warp.worker->counting) {
    Counts& counts = warp.worker->counts[warp.frame->program->first + warp.pc - 1];
    uint64_t bytes = 0;
    for (const std::vector<uint32_t>& chunks : matrices) bytes += 16 * ctas.size() * chunks.size();
    ++counts.requests;
    counts.bytes += bytes;
    counts.wavefronts += bytes / 128;  // whole rows of banks, whatever the layout
    counts.ideal_wavefronts += bytes / 128;
  }
  const AsyncAccesses::Id id = async_begin(warp, lane, false);
  if (!id) return id;
  for (const Cta* cta : ctas) {
    for (std::vector<uint32_t> chunks : matrices) {
      for (uint32_t& at : chunks) at |= cta->rank << rank_shift;
      async_access(warp, id, chunks.data(), static_cast<uint32_t>(chunks.size()), 16);
    }
  }
  return id;
}

std::span<const Opcode> tcgen05_opcodes() {
  static const Opcode table[] = {{"tcgen05", decode}};
  return table;
}

}  // namespace simulator
