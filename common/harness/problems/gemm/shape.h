// Shapes of gemm: which are run, and what each must compute, move and hold.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/device_kind.h"

namespace ladder {

inline Gemm gemm_shape(int m, int n, int k) {
  return {m, n, k, nullptr, nullptr, nullptr};
}

std::vector<Gemm> gemm_verify_shapes();  // awkward sizes, large ones last
std::vector<Gemm> gemm_sweep_shapes();

std::vector<Gemm> shapes_over_k(int m, int n);  // what --sweep k times

// n and k are the next multiples, as far as there are any.
Gemm in_multiples(const Gemm& p, int of);

// What a variant in bf16 uses as a workspace, or one in fp64 needs more.
double workspace_needed(const Variant<Gemm>& variant, const Gemm& p);

bool quick_on_cpu(const Gemm& p);
bool quick_on_simulator(const Gemm& p);
Gemm random_shape(std::mt19937_64& random, DeviceKind device, const Gemm&);
Gemm in_vectors(Gemm p, Precision precision);

// Bytes of device memory that one set of inputs and outputs takes: A and B in the precision.
std::uint64_t footprint_bytes(const Gemm& p, Precision precision = Precision::bf16);
double bytes_needed(const Gemm& p, int sets, bool timed, bool bf16_only);
double host_bytes_needed(const Gemm& p, bool bf16_only);

// TFLOPS = 2·m·n·k / time.
double score(const Gemm& p, Precision precision, double microseconds);

}  // namespace ladder
