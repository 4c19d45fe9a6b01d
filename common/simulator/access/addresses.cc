#include "common/simulator/access/addresses.h"

#include <bit>
#include <cstring>

#include "common/simulator/access/check_shared.h"
#include "common/simulator/access/local_addresses.h"
#include "common/simulator/access/names.h"
#include "common/simulator/access/written.h"
#include "common/simulator/counters/counts.h"

namespace simulator {
namespace {

constexpr uint64_t windows = 3;  // of the generic space: shared, local, parameters

constexpr uint64_t shared_address_bits = (1ull << 32) - 1;  // hardware ignores the others

void resolve_param(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const uint64_t size = warp.cta->grid->kernel->info.params_bytes;
  const int first = std::countr_zero(warp.exec) & 31;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    const uint64_t address = to.address[l];
    if (address > size || inst.bytes > size - address || use.kind != AccessKind::load) {
      fault(warp, FindingKind::param_out_of_bounds,
            attempt(use.kind, inst.bytes, address) + " of the kernel's " + std::to_string(size) +
                " bytes of parameters",
            l);
    }
    if (address & (inst.bytes - 1u))
      misaligned(warp, l, use.kind, inst.bytes, address, "the kernel's parameters");
    to.at[l] = const_cast<std::byte*>(warp.cta->grid->params) + address;
  }
  for (uint32_t left = ~warp.exec; left; left &= left - 1) to.at[std::countr_zero(left)] = to.at[first];
}

// Generic addresses that do not all fall into one window: lane by lane.
void resolve_mixed(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const uint32_t lanes = warp.exec;
  const bool full = warp.full;
  uint64_t address[32];
  std::memcpy(address, to.address, sizeof address);
  std::byte* at[32];
  uint8_t* written[32] = {};
  bool track = false;
  warp.full = false;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    if (address[l] >> 48 > windows) illegal_global(warp, l, use.kind, inst.bytes, address[l]);
  }
  for (uint64_t window = 0; window <= windows; ++window) {
    warp.exec = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
      if (address[std::countr_zero(left)] >> 48 == window) warp.exec |= left & -left;
    }
    if (!warp.exec) continue;
    for (int l = 0; l < warp_size; ++l) to.address[l] = address[l] & ((1ull << 48) - 1);
    to.track = false;
    if (window == 0) resolve_global(warp, inst, use, to);
    if (window == 1) resolve_shared(warp, inst, use, to);
    if (window == 2) resolve_local(warp, inst, use, to);
    if (window == 3) resolve_param(warp, inst, use, to);
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const int l = std::countr_zero(left);
      at[l] = to.at[l];
      if (to.track) written[l] = to.written[l];
    }
    track |= to.track;
    if (window == 1 && use.kind != AccessKind::load && warp.worker->checking) {
      uint32_t offset[32];
      shadow_offsets(to, offset);
      check_shared(warp, offset, inst.bytes, use, nullptr);
    }
  }
  warp.exec = lanes;
  warp.full = full;
  const int first = std::countr_zero(lanes) & 31;
  for (int l = 0; l < warp_size; ++l) {
    to.at[l] = lanes >> l & 1 ? at[l] : at[first];
    to.written[l] = written[l];
  }
  to.shared = false;
  to.track = track;
}

// Bytes that were never written where they were loaded from stay unwritten where they are stored.
void carry_unwritten(Warp& warp, const Inst& inst, const AddressUse& use, const Resolved& at) {
  uint32_t missing[warp_size] = {};
  for (uint32_t b = 0; b < inst.bytes; ++b) {
    for (const UnwrittenLoad& load : warp.frame->unwritten) {
      if (load.pc != use.from[b].load) continue;
      for (int l = 0; l < warp_size; ++l)
        missing[l] |= (load.bytes[static_cast<size_t>(l)] >> use.from[b].byte & 1) << b;
    }
  }
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    if (at.shared && warp.worker->checking)
      warp.cta->cluster->shadow.unwrite(shadow_offset(*at.holder[l], at.address[l]), inst.bytes, missing[l]);
    for (uint32_t bits = missing[l]; bits; bits &= bits - 1) {
      const uint32_t b = static_cast<uint32_t>(std::countr_zero(bits));
      if (at.track && at.written[l]) at.written[l][b] = 0;
      if (use.space == ptx::Space::local && !use.generic)
        warp.local_written[local_index(at.address[l] + b, l)] = 0;
    }
  }
}

}  // namespace

