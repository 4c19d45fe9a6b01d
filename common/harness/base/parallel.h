// A loop over all cores of the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace ladder {

// Calls body(slice, begin, end) for consecutive slices of [0, count), one per core, and waits. Slices hold at
// least `grain` elements. Returns how many slices there were; what a slice throws is rethrown here.
template <class Body>
std::size_t parallel_slices(std::uint64_t count, std::uint64_t grain, const Body& body) {
  const std::uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t slices = std::clamp<std::uint64_t>(count / std::max<std::uint64_t>(grain, 1), 1, cores);
  std::vector<std::exception_ptr> thrown(slices);
  auto run = [&](std::uint64_t slice) {
    try {
      body(std::size_t(slice), count * slice / slices, count * (slice + 1) / slices);
    } catch (...) {
      thrown[slice] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t slice = 1; slice < slices; ++slice) threads.emplace_back(run, slice);
    run(0);
  }
  for (const auto& e : thrown)
    if (e) std::rethrow_exception(e);
  return std::size_t(slices);
}

// How many slices parallel_slices may use at most.
inline std::size_t max_slices() {
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace ladder
