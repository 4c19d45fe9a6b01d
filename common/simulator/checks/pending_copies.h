// Which bytes of a cluster's shared memory (its CTAs' one after the other, as in shared_shadow.h) a copy is
// to write that has been issued and that no wait has returned for yet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace simulator {

class PendingCopies {
 public:
  struct Copy {  // by one lane
    uint32_t warp, lane;
    uint64_t number;  // of the instruction, among the copies of its warp
    bool operator==(const Copy&) const = default;
  };

  void reset(uint32_t bytes);  // a new cluster, with this many bytes of shared memory

  // offset, bytes: multiples of 4. Of two copies to the same bytes the later one counts.
  void add(uint32_t offset, uint32_t bytes, Copy copy);
  void remove(uint32_t offset, uint32_t bytes, Copy copy);

  // False: none of these accesses, up to 16 aligned bytes each, meets a pending copy. True: one may.
  bool may_meet(const uint32_t offset[32]) const {
    if (words_pending_ == 0) return false;
    uint32_t found = 0;
    for (int lane = 0; lane < 32; ++lane) found |= in_row_[offset[lane] / row_bytes];
    return found != 0;
  }
  // The copy that is pending to one of these bytes.
  std::optional<Copy> find(uint32_t offset, uint32_t bytes) const;

 private:
  static constexpr uint32_t row_bytes = 128;

  uint32_t bytes_ = 0;
  uint32_t words_pending_ = 0;
  std::vector<uint8_t> in_row_;  // per 128 bytes: words that are pending
  std::vector<uint64_t> words_;  // per 4 bytes: (number + 1) · 2^14 + warp · 32 + lane; 0: nothing is
                                 // pending. Empty until there is a copy.
};

}  // namespace simulator
