#include "common/simulator/execution/addresses.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "common/simulator/counters/counts.h"
#include "common/simulator/counters/trace.h"
#include "common/simulator/execution/check_shared.h"
#include "common/simulator/execution/cluster.h"

namespace simulator {
namespace {

constexpr uint64_t windows = 3;  // of the generic space: shared, local, parameters

constexpr uint64_t shared_address_bits = (1ull << 32) - 1;  // hardware looks at no others

constexpr uint64_t null_page = 4096;       // addresses that come from a null pointer and an index
constexpr uint64_t far_away = 1ull << 40;  // bytes: farther from an allocation than any index leads

std::string hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string name_of_allocation(const Allocation& allocation) {
  std::string text = allocation.name.empty() ? "allocation #" + std::to_string(allocation.number)
                                             : "variable " + allocation.name;
  return text + " (" + std::to_string(allocation.size) + " bytes at " + hexadecimal(allocation.base) + ")";
}

[[noreturn]] void illegal_global(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  std::string what = attempt(kind, bytes, address) + ": ";
  const Allocation* holder = global_memory().find(address);
  const Allocation* near = holder ? holder : global_memory().nearest(address);
  const uint64_t away = !near                  ? 0
                        : address < near->base ? near->base - address
                                               : address - near->base - near->size;
  if (!near) {
    what += "no global memory is allocated";
  } else if (!holder && address < null_page) {
    what += "a null pointer";
  } else if (!holder && away > far_away) {
    what += "in no allocation, nor near one (host memory that the device may not use?)";
  } else if (near->freed && address - near->base < near->size) {
    what += "in freed " + name_of_allocation(*near);
  } else if (address < near->base) {
    what += std::to_string(near->base - address) + " bytes before " + name_of_allocation(*near);
  } else if (address - near->base < near->size) {
    what += near->read_only && kind != AccessKind::load ? "write to read-only " + name_of_allocation(*near)
                                                        : "runs past the end of " + name_of_allocation(*near);
  } else {
    what += std::to_string(address - near->base - near->size) + " bytes past the end of " +
            name_of_allocation(*near);
  }
  fault(warp, FindingKind::illegal_address, std::move(what), lane);
}

[[noreturn]] void misaligned(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  fault(warp, FindingKind::misaligned,
        attempt(kind, bytes, address) + ": not a multiple of " + std::to_string(bytes), lane);
}

// Is every byte of n flags set?
bool all_written(const uint8_t* flags, uint32_t bytes) {
  switch (bytes) {
    case 1:
      return flags[0] != 0;
    case 2:
      return flags[0] && flags[1];
    case 4: {
      uint32_t word;
      std::memcpy(&word, flags, 4);
      return word == 0x01010101u;
    }
    case 8: {
      uint64_t word;
      std::memcpy(&word, flags, 8);
      return word == 0x0101010101010101ull;
    }
    default:  // 16, 32
      return all_written(flags, bytes / 2) && all_written(flags + bytes / 2, bytes / 2);
  }
}

// all_written() of 32 accesses at once, without a branch for each.
template <class Word>
bool all_written(uint8_t* const (&flags)[32], uint32_t bytes) {
  constexpr Word ones = static_cast<Word>(0x0101010101010101ull);
  Word all = ones;
  for (const uint8_t* each : flags) {
    for (uint32_t at = 0; at < bytes; at += sizeof(Word)) {
      Word word;
      std::memcpy(&word, each + at, sizeof word);
      all &= word;
    }
  }
  return all == ones;
}
bool all_written(uint8_t* const (&flags)[32], uint32_t bytes) {
  return bytes == 1   ? all_written<uint8_t>(flags, 1)
         : bytes == 2 ? all_written<uint16_t>(flags, 2)
         : bytes == 4 ? all_written<uint32_t>(flags, 4)
                      : all_written<uint64_t>(flags, bytes);
}

// Is there a value of which no byte that anybody looks at was ever written? Where only some bytes of it were,
// it is a struct that is copied as a whole: the others are its padding.
bool reads_unwritten(const uint8_t* flags, uint32_t bytes, const AddressUse& use) {
  if (all_written(flags, bytes)) return false;
  const uint32_t element = use.element ? use.element : bytes;
  for (uint32_t begin = 0; begin < bytes; begin += element) {
    bool used = false, written = false;
    for (uint32_t at = begin; at < begin + element; ++at) {
      if (!(use.used >> at & 1)) continue;
      used = true;
      written |= flags[at] != 0;
    }
    if (used && !written) return true;
  }
  return false;
}

void never_written(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                   const std::string& where) {
  finding(warp, FindingKind::uninitialised, attempt(kind, bytes, address) + where + ": never written", lane);
}

// The allocation that holds the address comes first in worker.recent. False: there is none.
bool recall(Worker& worker, uint64_t address, uint32_t bytes) {
  auto& recent = worker.recent;
  if (recent[0].holds(address, bytes)) return true;
  for (size_t i = 1; i < recent.size(); ++i) {
    if (!recent[i].holds(address, bytes)) continue;
    std::swap(recent[0], recent[i]);
    return true;
  }
  const Allocation* found = global_memory().find(address);
  if (!found || found->freed || !found->holds(address, bytes)) return false;
  std::rotate(recent.begin(), recent.end() - 1, recent.end());
  recent[0] = *found;
  return true;
}

std::byte* global_byte(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                       uint8_t*& written) {
  if (!recall(*warp.worker, address, bytes)) illegal_global(warp, lane, kind, bytes, address);
  const Allocation& last = warp.worker->recent[0];
  if (last.read_only && kind != AccessKind::load) illegal_global(warp, lane, kind, bytes, address);
  const uint64_t offset = address - last.base;
  written = last.written ? last.written + offset : nullptr;
  return last.backing + offset;
}

std::byte* local_byte(Warp& warp, int lane, const AddressUse& use, uint32_t bytes, uint64_t address) {
  const AccessKind kind = use.kind;
  const uint64_t size = warp.frame->local_end();
  if (address > size || bytes > size - address) {
    fault(warp, FindingKind::local_out_of_bounds,
          attempt(kind, bytes, address) + " of local memory, of which this thread has " +
              std::to_string(size) + " bytes",
          lane);
  }
  const size_t at = address / 16 * 512 + static_cast<size_t>(lane) * 16 + address % 16;
  if (warp.worker->checking) {
    uint8_t* flags = warp.local_written.data() + at;
    if (kind != AccessKind::load) {
      std::memset(flags, 1, bytes);
    } else if (reads_unwritten(flags, bytes, use)) {
      never_written(warp, lane, kind, bytes, address, " of local memory");
    }
  }
  return warp.local.data() + at;
}

[[noreturn]] void illegal_shared(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  const Grid& grid = *warp.cta->grid;
  fault(warp, FindingKind::shared_out_of_bounds,
        attempt(kind, bytes, address) + " of shared memory, which lies from " + hexadecimal(shared_reserved) +
            " to " + hexadecimal(grid.shared_bytes) + " (" +
            std::to_string(grid.shared_bytes - shared_reserved) + " bytes)",
        lane);
}

// The top bit: is offset > limit? (limit < 2^63.) Unlike a comparison of unsigned numbers, this vectorises.
uint64_t beyond(uint64_t offset, uint64_t limit) {
  return offset | (limit - offset);
}

void resolve_global(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const uint32_t bytes = inst.bytes, lanes = warp.exec;
  const int first = std::countr_zero(lanes) & 31;
  recall(*warp.worker, to.address[first], bytes);
  const Allocation& last = warp.worker->recent[0];
  const uint64_t base = last.base, limit = last.size - bytes, stand_in = to.address[first];
  uint64_t offset[32], low_bits = 0, outside = limit;  // limit: below zero where nothing fits
  if (lanes != ~0u) {
    for (int l = 0; l < warp_size; ++l) to.address[l] = lanes >> l & 1 ? to.address[l] : stand_in;
  }
  for (int l = 0; l < warp_size; ++l) {
    offset[l] = to.address[l] - base;
    low_bits |= to.address[l];
    outside |= beyond(offset[l], limit);
  }
  if (low_bits & (bytes - 1)) {
    for (int l = 0; l < warp_size; ++l) {
      if (to.address[l] & (bytes - 1)) misaligned(warp, l, use.kind, bytes, to.address[l]);
    }
  }
  const bool in_one = !(outside >> 63) && !(last.read_only && use.kind != AccessKind::load);
  if (in_one) {
    std::byte* backing = last.backing;
    for (int l = 0; l < warp_size; ++l) to.at[l] = backing + offset[l];
    to.track = last.written != nullptr;
    if (to.track) {
      for (int l = 0; l < warp_size; ++l) to.written[l] = last.written + offset[l];
    }
  } else {
    to.track = false;
    for (uint32_t left = lanes; left; left &= left - 1) {
      const int l = std::countr_zero(left);
      to.at[l] = global_byte(warp, l, use.kind, bytes, to.address[l], to.written[l]);
      to.track |= to.written[l] != nullptr;
    }
    for (uint32_t left = ~lanes; left; left &= left - 1) to.at[std::countr_zero(left)] = to.at[first];
  }
  if (warp.worker->counting && use.counted) {
    const uint32_t sectors = count_sectors(to.address, lanes, bytes);
    counts_of(warp).sectors += sectors;
    if (Trace* trace = trace_of(warp)) {
      trace->global(*warp.frame->program, warp.pc - 1, to.address, lanes, bytes, sectors);
    }
  }
  if (to.track && use.kind != AccessKind::store && warp.worker->checking &&
      !(in_one && all_written(to.written, bytes))) {
    for (uint32_t left = use.overwrites ? 0 : lanes_that_count(warp, use); left; left &= left - 1) {
      const int l = std::countr_zero(left);
      if (to.written[l] && reads_unwritten(to.written[l], bytes, use)) {
        const Allocation* holder = global_memory().find(to.address[l]);
        never_written(warp, l, use.kind, bytes, to.address[l], " in " + name_of_allocation(*holder));
        std::memset(to.written[l], 1, bytes);  // told once
      }
    }
  }
}

// Where the lanes' accesses lie in the cluster's shared memory, as the checks count.
void shadow_offsets(const Resolved& at, uint32_t offset[32]) {
  for (int l = 0; l < warp_size; ++l) offset[l] = shadow_offset(*at.holder[l], at.address[l]);
}

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
      if (to.address[l] & (bytes - 1)) misaligned(warp, l, use.kind, bytes, to.address[l]);
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

void resolve_local(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  const int first = std::countr_zero(warp.exec) & 31;
  const uint32_t count = lanes_that_count(warp, use);
  AddressUse of_others = use;
  of_others.used = 0;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    if (to.address[l] & (inst.bytes - 1u)) misaligned(warp, l, use.kind, inst.bytes, to.address[l]);
    if (inst.bytes > 16) fault(warp, FindingKind::not_supported, "a local access of more than 16 bytes", l);
    to.at[l] = local_byte(warp, l, count >> l & 1 ? use : of_others, inst.bytes, to.address[l]);
  }
  for (uint32_t left = ~warp.exec; left; left &= left - 1) to.at[std::countr_zero(left)] = to.at[first];
}

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
    if (address & (inst.bytes - 1u)) misaligned(warp, l, use.kind, inst.bytes, address);
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

}  // namespace

