// Shapes of linear: which are run, and what each must compute, move and hold.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/device_kind.h"
#include "common/harness/problems/gemm/shape.h"

namespace ladder {

inline Linear linear_shape(int m, int n, int k) {
  return {m, n, k, nullptr, nullptr, nullptr, nullptr, nullptr};
}

std::vector<Linear> linear_verify_shapes();  // awkward sizes, large ones last
std::vector<Linear> linear_sweep_shapes();

Gemm gemm_of(const Linear& p);  // its product on its own: A · B

bool quick_on_cpu(const Linear& p);
bool quick_on_simulator(const Linear& p);
Linear random_shape(std::mt19937_64& random, DeviceKind device, const Linear&);
Linear in_vectors(Linear p, Precision precision);

// Bytes of device memory that one set of inputs and outputs takes.
std::uint64_t footprint_bytes(const Linear& p, Precision precision = Precision::bf16);
double bytes_needed(const Linear& p, int sets, bool timed, bool bf16_only);
double host_bytes_needed(const Linear& p, bool bf16_only);

// TFLOPS of one product, of which a gated variant has two.
double score(const Linear& p, Precision precision, double microseconds);

}  // namespace ladder
