#include "common/simulator/memory/global_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "common/simulator/memory/machine_memory.h"
#include "common/simulator/memory/name_memory.h"
#include "common/simulator/memory/poison.h"
#include "common/simulator/settings/device.h"

namespace simulator {
namespace {

constexpr uint64_t page = 4096;               // bytes; larger pages are refused by mmap's own checks
constexpr uint64_t commit_step = 2ull << 20;  // backing is made accessible in steps of this many bytes
constexpr uint64_t small = 64ull << 10;       // host memory below this shares pages with its neighbours
constexpr uint64_t largest_gap = 16ull << 20;
constexpr uint64_t large = 64ull << 20;  // device memory above this costs the machine's where it is written

uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}
uint64_t round_down(uint64_t value, uint64_t step) {
  return value / step * step;
}

// A range of addresses that costs nothing until it is committed.
std::byte* reserve(uint64_t bytes, uint64_t hint) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = MAP_FAILED;
#ifndef __SANITIZE_THREAD__  // ThreadSanitizer allows mappings in its own ranges only
  // The same addresses in every run, where they are free: a run can then be repeated exactly.
  at = mmap(reinterpret_cast<void*>(hint), bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
#else
  (void)hint;
#endif
  if (at == MAP_FAILED) at = mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

// A file of this many bytes, as fill(memory) makes them. −1: there can be none.
template <class Fill>
int pattern_file(uint64_t bytes, const Fill& fill) {
  const int made = memfd_create("pattern", MFD_CLOEXEC);
  if (made < 0) return -1;
  void* at = MAP_FAILED;
  if (ftruncate(made, static_cast<off_t>(bytes)) == 0)
    at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
  if (at == MAP_FAILED) {
    close(made);
    return -1;
  }
  fill(at);
  munmap(at, bytes);
  return made;
}

// Makes [from, to), whole pages, copies of the file, over and over, that cost memory where they are written
// only. Returns where it had to stop.
std::byte* map_copies(std::byte* from, std::byte* to, int file, uint64_t file_bytes) {
  while (file >= 0 && from < to) {
    const uint64_t bytes = std::min(file_bytes, static_cast<uint64_t>(to - from));
    if (mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) ==
        MAP_FAILED)
      break;
    from += bytes;
  }
  return from;
}

// Large allocations cost memory where they are written only.
void fill_with_poison(std::byte* memory, uint64_t size) {
  std::byte* const end = memory + size;
  const auto fill = [](std::byte* from, std::byte* to) {
    std::memset(from, std::to_integer<int>(poison), static_cast<size_t>(to - from));
  };
  if (size <= large) return fill(memory, end);
  static const int file =
      pattern_file(large, [](void* at) { std::memset(at, std::to_integer<int>(poison), large); });
  auto* const first = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<uint64_t>(memory), page));
  auto* const last = reinterpret_cast<std::byte*>(round_down(reinterpret_cast<uint64_t>(end), page));
  fill(memory, first);
  fill(map_copies(first, last, file, large), end);
}

// Of whole pages: what is behind the last byte, up to the end of its page, is overwritten, too.
bool fill_with(std::span<const std::byte> pattern, std::byte* memory, uint64_t size) {
  const int file =
      pattern_file(pattern.size(), [&](void* at) { std::memcpy(at, pattern.data(), pattern.size()); });
  std::byte* const end = memory + round_up(size, page);
  const bool filled = map_copies(memory, end, file, pattern.size()) == end;
  if (file >= 0) close(file);
  return filled;
}

// Addresses that allocations are cut from, in ascending order until the end, then again from the start.
struct Range {
  uint64_t base = 0, bytes = 0, cursor = 0;  // cursor: where the search for the next one begins
};

}  // namespace

struct GlobalMemory::Impl {
  mutable std::shared_mutex mutex;
  std::deque<Allocation> storage;      // addresses of its elements never change
  std::map<uint64_t, Allocation*> at;  // by base; disjoint
  Range device, host;
  std::byte* backing = nullptr;  // of the device range, byte for byte
  std::byte* written = nullptr;
  uint64_t committed = 0;       // bytes of `backing` and `written` that are accessible
  uint64_t in_use = 0;          // device and managed
  uint64_t machine_in_use = 0;  // bytes of the machine's memory if every byte were written
  uint64_t machine_bytes = 0;   // that there were at the start
  std::atomic<uint64_t> generation{0};

