// A stream that is only read: the roof of a kernel that writes next to nothing, such as a product of few
// rows.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace ladder {

// How many vectors of 16 bytes a thread has in flight.
constexpr int read_depths[] = {1, 2, 4, 8};

constexpr int read_threads = 256, read_ctas_per_sm = 8;
constexpr int read_results(int sms) {
  return sms * read_ctas_per_sm * read_threads;
}

// Reads each of the vectors once. Of the words that a thread read out[thread] has the XOR, so out's XOR is
// that of them all, and no load can be left out. `depth` is one of read_depths.
cudaError_t launch_read(const void* vectors, std::size_t count, unsigned* out, int sms, int depth,
                        cudaStream_t stream);

}  // namespace ladder
