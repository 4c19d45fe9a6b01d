// The CTAs of a cluster, by what they share.
#pragma once

#include <cuda_runtime_api.h>

namespace ladder::every_shape {

// n CTAs beside each other, which share A, and m below each other, which share B: powers of two. Their ranks
// count along the rows.
struct Cluster {
  int n = 1, m = 1;
  __host__ __device__ constexpr int size() const { return n * m; }
  // Masks of the CTAs beside the first one, and below it.
  __host__ __device__ constexpr unsigned beside() const { return (1u << n) - 1; }
  __host__ __device__ constexpr unsigned below() const {
    unsigned ctas = 0;
    for (int i = 0; i < m; ++i) ctas |= 1u << i * n;
    return ctas;
  }
  constexpr bool operator==(const Cluster&) const = default;
};

}  // namespace ladder::every_shape