  Allocation* holding(uint64_t address) const {
    auto next = at.upper_bound(address);
    if (next == at.begin()) return nullptr;
    Allocation* candidate = std::prev(next)->second;
    return address - candidate->base < candidate->size ? candidate : nullptr;
  }

  // The first live allocation that overlaps [from, end), or null.
  Allocation* live_within(uint64_t from, uint64_t end) const {
    auto it = at.upper_bound(from);
    if (it != at.begin()) --it;
    for (; it != at.end() && it->first < end; ++it) {
      const Allocation& a = *it->second;
      if (!a.freed && a.base + a.size > from) return it->second;
    }
    return nullptr;
  }
  // True: there were some.
  bool forget_freed_within(uint64_t from, uint64_t end) {
    const size_t before = at.size();
    auto it = at.upper_bound(from);
    if (it != at.begin()) --it;
    while (it != at.end() && it->first < end) {
      it = it->second->base + it->second->size > from ? at.erase(it) : std::next(it);
    }
    return at.size() != before;
  }

  // An address for size bytes with `gap` free bytes behind them; 0: there is none.
  uint64_t place(Range& range, uint64_t size, uint64_t align, uint64_t gap) const {
    if (size > range.bytes || gap > range.bytes - size) return 0;
    const uint64_t end = range.base + range.bytes;
    uint64_t address = round_up(range.cursor, align);
    for (bool wrapped = false;;) {
      if (address > end || end - address < size + gap) {
        if (wrapped) return 0;
        wrapped = true;
        address = round_up(range.base, align);
      } else if (const Allocation* other = live_within(address, address + size + gap)) {
        address = round_up(other->base + other->size + gap, align);
      } else {
        range.cursor = address + size + gap;
        return address;
      }
    }
  }

