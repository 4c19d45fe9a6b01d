#include "common/simulator/instructions/tcgen05/common.h"

#include <bit>
#include <cstdio>

#include "common/simulator/access/check_async.h"
#include "common/simulator/access/check_remote.h"
#include "common/simulator/counters/counts.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/settings/settings.h"

namespace simulator {

constexpr const char* one_cta_group =
    "\"All tcgen05 instructions within a kernel must specify the same value for the .cta_group qualifier\"";

uint32_t tcgen05_cta_group(Decoder& d) {
  const int found = d.one_of({"cta_group::1", "cta_group::2"});
  if (found < 0) d.unsupported("without .cta_group");
  const uint32_t group = static_cast<uint32_t>(found) + 1;
  if (d.program().agreed.emplace(one_cta_group, group).first->second != group) d.unsupported(one_cta_group);
  d.program().relaxed_ends = true;  // the last barrier of such kernels is sometimes relaxed
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

void check_tcgen05_chunks(Warp& warp, uint32_t lane, const std::vector<uint32_t>& chunks, const char* name) {
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

void check_tcgen05_pattern(Warp& warp, uint32_t lane, const MatrixDescriptor& matrix,
                           const std::string& name) {
  if (!warp.worker->checking || !settings().strict) return;
  const std::string problem = misplaced_pattern(matrix);
  if (problem.empty()) return;
  finding(warp, FindingKind::illegal_instruction, name + ": " + problem + " (PTX ISA, Table 41)",
          static_cast<int>(lane));
}

AsyncAccesses::Id note_tcgen05_chunks(Warp& warp, uint32_t lane, std::span<Cta* const> ctas,
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

uint32_t tcgen05_ctas(Warp& warp, uint32_t lane, uint32_t cta_group, Cta* ctas[2]) {
  ctas[0] = warp.cta;
  if (cta_group == 1) return 1;
  const auto& all = warp.cta->cluster->ctas;
  const uint32_t rank = warp.cta->rank;
  if ((rank ^ 1) >= all.size()) {
    fault(warp, FindingKind::illegal_instruction,
          ".cta_group::2 in a CTA without a peer: a pair are two CTAs of a cluster \"whose %cluster_ctarank "
          "differs by the last bit only\" (PTX ISA 9.7.16.5.1)",
          static_cast<int>(lane));
  }
  ctas[0] = all[rank & ~1u].get();
  ctas[1] = all[rank | 1].get();
  check_presence(warp, static_cast<int>(lane), *all[rank ^ 1]);
  return 2;
}

}  // namespace simulator
