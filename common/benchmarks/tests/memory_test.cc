// Every way brings all of the data in, and its result back. On the simulator, where each copy and each kernel
// is done when its call returns: what is held is the ways' own arithmetic, not their timing.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "common/benchmarks/memory/pass.h"
#include "common/benchmarks/memory/ways.h"

namespace ladder::memory {
namespace {

std::vector<Way> all_ways() {
  std::vector<Way> all = steps();
  for (const Way& way : whole()) all.push_back(way);
  return all;
}

class Stream {
 public:
  Stream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// One vector, fewer than there are chunks, a page and some, chunks that are not equal.
class MemoryWays : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Vectors, MemoryWays, testing::Values(1, 31, 257, 4096, 5001));

TEST_P(MemoryWays, AllOfTheDataArrivesAndAgain) {
  const Numbers from = numbers(std::size_t(GetParam()) * 16);
  const Stream stream;
  for (const Way& way : all_ways()) {
    const Trial trial = way.make(from);
    for (int sample = 0; sample < 3; ++sample) {
      trial.prepare(stream);
      trial.run(stream);
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      EXPECT_TRUE(trial.correct()) << way.name << ", sample " << sample;
    }
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// A way that does nothing is found: what a sample leaves behind does not pass for the next one's.
TEST_P(MemoryWays, WhatIsPreparedIsNotYetRight) {
  const Numbers from = numbers(std::size_t(GetParam()) * 16);
  const Stream stream;
  for (const Way& way : all_ways()) {
    if (std::strncmp(way.name, "read", 4) == 0) continue;  // its result may be that of the read before
    const Trial trial = way.make(from);
    trial.prepare(stream);
    trial.run(stream);
    trial.prepare(stream);
    EXPECT_FALSE(trial.correct()) << way.name;
  }
}

TEST(Memory, NamesAreDistinct) {
  std::set<std::string> names;
  for (const Way& way : all_ways()) EXPECT_TRUE(names.insert(way.name).second) << way.name;
}

TEST(Memory, HalvesAreToldFromTheRest) {
  const Numbers whole = numbers(4096);
  Numbers half = whole;
  for (std::uint16_t& bits : half) bits -= 0x80;
  EXPECT_TRUE(halved(half.data(), whole));
  EXPECT_FALSE(halved(whole.data(), whole));
  half.back() ^= 1;
  EXPECT_FALSE(halved(half.data(), whole));
}

}  // namespace
}  // namespace ladder::memory
