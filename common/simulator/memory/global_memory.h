// Global memory: every allocation a kernel or a copy may touch.
//
// Device memory has addresses of its own (a reserved range that the host cannot touch, so that a host
// dereference of a device pointer faults as it does with a GPU); `backing` is where its bytes are. Managed
// and pinned host memory is at the same address for both. An address is not given out again for as long as
// possible: a use after free is caught.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace simulator {

struct Allocation {
  enum class Kind : uint8_t { device, managed, host, variable, heap };  // heap: malloc() in a kernel
  uint64_t base = 0;  // as device code and host API calls name it
  uint64_t size = 0;  // bytes, as requested
  std::byte* backing = nullptr;
  uint8_t* written =
      nullptr;  // one byte per byte of memory: not 0 once written; null: counts as written throughout
  Kind kind = Kind::device;
  bool freed = false;
  bool read_only = false;  // __constant__
  uint64_t machine_bytes =
      0;                // of the machine's memory, if every byte were written: what is set aside for it
  bool named = false;   // by name_memory()
  uint32_t number = 0;  // counts from 1: "allocation #3"
  std::string name;     // of a variable, or where `named`; else empty

  bool holds(uint64_t address, uint64_t bytes) const {
    return address - base <= size && bytes <= size - (address - base);
  }
};

class GlobalMemory {
 public:
  GlobalMemory();
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;

  // size ≥ 1; alignment of the base is at least 256 bytes (512 for device memory). Null: out of memory (more
  // than the device has, or than the machine has). Contents are not written; those of a variable are zero and
  // count as written. Thread-safe, as is all of this class.
  const Allocation* allocate(uint64_t size, Allocation::Kind kind, std::string name = {});
  // Device memory for launches of which a few CTAs run: nothing of the machine's is set aside for it, so that
  // there may be more of it than the machine has. `pattern`, whole pages: it holds these bytes, over and
  // over, counts as written, and kernels may only read it. Null: as above.
  const Allocation* allocate_partly(uint64_t size, std::span<const std::byte> pattern = {});
  // What of such memory, without a pattern, has been written: [first, end) in bytes from the base, in order.
  static std::vector<std::pair<uint64_t, uint64_t>> written_parts(const Allocation& allocation);
  // Makes host memory that exists visible (cudaHostRegister). Counts as written. Null: overlaps what is
  // visible already.
  const Allocation* adopt(void* host, uint64_t size);
  // base: exactly as allocated. False: no such live allocation.
  bool free(uint64_t base);

  // What reports call the live allocation that begins there. False: there is none.
  bool set_name(uint64_t base, std::string name);

  // The allocation that holds the address, live or (if none is) freed; null: none ever did.
  // The pointer stays valid for the process's life.
  const Allocation* find(uint64_t address) const;
  // The live or freed allocation that ends closest below the address or starts closest above it: for
  // messages.
  const Allocation* nearest(uint64_t address) const;

  // Is the address in the range that device memory is allocated from?
  bool reserved(uint64_t address) const;

  void mark_written(uint64_t address, uint64_t bytes);
  uint64_t bytes_in_use() const;     // device and managed
  uint64_t bytes_available() const;  // what the largest allocation of device memory could have
  // Grows by one at every free() and adopt(): what caches of find() check.
  uint64_t generation() const;

 private:
  struct Impl;
  struct Request {
    uint64_t size;
    Allocation::Kind kind;
    bool partly;
    std::span<const std::byte> pattern;
  };
  const Allocation* make(const Request& request, std::string name);
  Impl* impl_;
};

GlobalMemory& global_memory();  // the process's; never destroyed

}  // namespace simulator
