// Inputs of any size that take 2 MiB of memory, and outputs of which a part is written: what a launch of a
// few CTAs is verified with.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/harness/backend/partly_backed.h"
#include "common/harness/verify/verify.h"

namespace ladder {

// A few random elements, over and over. They are an odd number of pages: an index that is off by 2^31 or 2^32
// elements leads to another element of the pattern.
class Repeated {
 public:
  static constexpr std::uint64_t period = std::uint64_t(511) * 4096 / sizeof(__nv_bfloat16);

  // draw(random): the next element.
  template <class Draw>
  Repeated(const char* name, std::uint64_t count, std::uint64_t seed, const Draw& draw)
      : pattern_(drawn(seed, draw)), buffer_(name, count, pattern_) {}

  const __nv_bfloat16* data() const { return buffer_.data(); }
  double operator[](std::uint64_t index) const { return to_double(pattern_[index % period]); }

 private:
  template <class Draw>
  static std::vector<__nv_bfloat16> drawn(std::uint64_t seed, const Draw& draw) {
    std::mt19937_64 random(seed);
    std::vector<__nv_bfloat16> elements(period);
    for (__nv_bfloat16& element : elements) element = round_to_bf16(draw(random));
    return elements;
  }

  std::vector<__nv_bfloat16> pattern_;
  PartlyBacked buffer_;
};

// Checks what has been written of an output. `missing`: a line where its first or its last element was not,
// which are those of the first and the last CTA.
template <class ExpectedAt>
void check_written(const char* name, const PartlyBacked& output, std::uint64_t cols,
                   const ExpectedAt& expected, Verdict& verdict, std::string& missing) {
  bool first = false, last = false;
  output.for_each_written([&](std::uint64_t begin, std::span<const __nv_bfloat16> elements) {
    Verdict part;
    for (std::uint64_t i = 0; i < elements.size(); ++i)
      check_element(name, elements[i], begin + i, cols, expected(begin + i), part);
    verdict.add(part);
    first |= begin == 0;
    last |= begin + elements.size() == output.count();
  });
  if (missing.empty() && !(first && last))
    missing = std::string("nothing was written to the ") + (first ? "last" : "first") + " element of " + name;
}

}  // namespace ladder