Counts& counts_of(Warp& warp) {
  return warp.worker->counts[warp.frame->program->first + warp.pc - 1];
}

void named_addresses(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  uint64_t add = inst.imm;
  if (use.in_frame) add += warp.frame->local_base;
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
}

void resolve(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  named_addresses(warp, inst, use, to);
  resolve_addresses(warp, inst, use, to);
}

void resolve_addresses(Warp& warp, const Inst& inst, const AddressUse& use, Resolved& to) {
  to.shared = to.track = false;
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
    if (window && window <= windows) {  // what is beyond all windows is a global address that nobody has
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
      return resolve_local(warp, inst, use, to);
    case ptx::Space::param:
      return resolve_param(warp, inst, use, to);
    default:
      return resolve_global(warp, inst, use, to);
  }
}

void polled(Warp& warp) {
  if (warp.polled_pc == warp.pc && warp.polled_writes == warp.writes) {
    warp.yield = true;
    warp.stop = 0;
  }
  warp.polled_pc = warp.pc;
  warp.polled_writes = warp.writes;
}

void stored(Warp& warp, const Inst& inst, const AddressUse& use, const Resolved& at, const std::byte* values,
            bool changed, bool same) {
  warp.worker->events += changed;
  warp.writes += changed;
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
}

std::byte* global_range(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address,
                        uint32_t element, uint8_t*& written) {
  std::byte* at = global_byte(warp, lane, kind, bytes, address, written);
  if (!written || kind == AccessKind::store || !warp.worker->checking) return at;
  for (uint32_t i = 0; i < bytes; i += element) {
    if (std::memchr(written + i, 0, bytes - i) == nullptr) break;  // all of the rest was written
    if (std::any_of(written + i, written + i + element, [](uint8_t flag) { return flag != 0; })) continue;
    const Allocation* holder = global_memory().find(address + i);
    never_written(warp, lane, kind, element, address + i, " in " + name_of_allocation(*holder));
    std::memset(written + i, 1, bytes - i);  // told once
    break;
  }
  return at;
}

void shared_range(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  const uint64_t size = warp.cta->grid->shared_bytes;
  if (address < shared_reserved || address > size || bytes > size - address)
    illegal_shared(warp, lane, kind, bytes, address);
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
