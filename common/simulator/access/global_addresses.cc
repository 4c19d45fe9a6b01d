#include "common/simulator/access/global_addresses.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simulator/access/names.h"
#include "common/simulator/access/written.h"
#include "common/simulator/counters/counts.h"
#include "common/simulator/counters/trace.h"

namespace simulator {
namespace {

constexpr uint64_t null_page = 4096;  // addresses that come from a null pointer and an index
// Bytes: farther from any allocation than a wrong index would lead, among device addresses and among others.
constexpr uint64_t far_away = 1ull << 40, far_away_elsewhere = 64ull << 20;
// Bytes past an array, or before it, from which on an overflow of the index is likelier than one that is out
// of its range.
constexpr uint64_t far_from_an_array = 1ull << 31;

std::string name_of_allocation(const Allocation& allocation) {
  const std::string size =
      std::to_string(allocation.size) + " bytes at " + hexadecimal(allocation.base) + ")";
  const std::string number = "allocation #" + std::to_string(allocation.number);
  if (allocation.named) return allocation.name + " (" + number + ", " + size;
  return (allocation.name.empty() ? number : "variable " + allocation.name) + " (" + size;
}

// What a wrong index of 32 bits does to an address: it is off by 2^32 elements, whether the index overflowed
// or was below zero and extended with zeroes. Empty: that does not explain the address.
std::string wrapped_index(uint64_t address, uint32_t bytes) {
  for (const uint64_t element :
       {uint64_t{bytes}, uint64_t{4}, uint64_t{8}, uint64_t{1}, uint64_t{2}, uint64_t{16}}) {
    for (const bool back : {true, false}) {
      const uint64_t right = back ? address - (element << 32) : address + (element << 32);
      const Allocation* there = global_memory().find(right);
      const bool inside = there && !there->freed;
      if (!inside) there = global_memory().nearest(right);
      if (!inside && (!there || there->freed || there->base - right > null_page)) continue;
      return std::string(
                 "a 32-bit index that overflowed, or a negative one taken for unsigned? the address ") +
             (back ? "minus" : "plus") + " 2^32 elements of " + std::to_string(element) +
             (element == 1 ? " byte" : " bytes") +
             (inside ? " is byte " + std::to_string(right - there->base) + " of "
                     : " is " + std::to_string(there->base - right) + " bytes before ") +
             name_of_allocation(*there);
    }
  }
  return {};
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

}  // namespace

void illegal_global(Warp& warp, int lane, AccessKind kind, uint32_t bytes, uint64_t address) {
  std::string what = attempt(kind, bytes, address) + ": ";
  const Allocation* holder = global_memory().find(address);
  const Allocation* near = holder ? holder : global_memory().nearest(address);
  const uint64_t away = !near                  ? 0
                        : address < near->base ? near->base - address
                                               : address - near->base - near->size;
  const std::string wrapped = near && !holder && address >= null_page && away >= far_from_an_array
                                  ? wrapped_index(address, bytes)
                                  : "";
  if (!near) {
    what += address < null_page ? "a null pointer, and no global memory is allocated"
                                : "no global memory is allocated (host memory that the device may not use?)";
  } else if (!holder && address < null_page) {
    what += "a null pointer";
  } else if (shared_window - address < window_bytes) {
    what += std::to_string(shared_window - address) + " bytes before shared memory, by a generic address";
  } else if (!holder && away > (global_memory().reserved(address) ? far_away : far_away_elsewhere)) {
    what += "in no allocation, nor near one";
    if (wrapped.empty()) what += " (host memory that the device may not use?)";
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
  Finding found{FindingKind::illegal_address, std::move(what), {}, {}};
  found.site = site_of(warp, *warp.frame, warp.pc ? warp.pc - 1 : 0, lane);
  if (!wrapped.empty()) found.details.push_back(wrapped);
  throw Fault(std::move(found));
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
      if (to.address[l] & (bytes - 1)) misaligned(warp, l, use.kind, bytes, to.address[l], "global memory");
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
    for (uint32_t left = use.overwrites || use.finds_anything ? 0 : lanes_that_count(warp, use); left;
         left &= left - 1) {
      const int l = std::countr_zero(left);
      const uint8_t* flags = to.written[l];
      if (!flags || all_written(flags, bytes)) continue;
      const Allocation* holder = nullptr;
      const auto written = [&](int32_t i) {
        if (i >= 0 && i < static_cast<int32_t>(bytes)) return flags[i] != 0;
        if (!holder) holder = global_memory().find(to.address[l]);
        return to.address[l] + static_cast<uint64_t>(int64_t{i}) - holder->base < holder->size &&
               flags[i] != 0;
      };
      if (reads_unwritten(warp, l, bytes, use, written)) {
        holder = global_memory().find(to.address[l]);
        never_written(warp, l, use.kind, bytes, to.address[l], " in " + name_of_allocation(*holder));
        std::memset(to.written[l], 1, bytes);  // reported once
      }
    }
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
    std::memset(written + i, 1, bytes - i);  // reported once
    break;
  }
  return at;
}

}  // namespace simulator
