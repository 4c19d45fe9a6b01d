// What a warp does when, for Timeline: %clock64, %globaltimer, %smid (PTX ISA, "Special Registers"). A mark
// is a reading of the clock and 16 bytes that lane 0 stores and nobody waits for.
#pragma once

#include "common/timeline.h"

namespace ladder::ptx {

// The memory clobber keeps a reading where it stands among the waits and copies around it.
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

// Of a warp, in a kernel with these parameters. Where it is not traced a track is nothing, and costs nothing.
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
  // Not `notes`: this warp is left out.
  __device__ Track(const Traced<Parameters>& p, Role role, bool notes = true) {
    constexpr int warp_size = 32;
    last_ = clock();
    const unsigned cta = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (!notes || cta >= p.timeline.ctas || threadIdx.x % warp_size != 0) return;
    const unsigned slot = atomicAdd(p.timeline.used, 1);
    if (slot >= p.timeline.most_warps) return;
    warp_ = p.timeline.warps + slot;
    spans_ = p.timeline.spans + slot * std::size_t(p.timeline.capacity);
    capacity_ = p.timeline.capacity;
    warp_->clock[0] = last_;
    warp_->ns[0] = nanoseconds();
    warp_->cta = cta;
    warp_->sm = multiprocessor();
    warp_->warp = threadIdx.x / warp_size;
    warp_->role = role;
  }
  __device__ unsigned long long now() const { return clock(); }
  // What the warp has done since the last mark, until now or that moment, was this, of its present tile.
  __device__ void mark(Doing doing, int k_tile = 0) { mark(doing, k_tile, clock()); }
  __device__ void mark(Doing doing, int k_tile, unsigned long long now) {
    if (count_ < capacity_)
      *reinterpret_cast<uint4*>(spans_ + count_) = make_uint4(
          unsigned(now), unsigned(now >> 32), unsigned(now - last_), describe(doing, tile_, k_tile));
    ++count_;
    last_ = now;
  }
  // This was of the next tile, and its first k-tile.
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
  TimelineWarp* warp_ = nullptr;  // of lanes that note nothing: none
  TimelineSpan* spans_ = nullptr;
  unsigned long long last_;
  unsigned capacity_ = 0, count_ = 0;
  int tile_ = 0;
};

}  // namespace ladder::ptx
