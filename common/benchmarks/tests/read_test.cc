// The stream that is only read does read everything: otherwise its roof is too high. On the simulator.
#include "common/benchmarks/read.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ladder {
namespace {

constexpr int sms = 2, threads = read_results(sms);

// The XOR of all words, as the kernel finds it.
unsigned read(const std::vector<unsigned>& words, int depth) {
  void *vectors = nullptr, *out = nullptr;
  const std::size_t bytes = words.size() * sizeof words[0], out_bytes = threads * sizeof(unsigned);
  EXPECT_EQ(cudaMalloc(&vectors, bytes), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&out, out_bytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(vectors, words.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(launch_read(vectors, bytes / 16, static_cast<unsigned*>(out), sms, depth, nullptr), cudaSuccess);
  std::vector<unsigned> found(threads);
  EXPECT_EQ(cudaMemcpy(found.data(), out, out_bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  cudaFree(vectors);
  cudaFree(out);
  unsigned all = 0;
  for (const unsigned one : found) all ^= one;
  return all;
}

TEST(RoofsRead, EveryWordIsReadAtEveryDepth) {
  std::mt19937 random(1);
  for (const int depth : read_depths)
    // Fewer vectors than threads; whole rounds of all of them; a rest of one vector, and of nearly a round.
    for (const int vectors :
         {1, threads - 1, depth * threads, depth * threads + 1, 2 * depth * threads - 1}) {
      std::vector<unsigned> words(std::size_t(vectors) * 4);
      unsigned expected = 0;
      for (unsigned& word : words) expected ^= word = random();
      EXPECT_EQ(read(words, depth), expected) << "depth " << depth << ", " << vectors << " vectors";
    }
}

TEST(RoofsRead, AnotherDepthIsRefused) {
  EXPECT_EQ(launch_read(nullptr, 0, nullptr, sms, 3, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace ladder
