// Rungs that launch nothing, and what becomes of command lines of theirs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/harness/base/failure.h"
#include "common/harness/cli/options.h"

namespace ladder {

using Arguments = std::vector<std::string>;

template <class Problem>
cudaError_t launch_nothing(const Problem&, cudaStream_t) {
  return cudaSuccess;
}

template <class Problem>
Variant<Problem> variant(const char* name, const char* what) {
  return {.name = name, .what = what, .launch = launch_nothing<Problem>};
}

inline const Rung& fake() {
  static const Rung rung{
      .name = "42_fake",
      .title = "does nothing, quickly",
      .needs = {8, 0, Compatibility::newer},
      .gemm = {variant<Gemm>("plain", "without the trick"), variant<Gemm>("padded", "with half of it"),
               variant<Gemm>("fast", "all of it")},
      .fused_norm = {variant<FusedNorm>("two_pass", "reads twice"),
                     variant<FusedNorm>("fast", "reads once")}};
  return rung;
}

// One that has the third problem, too.
inline const Rung& fake_of_three() {
  static const Rung rung = [] {
    Rung three = fake();
    three.norm_gemm = {variant<NormGemm>("two_kernels", "one after the other"),
                       variant<NormGemm>("one_kernel", "at once")};
    return three;
  }();
  return rung;
}

// One that has the fourth.
inline const Rung& fake_of_groups() {
  static const Rung rung = [] {
    Rung grouped = fake();
    grouped.grouped_gemm = {variant<GroupedGemm>("looped", "one by one"),
                            variant<GroupedGemm>("grouped", "at once")};
    return grouped;
  }();
  return rung;
}

// A reader's own, which has one problem.
inline const Rung& fake_of_one() {
  static const Rung rung{.name = "my_gemm",
                         .title = "begun as 42_fake",
                         .needs = {8, 0, Compatibility::newer},
                         .gemm = {variant<Gemm>("42_fake", "the rung"), variant<Gemm>("mine", "all of it")},
                         .fused_norm = {}};
  return rung;
}

// One whose gemm has variants in two precisions.
inline const Rung& fake_of_types() {
  static const Rung rung = [] {
    Rung typed = fake();
    static const Extension<Gemm> tf32{.precision = Precision::tf32};
    typed.gemm[1].extension = &tf32;
    return typed;
  }();
  return rung;
}

inline Options parse(const Arguments& arguments, DeviceKind device = DeviceKind::gpu,
                     const Rung& rung = fake()) {
  return parse_options(arguments, rung, device);
}
inline Options parse_three(const Arguments& arguments) {
  return parse(arguments, DeviceKind::gpu, fake_of_three());
}

template <class Problem>
cudaError_t trace_nothing(const Problem&, const Timeline&, cudaStream_t) {
  return cudaSuccess;
}
// One of whose variants one has a timeline.
inline const Rung& fake_traced() {
  static const Rung rung = [] {
    Rung traced = fake();
    traced.gemm[1].traced = trace_nothing<Gemm>;
    return traced;
  }();
  return rung;
}

// The line with which the arguments are refused; empty, and a failed test, where they are not.
inline std::string refusal(const Arguments& arguments, DeviceKind device = DeviceKind::gpu,
                           const Rung& rung = fake()) {
  try {
    parse(arguments, device, rung);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::bad_usage) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "accepted: " << testing::PrintToString(arguments);
  return {};
}

// Refused with one line that holds every one of `parts`.
inline void expect_refused(const Arguments& arguments, const std::vector<std::string>& parts,
                           DeviceKind device = DeviceKind::gpu, const Rung& rung = fake()) {
  const std::string line = refusal(arguments, device, rung);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 0) << line;
  EXPECT_TRUE(line.ends_with("(see --help)")) << line;
  for (const std::string& part : parts)
    EXPECT_NE(line.find(part), std::string::npos) << "'" << part << "' in: " << line;
}

inline std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

constexpr DeviceKind both_kinds[] = {DeviceKind::gpu, DeviceKind::simulator};

}  // namespace ladder
