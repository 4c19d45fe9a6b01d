// Records for Timeline what a warp does when: %clock64, %globaltimer, %smid (PTX ISA, "Special Registers"). A
// mark reads the clock, and lane 0 stores 16 bytes without waiting for them.
#pragma once

#include "common/timeline.h"

namespace ladder::ptx {

// The memory clobber keeps the reading in its place among the waits and copies around it.
__device__ inline unsigned long long clock() {
  unsigned long long value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
}
__device__ inline unsigned long long nanoseconds() {
  unsigned long long value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}
__device__ inline unsigned multiprocessor() {
  unsigned value;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(value));
  return value;
}

// The track of a warp, in a kernel with these parameters. In a kernel that is not traced it compiles to
// nothing.
template <class Parameters>
class Track {
 public:
  __device__ Track(const Parameters&, Role, bool = true) {}
  __device__ unsigned long long now() const { return 0; }
  __device__ void mark(Doing, int = 0, unsigned long long = 0) {}
  __device__ void mark_of_next_tile(Doing) {}
  __device__ void next_tile() {}
  __device__ void end() {}
};

template <class Parameters>
class Track<Traced<Parameters>> {
 public:
  // Without `notes` the warp is left out of the timeline.
  __device__ Track(const Traced<Parameters>& p, Role role, bool notes = true) {
    constexpr int warp_size = 32;
    last_ = clock();
    const unsigned cta = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (!notes || cta >= p.timeline.ctas || threadIdx.x % warp_size != 0) return;
    const unsigned index = atomicAdd(p.timeline.used, 1);
    if (index >= p.timeline.most_warps) return;
    warp_ = p.timeline.warps + index;
    spans_ = p.timeline.spans + index * std::size_t(p.timeline.capacity);
    capacity_ = p.timeline.capacity;
    warp_->clock[0] = last_;
    warp_->ns[0] = nanoseconds();
    warp_->cta = cta;
    warp_->sm = multiprocessor();
    warp_->warp = threadIdx.x / warp_size;
    warp_->role = role;
  }
  __device__ unsigned long long now() const { return clock(); }
  // Since the last mark, until now or until that reading, the warp was doing this, for its present tile.
  __device__ void mark(Doing doing, int k_tile = 0) { mark(doing, k_tile, clock()); }
  __device__ void mark(Doing doing, int k_tile, unsigned long long now) {
    if (count_ < capacity_)
      *reinterpret_cast<uint4*>(spans_ + count_) = make_uint4(
          unsigned(now), unsigned(now >> 32), unsigned(now - last_), describe(doing, tile_, k_tile));
    ++count_;
    last_ = now;
  }
  // The same for the first k-tile of the next tile.
  __device__ void mark_of_next_tile(Doing doing) {
    ++tile_;
    mark(doing);
    --tile_;
  }
  __device__ void next_tile() { ++tile_; }
  __device__ void end() {
    if (!warp_) return;
    warp_->clock[1] = clock();
    warp_->ns[1] = nanoseconds();
    warp_->spans = count_;
  }

 private:
  TimelineWarp* warp_ = nullptr;  // null in lanes that note nothing
  TimelineSpan* spans_ = nullptr;
  unsigned long long last_;
  unsigned capacity_ = 0, count_ = 0;
  int tile_ = 0;
};

}  // namespace ladder::ptx
