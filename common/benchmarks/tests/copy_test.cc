// The copies with few and many bytes in flight copy everything, and nothing else. On the simulator.
#include "common/benchmarks/roofs/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace ladder {
namespace {

constexpr unsigned untouched = 0xABABABAB;

// What a copy of `count` of the vectors leaves in memory that was `untouched`.
std::vector<unsigned> copy(const std::vector<unsigned>& words, std::size_t count, CopyInFlight way) {
  void *from = nullptr, *to = nullptr;
  const std::size_t bytes = words.size() * sizeof words[0];
  EXPECT_EQ(cudaMalloc(&from, bytes), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&to, bytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(from, words.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(to, 0xAB, bytes), cudaSuccess);
  EXPECT_EQ(launch_copy(from, to, count, way, nullptr), cudaSuccess);
  std::vector<unsigned> copied(words.size());
  EXPECT_EQ(cudaMemcpy(copied.data(), to, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  cudaFree(from);
  cudaFree(to);
  return copied;
}

TEST(RoofsCopy, EveryVectorIsCopiedInEveryWay) {
  for (const CopyInFlight way : copies_in_flight) {
    const std::size_t of_cta = std::size_t(way.depth) * copy_threads;
    for (const std::size_t count : {std::size_t(1), of_cta - 1, of_cta, 9 * of_cta + 1}) {
      std::vector<unsigned> words((count + 1) * 4);
      std::iota(words.begin(), words.end(), 1u);
      std::vector<unsigned> expected = words;
      std::fill(expected.end() - 4, expected.end(), untouched);
      EXPECT_EQ(copy(words, count, way), expected) << way.kib() << " KiB, " << count << " vectors";
    }
  }
}

TEST(RoofsCopy, AnotherDepthIsRefused) {
  EXPECT_EQ(launch_copy(nullptr, nullptr, 0, {8, 3}, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(launch_copy(nullptr, nullptr, 0, {0, 1}, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ladder
