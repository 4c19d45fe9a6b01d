// A copy with few or many bytes in flight. Too few leave DRAM idle, as Little's law says; more than enough
// cost time as well.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ladder {

constexpr int copy_threads = 256;

// CTAs of an SM at once, and 16-byte vectors that each of their threads loads before it stores one.
struct CopyInFlight {
  int ctas, depth;
  constexpr int kib() const { return ctas * depth * copy_threads * 16 / 1024; }
};
constexpr CopyInFlight copies_in_flight[] = {{2, 1}, {4, 1}, {6, 1}, {8, 1}, {6, 2},
                                             {8, 2}, {6, 4}, {8, 4}, {6, 8}};

// Copies each of the vectors once. `way` is one of copies_in_flight.
cudaError_t launch_copy(const void* from, void* to, std::size_t count, CopyInFlight way, cudaStream_t stream);

}  // namespace ladder
