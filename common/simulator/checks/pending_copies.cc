#include "common/simulator/checks/pending_copies.h"

#include <algorithm>

namespace simulator {
namespace {

uint64_t tag(PendingCopies::Copy copy) {
  return (copy.number + 1) << 14 | copy.warp << 5 | copy.lane;
}

}  // namespace

void PendingCopies::reset(uint32_t bytes) {
  if (words_pending_ != 0) {  // else all are 0
    std::fill(words_.begin(), words_.end(), 0);
    std::fill(in_row_.begin(), in_row_.end(), uint8_t{0});
    words_pending_ = 0;
  }
  bytes_ = bytes;
}

void PendingCopies::add(uint32_t offset, uint32_t bytes, Copy copy) {
  const size_t words = (size_t{bytes_} + 3) / 4;
  if (words_.size() < words) {
    words_.resize(words);
    in_row_.resize(words / (row_bytes / 4) + 1);
  }
  for (uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (words_[word] == 0) {
      ++words_pending_;
      ++in_row_[word / (row_bytes / 4)];
    }
    words_[word] = tag(copy);
  }
}

void PendingCopies::remove(uint32_t offset, uint32_t bytes, Copy copy) {
  for (uint32_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (words_[word] != tag(copy)) continue;
    words_[word] = 0;
    --words_pending_;
    --in_row_[word / (row_bytes / 4)];
  }
}

std::optional<PendingCopies::Copy> PendingCopies::find(uint32_t offset, uint32_t bytes) const {
  if (words_pending_ == 0) return {};
  for (uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
    if (const uint64_t found = words_[word]) {
      return Copy{static_cast<uint32_t>(found >> 5 & 511), static_cast<uint32_t>(found & 31),
                  (found >> 14) - 1};
    }
  }
  return {};
}

}  // namespace simulator
