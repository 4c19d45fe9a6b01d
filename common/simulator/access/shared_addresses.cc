#include "common/simulator/access/shared_addresses.h"

#include <bit>

#include "common/simulator/access/check_remote.h"
#include "common/simulator/access/check_shared.h"
#include "common/simulator/access/names.h"
#include "common/simulator/access/written.h"
#include "common/simulator/counters/counts.h"
#include "common/simulator/counters/trace.h"

namespace simulator {
namespace {

// Addresses of which some are not in this CTA: each lane's holder, and the offset in it.
void find_holders(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const auto& ctas = warp.cta->cluster->ctas;
  uint32_t reached = 0;  // a bit per rank
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    const uint64_t rank = to.address[l] >> rank_shift;
    if (rank == warp.cta->rank) continue;
    if (rank >= ctas.size()) illegal_shared(warp, l, use.kind, inst.bytes, to.address[l]);
    if (!use.cluster) {
      fault(warp, FindingKind::shared_out_of_bounds,
            attempt(use.kind, inst.bytes, to.address[l]) +
                " of this CTA's shared memory: that address is in " + name_of_cta(*ctas[rank]) +
                " (.shared::cluster)",
            l);
    }
    to.holder[l] = ctas[rank].get();
    if (!(reached >> rank & 1)) reach(warp, l, *to.holder[l], use.kind != AccessKind::load);
    reached |= 1u << rank;
  }
  for (uint32_t left = ~warp.exec; left; left &= left - 1)
    to.holder[std::countr_zero(left)] = to.holder[std::countr_zero(warp.exec) & 31];
}

}  // namespace

void illegal_shared(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  const Grid& grid = *warp.cta->grid;
  // In the generic space local memory begins where the window of shared memory ends.
  if (const uint64_t missing = local_window - shared_window - address; missing < window_bytes) {
    fault(warp, FindingKind::local_out_of_bounds,
          attempt(kind, bytes) + " at -" + std::to_string(missing) + " of local memory", lane);
  }
  fault(warp, FindingKind::shared_out_of_bounds,
        attempt(kind, bytes, address) + " of shared memory, which lies from " + hexadecimal(shared_reserved) +
            " to " + hexadecimal(grid.shared_bytes) + " (" +
            std::to_string(grid.shared_bytes - shared_reserved) + " bytes)",
        lane);
}

void shadow_offsets(const Resolved& at, uint32_t offset[32]) {
  for (int l = 0; l < warp_size; ++l) offset[l] = shadow_offset(*at.holder[l], at.address[l]);
}

void resolve_shared(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const uint32_t bytes = inst.bytes, lanes = warp.exec;
  const int first = std::countr_zero(lanes) & 31;
  const uint64_t stand_in = to.address[first];
  if (lanes != ~0u) {
    for (int l = 0; l < warp_size; ++l) to.address[l] = lanes >> l & 1 ? to.address[l] : stand_in;
  }
  uint64_t elsewhere = 0;
  for (int l = 0; l < warp_size; ++l) {
    elsewhere |= to.address[l] >> rank_shift ^ warp.cta->rank;
    to.holder[l] = warp.cta;
  }
  if (elsewhere) [[unlikely]]
    find_holders(warp, inst, use, to);
  for (int l = 0; l < warp_size; ++l) to.address[l] &= offset_in_cta;
  const uint64_t size = warp.cta->grid->shared_bytes, limit = size - shared_reserved - bytes;
  uint64_t low_bits = 0, outside = limit;  // limit: below zero where nothing fits
  for (int l = 0; l < warp_size; ++l) {
    low_bits |= to.address[l];
    outside |= beyond(to.address[l] - shared_reserved, limit);
  }
  if (outside >> 63) {
    for (int l = 0; l < warp_size; ++l) {
      const uint64_t address = to.address[l];
      if (address < shared_reserved || address > size || bytes > size - address) {
        illegal_shared(warp, l, use.kind, bytes, address);
      }
    }
  }
  if (low_bits & (bytes - 1)) {
    for (int l = 0; l < warp_size; ++l) {
      if (to.address[l] & (bytes - 1)) misaligned(warp, l, use.kind, bytes, to.address[l], "shared memory");
    }
  }
  if (elsewhere) [[unlikely]] {
    for (int l = 0; l < warp_size; ++l) to.at[l] = to.holder[l]->shared.data() + to.address[l];
  } else {
    std::byte* shared = warp.cta->shared.data();
    for (int l = 0; l < warp_size; ++l) to.at[l] = shared + to.address[l];
  }
  to.shared = true;
  const bool counting = warp.worker->counting && use.counted;
  if (counting || warp.worker->checking) {
    uint32_t offset[32];
    for (int l = 0; l < warp_size; ++l) offset[l] = static_cast<uint32_t>(to.address[l] - shared_reserved);
    if (counting) {
      Counts& counts = counts_of(warp);
      const bool fixed_groups = use.kind == AccessKind::store || use.rows_of_matrices;
      const Wavefronts wavefronts = count_wavefronts(offset, lanes, bytes, fixed_groups);
      counts.wavefronts += wavefronts.actual;
      counts.ideal_wavefronts += wavefronts.ideal;
      if (Trace* trace = trace_of(warp)) {
        trace->shared(*warp.frame->program, warp.pc - 1, offset, lanes, bytes, wavefronts);
      }
    }
    if (warp.worker->checking && use.kind == AccessKind::load) {
      shadow_offsets(to, offset);
      check_shared(warp, offset, bytes, use, nullptr);
    }
  }
}

void shared_range(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  const uint64_t size = warp.cta->grid->shared_bytes;
  if (address < shared_reserved || address > size || bytes > size - address)
    illegal_shared(warp, lane, kind, bytes, address);
}

}  // namespace simulator
