#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "common/benchmarks/memory/pass.h"
#include "common/benchmarks/memory/ways.h"
#include "common/harness/base/failure.h"

namespace ladder::memory {
namespace {

// The data and its result are in one place of the host's memory; before each sample the data is put there.
Trial in_place(const std::shared_ptr<Block>& block, const Numbers& from,
               std::function<void(cudaStream_t)> run) {
  return {[=, &from](cudaStream_t) { std::memcpy(block->host(), from.data(), block->bytes()); },
          std::move(run), [=, &from] { return halved(block->host(), from); }};
}

void pass(void* data, std::size_t vectors, cudaStream_t stream) {
  check(launch_pass(data, vectors, stream), "launching the pass");
}

template <Kind kind>
Trial copied(const Numbers& from) {
  auto host = std::make_shared<Block>(kind, from.size() * sizeof from[0]);
  auto device = std::make_shared<Block>(Kind::device, host->bytes());
  return in_place(host, from, [=, vectors = vectors_of(from)](cudaStream_t s) {
    void *const there = device->device(), *const here = host->host();
    check(cudaMemcpyAsync(there, here, host->bytes(), cudaMemcpyHostToDevice, s), "copying to the device");
    pass(there, vectors, s);
    check(cudaMemcpyAsync(here, there, host->bytes(), cudaMemcpyDeviceToHost, s), "copying to the host");
  });
}

// Streams and what they wait for.
struct Streams {
  static constexpr int count = 4;
  cudaStream_t each[count] = {};
  cudaEvent_t start = nullptr, done[count] = {};

  Streams() {
    check(cudaEventCreateWithFlags(&start, cudaEventDisableTiming), "creating an event");
    for (int i = 0; i < count; ++i) {
      check(cudaStreamCreateWithFlags(&each[i], cudaStreamNonBlocking), "creating a stream");
      check(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming), "creating an event");
    }
  }
  ~Streams() {
    cudaEventDestroy(start);
    for (int i = 0; i < count; ++i) {
      cudaEventDestroy(done[i]);
      cudaStreamDestroy(each[i]);
    }
  }
  Streams(const Streams&) = delete;

  void fork(cudaStream_t from) const {
    check(cudaEventRecord(start, from), "recording an event");
    for (cudaStream_t one : each) check(cudaStreamWaitEvent(one, start, 0), "waiting for an event");
  }
  void join(cudaStream_t to) const {
    for (int i = 0; i < count; ++i) {
      check(cudaEventRecord(done[i], each[i]), "recording an event");
      check(cudaStreamWaitEvent(to, done[i], 0), "waiting for an event");
    }
  }
};

// The device has a copy engine for each direction. In chunks, one comes in while the one before is worked on
// and an older one goes out; those of one stream follow each other.
Trial overlapped(const Numbers& from) {
  constexpr std::size_t chunks = 32;
  auto host = std::make_shared<Block>(Kind::pinned, from.size() * sizeof from[0]);
  auto device = std::make_shared<Block>(Kind::device, host->bytes());
  auto streams = std::make_shared<Streams>();
  return in_place(host, from, [=, vectors = vectors_of(from)](cudaStream_t s) {
    const std::size_t most = (vectors + chunks - 1) / chunks;
    streams->fork(s);
    int turn = 0;
    for (std::size_t first = 0; first < vectors; first += most, ++turn) {
      const std::size_t count = std::min(most, vectors - first), bytes = count * 16;
      char* const there = static_cast<char*>(device->device()) + first * 16;
      char* const here = static_cast<char*>(host->host()) + first * 16;
      cudaStream_t one = streams->each[turn % Streams::count];
      check(cudaMemcpyAsync(there, here, bytes, cudaMemcpyHostToDevice, one), "copying to the device");
      pass(there, count, one);
      check(cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, one), "copying to the host");
    }
    streams->join(s);
  });
}

Trial mapped(const Numbers& from) {
  auto block = std::make_shared<Block>(Kind::mapped, from.size() * sizeof from[0]);
  return in_place(block, from,
                  [=, vectors = vectors_of(from)](cudaStream_t s) { pass(block->device(), vectors, s); });
}

// Reads a word of each page, so that it comes to the host. The kernel has to be over: that is the wait.
void touch_all_pages(const Block& block, cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "running the pass");
  constexpr std::size_t page = 4096;
  const auto* const bytes = static_cast<const volatile char*>(block.host());
  for (std::size_t at = 0; at < block.bytes(); at += page) (void)bytes[at];
}

template <bool with_prefetch>
Trial managed(const Numbers& from) {
  auto block = std::make_shared<Block>(Kind::managed, from.size() * sizeof from[0]);
  return in_place(block, from, [=, vectors = vectors_of(from)](cudaStream_t s) {
    if (with_prefetch) prefetch(*block, cudaMemLocationTypeDevice, s);
    pass(block->device(), vectors, s);
    if (with_prefetch) prefetch(*block, cudaMemLocationTypeHost, s);
    touch_all_pages(*block, s);
  });
}

}  // namespace

std::vector<Way> whole() {
  return {
      {"whole_pageable", "copy in, pass, copy out; pageable", copied<Kind::pageable>},
      {"whole_pinned", "copy in, pass, copy out; pinned", copied<Kind::pinned>},
      {"whole_overlapped", "the same in 32 chunks on 4 streams", overlapped},
      {"whole_mapped", "the pass itself, on mapped memory", mapped},
      {"whole_managed", "the pass on managed memory, then the host touches every page", managed<false>},
      {"whole_managed_prefetched", "the same between two cudaMemPrefetchAsync", managed<true>},
  };
}

}  // namespace ladder::memory
