#include <cstring>
#include <memory>

#include "common/benchmarks/memory/ways.h"
#include "common/benchmarks/read.h"
#include "common/harness/base/failure.h"

namespace ladder::memory {
namespace {

template <Kind kind>
Trial to_device(const Numbers& from) {
  const std::size_t bytes = from.size() * sizeof from[0];
  auto host = std::make_shared<Block>(kind, bytes);
  auto device = std::make_shared<Block>(Kind::device, bytes);
  std::memcpy(host->host(), from.data(), bytes);
  return {[=](cudaStream_t s) {
            check(cudaMemsetAsync(device->device(), 0, bytes, s), "clearing the copy's target");
          },
          [=](cudaStream_t s) {
            check(cudaMemcpyAsync(device->device(), host->host(), bytes, cudaMemcpyHostToDevice, s),
                  "copying to the device");
          },
          [=, &from] {
            Numbers found(from.size());
            check(cudaMemcpy(found.data(), device->device(), bytes, cudaMemcpyDeviceToHost), "copying back");
            return equal(found.data(), from);
          }};
}

template <Kind kind>
Trial to_host(const Numbers& from) {
  const std::size_t bytes = from.size() * sizeof from[0];
  auto host = std::make_shared<Block>(kind, bytes);
  auto device = std::make_shared<Block>(Kind::device, bytes);
  check(cudaMemcpy(device->device(), from.data(), bytes, cudaMemcpyHostToDevice), "copying to the device");
  return {[=](cudaStream_t) { std::memset(host->host(), 0, bytes); },
          [=](cudaStream_t s) {
            check(cudaMemcpyAsync(host->host(), device->device(), bytes, cudaMemcpyDeviceToHost, s),
                  "copying to the host");
          },
          [=, &from] { return equal(host->host(), from); }};
}

// What pinning costs where the memory is there already. The host does it; the stream is idle.
Trial pin(const Numbers& from) {
  struct Pinned {
    Block block;
    bool pinned = false;
    void unpin() {
      if (pinned) check(cudaHostUnregister(block.host()), "unlocking pages");
      pinned = false;
    }
    ~Pinned() {
      if (pinned) cudaHostUnregister(block.host());
    }
  };
  const std::size_t bytes = from.size() * sizeof from[0];
  auto one = std::shared_ptr<Pinned>(new Pinned{{Kind::pageable, bytes}});
  return {[=](cudaStream_t) { one->unpin(); },
          [=](cudaStream_t) {
            check(cudaHostRegister(one->block.host(), bytes, cudaHostRegisterDefault), "locking pages");
            one->pinned = true;
          },
          [=] {
            cudaPointerAttributes found{};
            check(cudaPointerGetAttributes(&found, one->block.host()), "querying the kind of memory");
            return found.type == cudaMemoryTypeHost;
          }};
}

// The kernel of read.h, and the XOR of all words as it found it.
class Reader {
 public:
  Reader() : sms_(count_sms()), out_(Kind::device, read_results(sms_) * sizeof(unsigned)) {}

  void read(const Block& block, cudaStream_t stream) const {
    constexpr int depth = 4;
    auto* const out = static_cast<unsigned*>(out_.device());
    check(launch_read(block.device(), block.bytes() / 16, out, sms_, depth, stream), "launching the reader");
  }
  bool has_read(const Numbers& expected) const {
    std::vector<unsigned> found(read_results(sms_));
    check(cudaMemcpy(found.data(), out_.device(), out_.bytes(), cudaMemcpyDeviceToHost), "copying back");
    unsigned all = 0, wanted = 0;
    for (const unsigned word : found) all ^= word;
    for (std::size_t i = 0; i < expected.size(); i += 2)
      wanted ^= expected[i] | unsigned(expected[i + 1]) << 16;
    return all == wanted;
  }

 private:
  static int count_sms() {
    int device = 0, sms = 0;
    check(cudaGetDevice(&device), "getting the device");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "counting multiprocessors");
    return sms;
  }
  int sms_;
  Block out_;
};

enum class Before {
  nothing,        // the data is where it always is
  host_writes,    // so its pages are in the host's memory
  a_kernel_reads  // so its pages are in the device's, and the stream is busy until the sample begins
};

template <Kind kind, Before before, bool with_prefetch = false>
Trial read(const Numbers& from) {
  auto block = std::make_shared<Block>(kind, from.size() * sizeof from[0]);
  auto reader = std::make_shared<Reader>();
  check(cudaMemcpy(kind == Kind::mapped ? block->host() : block->device(), from.data(), block->bytes(),
                   cudaMemcpyDefault),
        "copying to the device");
  return {[=, &from](cudaStream_t s) {
            if (before == Before::host_writes) std::memcpy(block->host(), from.data(), block->bytes());
            if (before == Before::a_kernel_reads) reader->read(*block, s);
          },
          [=](cudaStream_t s) {
            if (with_prefetch) prefetch(*block, cudaMemLocationTypeDevice, s);
            reader->read(*block, s);
          },
          [=, &from] { return reader->has_read(from); }};
}

}  // namespace

void prefetch(const Block& managed, cudaMemLocationType to, cudaStream_t stream) {
  cudaMemLocation where{};
  where.type = to;
  if (to == cudaMemLocationTypeDevice) check(cudaGetDevice(&where.id), "getting the device");
  check(cudaMemPrefetchAsync(managed.device(), managed.bytes(), where, 0, stream), "prefetching");
}

std::vector<Way> steps() {
  return {
      {"to_device_pageable", "cudaMemcpyAsync to the device, from pageable memory",
       to_device<Kind::pageable>},
      {"to_device_pinned", "the same from pinned memory", to_device<Kind::pinned>},
      {"to_host_pageable", "cudaMemcpyAsync to the host, to pageable memory", to_host<Kind::pageable>},
      {"to_host_pinned", "the same to pinned memory", to_host<Kind::pinned>},
      {"pin", "cudaHostRegister: locking the pages of memory that is there", pin},
      {"read_device", "a kernel reads device memory", read<Kind::device, Before::a_kernel_reads>},
      {"read_mapped", "a kernel reads mapped memory", read<Kind::mapped, Before::nothing>},
      {"read_managed_first", "a kernel reads managed memory that the host has written",
       read<Kind::managed, Before::host_writes>},
      {"read_managed_again", "the same kernel once more", read<Kind::managed, Before::a_kernel_reads>},
      {"read_managed_prefetched", "cudaMemPrefetchAsync, then the kernel, after the host has written",
       read<Kind::managed, Before::host_writes, true>},
  };
}

}  // namespace ladder::memory