  bool commit_device(uint64_t end) {  // end: offset in the device range
    if (end <= committed) return true;
    const uint64_t until = std::min(round_up(end, commit_step), device.bytes);
    if (mprotect(backing + committed, until - committed, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(written + committed, until - committed, PROT_READ | PROT_WRITE) != 0) {
      return false;
    }
    committed = until;
    return true;
  }

  // Gives the pages that lie wholly inside back to the machine. copies: and the mappings, of which a process
  // may have some 65000.
  static void release(std::byte* memory, uint64_t size, bool copies = false) {
    const uint64_t first = round_up(reinterpret_cast<uint64_t>(memory), page);
    const uint64_t end = round_down(reinterpret_cast<uint64_t>(memory) + size, page);
    if (first >= end) return;
    auto* const from = reinterpret_cast<void*>(first);
    if (copies && mmap(from, end - first, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED)
      return;
    madvise(from, end - first, MADV_DONTNEED);
  }
};

GlobalMemory::GlobalMemory() : impl_(new Impl) {
  impl_->machine_bytes = available_machine_memory();
  // Four ranges: device addresses, their backing, what is written, host memory. Smaller ones where a limit on
  // address space (ulimit -v) refuses the large ones.
  for (uint64_t bytes = 4ull << 40; bytes >= 256ull << 20; bytes /= 2) {
    const uint64_t first = 16ull << 40;
    std::byte* ranges[4] = {};
    bool all = true;
    for (uint64_t i = 0; i < 4 && all; ++i) all = (ranges[i] = reserve(bytes, first + i * bytes)) != nullptr;
    if (!all) {
      for (std::byte* range : ranges) {
        if (range != nullptr) munmap(range, bytes);
      }
      continue;
    }
    const uint64_t device_base = reinterpret_cast<uint64_t>(ranges[0]);
    const uint64_t host_base = reinterpret_cast<uint64_t>(ranges[3]);
    impl_->device = {device_base, bytes, device_base};
    impl_->host = {host_base, bytes, host_base};
    impl_->backing = ranges[1];
    impl_->written = ranges[2];
    return;
  }
}

GlobalMemory::~GlobalMemory() {
  if (impl_->device.bytes != 0) {
    munmap(reinterpret_cast<void*>(impl_->device.base), impl_->device.bytes);
    munmap(impl_->backing, impl_->device.bytes);
    munmap(impl_->written, impl_->device.bytes);
    munmap(reinterpret_cast<void*>(impl_->host.base), impl_->host.bytes);
  }
  delete impl_;
}

const Allocation* GlobalMemory::allocate(uint64_t size, Allocation::Kind kind, std::string name) {
  return make({size, kind, false, {}}, std::move(name));
}

const Allocation* GlobalMemory::allocate_partly(uint64_t size, std::span<const std::byte> pattern) {
  return make({size, Allocation::Kind::device, true, pattern}, {});
}

const Allocation* GlobalMemory::make(const Request& request, std::string name) {
  using Kind = Allocation::Kind;
  const auto [size, kind, partly, pattern] = request;
  const bool on_host = kind == Kind::managed || kind == Kind::host;
  const bool tracked = (kind == Kind::device || kind == Kind::heap) && pattern.empty();
  const bool counted = kind == Kind::device || kind == Kind::managed;
  if (size == 0 || size > 1ull << 46 || pattern.size() % page != 0) return nullptr;

  std::unique_lock lock(impl_->mutex);
  const uint64_t machine_size = partly ? 0 : size * (tracked ? 2 : 1);
  if (counted && size + impl_->in_use > device().global_bytes) return nullptr;
  if (machine_size + impl_->machine_in_use > impl_->machine_bytes) return nullptr;
  if (size >= 16ull << 20 && machine_size > available_machine_memory()) return nullptr;

  // The gap makes an index that is out of bounds hit nothing, rather than the next allocation.
  uint64_t gap = std::clamp(size, small, largest_gap);
  if (kind == Kind::heap || (on_host && size < small)) gap = 256;
  const uint64_t align = partly ? page : on_host ? (size < small ? 256 : page) : 512;
  Range& range = on_host ? impl_->host : impl_->device;
  const uint64_t base = impl_->place(range, size, align, gap);
  if (base == 0) return nullptr;
  const uint64_t offset = base - range.base;

  Allocation a;
  a.base = base;
  a.size = size;
  a.kind = kind;
  a.machine_bytes = machine_size;
  a.read_only = !pattern.empty();
  a.name = std::move(name);
  if (on_host) {
    a.backing = reinterpret_cast<std::byte*>(base);
    const uint64_t first = round_down(base, page);
    if (mprotect(reinterpret_cast<void*>(first), round_up(base + size, page) - first,
                 PROT_READ | PROT_WRITE) != 0) {
      return nullptr;
    }
  } else {
    if (!impl_->commit_device(offset + size)) return nullptr;
    a.backing = impl_->backing + offset;
    if (tracked) a.written = reinterpret_cast<uint8_t*>(impl_->written + offset);
  }
  // Only pages that were used before, by an allocation that has been freed, hold anything but zeroes.
  if (impl_->forget_freed_within(base, base + size)) {
    if (a.written != nullptr) std::memset(a.written, 0, size);
    if (kind == Kind::variable) std::memset(a.backing, 0, size);
    impl_->generation.fetch_add(1, std::memory_order_release);
  }
  if (tracked) fill_with_poison(a.backing, size);
  if (!pattern.empty() && !fill_with(pattern, a.backing, size)) return nullptr;
  if (counted) impl_->in_use += size;
  impl_->machine_in_use += machine_size;
  a.number = static_cast<uint32_t>(impl_->storage.size() + 1);
  Allocation* kept = &impl_->storage.emplace_back(std::move(a));
  impl_->at[base] = kept;
  return kept;
}

const Allocation* GlobalMemory::adopt(void* host, uint64_t size) {
  const uint64_t base = reinterpret_cast<uint64_t>(host);
  if (size == 0 || base == 0 || base + size < base) return nullptr;
  std::unique_lock lock(impl_->mutex);
  if (impl_->live_within(base, base + size) != nullptr) return nullptr;
  impl_->forget_freed_within(base, base + size);
  Allocation a;
  a.base = base;
  a.size = size;
  a.backing = static_cast<std::byte*>(host);
  a.kind = Allocation::Kind::host;
  a.number = static_cast<uint32_t>(impl_->storage.size() + 1);
  Allocation* kept = &impl_->storage.emplace_back(std::move(a));
  impl_->at[base] = kept;
  impl_->generation.fetch_add(1, std::memory_order_release);
  return kept;
}

bool GlobalMemory::free(uint64_t base) {
  using Kind = Allocation::Kind;
  std::unique_lock lock(impl_->mutex);
  auto it = impl_->at.find(base);
  if (it == impl_->at.end() || it->second->freed) return false;
  Allocation& a = *it->second;
  a.freed = true;
  impl_->generation.fetch_add(1, std::memory_order_release);
  if (a.kind == Kind::device || a.kind == Kind::managed) impl_->in_use -= a.size;
  const bool ours_on_host = a.base - impl_->host.base < impl_->host.bytes;
  if (a.kind == Kind::host && !ours_on_host) return true;  // adopted: still the program's
  impl_->machine_in_use -= a.machine_bytes;
  const bool on_device = a.kind == Kind::device || a.kind == Kind::heap;
  Impl::release(a.backing, a.size, on_device && (a.size > large || a.machine_bytes == 0));
  if (a.written != nullptr) Impl::release(reinterpret_cast<std::byte*>(a.written), a.size);
  // The host must not get at it any more either. Refused only where the process has too many mappings: no
  // harm done.
  if (ours_on_host && a.size >= small) {
    static_cast<void>(mprotect(a.backing, round_up(a.size, page), PROT_NONE));
  }
  return true;
}

bool GlobalMemory::set_name(uint64_t base, std::string name) {
  std::unique_lock lock(impl_->mutex);
  const auto it = impl_->at.find(base);
  if (it == impl_->at.end() || it->second->freed) return false;
  it->second->name = std::move(name);
  it->second->named = true;
  return true;
}

const Allocation* GlobalMemory::find(uint64_t address) const {
  std::shared_lock lock(impl_->mutex);
  return impl_->holding(address);
}

const Allocation* GlobalMemory::nearest(uint64_t address) const {
  std::shared_lock lock(impl_->mutex);
  if (impl_->at.empty()) return nullptr;
  const auto above = impl_->at.upper_bound(address);
  if (above == impl_->at.begin()) return above->second;
  const Allocation* below = std::prev(above)->second;
  if (above == impl_->at.end()) return below;
  const uint64_t end = below->base + below->size;
  return address < end || address - end <= above->first - address ? below : above->second;
}

bool GlobalMemory::reserved(uint64_t address) const {
  return address - impl_->device.base < impl_->device.bytes;  // never changes
}

void GlobalMemory::mark_written(uint64_t address, uint64_t bytes) {
  std::shared_lock lock(impl_->mutex);
  const Allocation* a = impl_->holding(address);
  if (a == nullptr || a->written == nullptr) return;
  const uint64_t offset = address - a->base;
  std::memset(a->written + offset, 1, std::min(bytes, a->size - offset));
}

std::vector<std::pair<uint64_t, uint64_t>> GlobalMemory::written_parts(const Allocation& allocation) {
  const uint8_t* const flags = allocation.written;
  const uint64_t shift =
      reinterpret_cast<uint64_t>(flags) % page;  // of the first page's, not the allocation's
  std::vector<unsigned char> resident((shift + allocation.size + page - 1) / page, 1);
  // Of flags that nothing has touched there are no pages. Where the system does not say, all are looked at.
  static_cast<void>(mincore(const_cast<uint8_t*>(flags) - shift, shift + allocation.size, resident.data()));
  std::vector<std::pair<uint64_t, uint64_t>> parts;
  for (uint64_t i = 0; i < resident.size(); ++i) {
    if ((resident[i] & 1) == 0) continue;
    const uint64_t first = i == 0 ? 0 : i * page - shift;
    const uint64_t end = std::min((i + 1) * page - shift, allocation.size);
    for (const uint8_t* at = flags + first; at < flags + end;) {
      if (*at == 0) {
        ++at;
        continue;
      }
      const auto* stop =
          static_cast<const uint8_t*>(std::memchr(at, 0, static_cast<size_t>(flags + end - at)));
      if (stop == nullptr) stop = flags + end;
      const auto begins = static_cast<uint64_t>(at - flags), ends = static_cast<uint64_t>(stop - flags);
      if (!parts.empty() && parts.back().second == begins) {
        parts.back().second = ends;
      } else {
        parts.emplace_back(begins, ends);
      }
      at = stop;
    }
  }
  return parts;
}

uint64_t GlobalMemory::bytes_in_use() const {
  std::shared_lock lock(impl_->mutex);
  return impl_->in_use;
}

uint64_t GlobalMemory::bytes_available() const {
  std::shared_lock lock(impl_->mutex);
  const auto less = [](uint64_t a, uint64_t b) { return a > b ? a - b : 0; };
  const uint64_t machine =
      std::min(less(impl_->machine_bytes, impl_->machine_in_use), available_machine_memory());
  return std::min(less(device().global_bytes, impl_->in_use), machine / 2);
}

uint64_t GlobalMemory::generation() const {
  return impl_->generation.load(std::memory_order_acquire);
}

bool name_memory(const void* memory, std::string name) {
  return global_memory().set_name(reinterpret_cast<uint64_t>(memory), std::move(name));
}

GlobalMemory& global_memory() {
  static GlobalMemory* memory = new GlobalMemory;
  return *memory;
}

}  // namespace simulator