void named_addresses(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const uint64_t add = inst.imm;
  if (use.base_is_64) {
    const uint64_t* base = warp.reg<uint64_t>(inst.a);
    for (int l = 0; l < warp_size; ++l) to.address[l] = base[l] + add;
    if (use.space == ptx::Space::shared && !use.generic) {
      // The window of the generic space begins at a multiple of 2^32: ThunderKittens relies on it.
      for (int l = 0; l < warp_size; ++l) to.address[l] &= shared_address_bits;
    }
  } else {
    const uint32_t* base = warp.reg<uint32_t>(inst.a);
    const uint32_t add_32 = static_cast<uint32_t>(add);
    for (int l = 0; l < warp_size; ++l) to.address[l] = base[l] + add_32;
  }
  if (use.in_frame) {
    for (int l = 0; l < warp_size; ++l) to.address[l] += warp.frame->local_base(l);
  }
}

void resolve(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  named_addresses(warp, inst, use, to);
  resolve_addresses(warp, inst, use, to);
}

void resolve_addresses(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  to.shared = to.track = to.local = false;
  if (use.strong && use.kind == AccessKind::load) polled(warp);
  if (warp.worker->counting && use.counted) {
    Counts& counts = counts_of(warp);
    ++counts.requests;
    counts.bytes += static_cast<uint64_t>(std::popcount(warp.exec)) * inst.bytes;
  }
  ptx::Space space = use.space;
  if (use.generic) {
    const uint64_t window = to.address[std::countr_zero(warp.exec)] >> 48;
    uint64_t differ = 0;
    for (int l = 0; l < warp_size; ++l) differ |= warp.exec >> l & 1 ? (to.address[l] >> 48) ^ window : 0;
    if (differ) return resolve_mixed(warp, inst, use, to);
    if (window && window <= windows) {  // beyond all windows: a global address that is in none
      for (int l = 0; l < warp_size; ++l) to.address[l] &= (1ull << 48) - 1;
    }
    space = window == 1   ? ptx::Space::shared
            : window == 2 ? ptx::Space::local
            : window == 3 ? ptx::Space::param
                          : ptx::Space::global;
  }
  switch (space) {
    case ptx::Space::shared:
      return resolve_shared(warp, inst, use, to);
    case ptx::Space::local:
      to.local = true;
      return resolve_local(warp, inst, use, to);
    case ptx::Space::param:
      return resolve_param(warp, inst, use, to);
    default:
      return resolve_global(warp, inst, use, to);
  }
}

void polled(Warp& warp) {
  if (warp.polled_pc == warp.pc && warp.polled_writes == warp.writes) {
    ++warp.polls;
    warp.yield = true;
    warp.stop = 0;
  }
  warp.polled_pc = warp.pc;
  warp.polled_writes = warp.writes;
}

void stored(Warp& warp, const Inst& inst, const AddressUse& use, const Resolved& at, const std::byte* values,
            bool changed, bool same) {
  warp.worker->events += changed;
  if (at.local) {
    warp.worker->private_events += changed;
  } else {
    warp.writes += changed;
  }
  if (at.track) {
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const int l = std::countr_zero(left);
      if (at.written[l]) std::memset(at.written[l], 1, inst.bytes);
    }
  }
  if (at.shared && warp.worker->checking) {
    uint32_t offset[32];
    shadow_offsets(at, offset);
    check_shared(warp, offset, inst.bytes, use,
                 use.kind == AccessKind::atomic && !use.overwrites ? nullptr : values, same);
  }
  if (use.from && !warp.frame->unwritten.empty()) [[unlikely]]
    carry_unwritten(warp, inst, use, at);
}

void read_memory(Warp& warp, int lane, uint64_t address, void* to, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i, ++address) {
    const uint64_t offset = address & ((1ull << 48) - 1);
    uint8_t* written = nullptr;
    const std::byte* at = nullptr;
    switch (address >> 48) {
      case 0:
        at = global_byte(warp, lane, AccessKind::load, 1, offset, written);
        break;
      case 1:
        if (offset >> rank_shift != warp.cta->rank || (offset & offset_in_cta) < shared_reserved ||
            (offset & offset_in_cta) >= warp.cta->grid->shared_bytes) {
          illegal_shared(warp, lane, AccessKind::load, 1, offset);
        }
        at = warp.cta->shared.data() + (offset & offset_in_cta);
        break;
      case 2:
        at = local_byte(warp, lane, AddressUse{}, 1, offset);
        break;
      case 3:
        if (offset >= warp.cta->grid->kernel->info.params_bytes)
          fault(warp, FindingKind::param_out_of_bounds, attempt(AccessKind::load, 1, offset), lane);
        at = warp.cta->grid->params + offset;
        break;
      default:
        fault(warp, FindingKind::illegal_address, attempt(AccessKind::load, 1, address), lane);
    }
    std::memcpy(static_cast<std::byte*>(to) + i, at, 1);
  }
}

std::string read_string(Warp& warp, int lane, uint64_t address) {
  std::string text;
  for (char c = 0;; text += c) {
    read_memory(warp, lane, address++, &c, 1);
    if (!c) return text;
  }
}

}  // namespace simulator
