// Shapes of grouped_gemm: which are run, and what each must compute, move and hold.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/device_kind.h"
#include "common/harness/problems/gemm/shape.h"

namespace ladder {

inline GroupedGemm grouped_shape(int groups, int m, int n, int k) {
  return {groups, m, n, k, nullptr, nullptr, nullptr, nullptr};
}

std::vector<GroupedGemm> grouped_gemm_verify_shapes();  // awkward sizes, large ones last
std::vector<GroupedGemm> grouped_gemm_sweep_shapes();

// How the rows of a grouped_gemm are shared out among its groups: the offsets of GroupedGemm, on the host.
// Skewed, as by a router that has its favourites: each group's share is the exponential of a number that is
// about normal, drawn by the seed. Even: the numbers of rows differ by one at most.
std::vector<int> group_offsets(const GroupedGemm& p, bool even, std::uint64_t seed);
// The product of each group that has rows, with their pointers where p has any.
std::vector<Gemm> gemms_of(const GroupedGemm& p, const std::vector<int>& offsets);

bool quick_on_cpu(const GroupedGemm& p);
bool quick_on_simulator(const GroupedGemm& p);
GroupedGemm random_shape(std::mt19937_64& random, DeviceKind device, const GroupedGemm&);
GroupedGemm in_vectors(GroupedGemm p, Precision precision);

// Bytes of device memory that one set of inputs and outputs takes.
std::uint64_t footprint_bytes(const GroupedGemm& p, Precision precision = Precision::bf16);
double bytes_needed(const GroupedGemm& p, int sets, bool timed, bool bf16_only);
double host_bytes_needed(const GroupedGemm& p, bool bf16_only);

// TFLOPS of all groups' products.
double score(const GroupedGemm& p, Precision precision, double microseconds);

}  // namespace ladder
