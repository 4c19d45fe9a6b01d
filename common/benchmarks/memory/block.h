// Memory of one kind, freed at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ladder::memory {

enum class Kind {
  pageable,  // of the host, as malloc() gives it: the system may move its pages, so no copy engine reads it
  pinned,    // of the host, its pages locked: a copy engine reads and writes it over the link
  mapped,    // the same, with an address for kernels: every load and store goes over the link
  managed,   // one address for both: a page migrates to the side that touches it
  device,
};

class Block {
 public:
  // Throws Failure(Exit::cannot_run) where the machine has no such memory.
  Block(Kind kind, std::size_t bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* host() const { return host_; }      // null: the host cannot reach it
  void* device() const { return device_; }  // null: kernels cannot
  std::size_t bytes() const { return bytes_; }

 private:
  Kind kind_;
  std::size_t bytes_;
  void *host_ = nullptr, *device_ = nullptr;
};

// bf16 between 0.5 and 2 and their negatives, in no order: half of each is exact.
using Numbers = std::vector<std::uint16_t>;
Numbers numbers(std::size_t bytes);

// Is `found` these numbers, or half of them?
bool equal(const void* found, const Numbers& expected);
bool halved(const void* found, const Numbers& whole);

}  // namespace ladder::memory
