// A timeline from inside a kernel: what its warps did, and when. ptx::Track (common/ptx/timeline.cuh) records
// it, in memory that the launch passes to the kernel.
#pragma once

#include <cuda_runtime_api.h>

namespace ladder {

// What a warp has done since the mark before.
enum class Doing : unsigned { wait_for_stage, load, wait_for_data, convert, multiply, store };
enum class Role : unsigned { all, producer, consumer };  // all: every warp does everything

struct TimelineSpan {
  unsigned long long end;  // %clock64
  unsigned cycles;         // it took
  unsigned what;           // see describe()
};
__host__ __device__ constexpr unsigned describe(Doing doing, int tile, int k_tile) {
  return unsigned(doing) | unsigned(tile) % 4096 << 4 | unsigned(k_tile) << 16;
}

struct TimelineWarp {
  // At its first mark and its last: the SM's own clock, and nanoseconds that all SMs share, in steps of 32.
  unsigned long long clock[2], ns[2];
  unsigned cta, sm, warp;
  Role role;
  unsigned spans;  // that it had to record; those beyond the capacity are lost
};

// In device memory. used is 0 before the launch.
struct Timeline {
  TimelineWarp* warps;
  TimelineSpan* spans;  // `capacity` of each warp
  unsigned* used;       // how many warps there were; those beyond most_warps note nothing
  unsigned most_warps, capacity;
  unsigned ctas;  // only the first ones' warps note
};

// The parameters of a kernel that is traced, beside those that it has anyway.
template <class Parameters>
struct Traced : Parameters {
  Timeline timeline;
};

}  // namespace ladder
