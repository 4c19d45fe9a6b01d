// Shapes of norm_gemm: which are run, and what each must compute, move and hold.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/device_kind.h"
#include "common/harness/problems/fused_norm/shape.h"
#include "common/harness/problems/gemm/shape.h"

namespace ladder {

inline NormGemm norm_gemm_shape(int rows, int cols, int n) {
  return {rows, cols, n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 1e-5f};
}

std::vector<NormGemm> norm_gemm_verify_shapes();  // awkward sizes, large ones last
std::vector<NormGemm> norm_gemm_sweep_shapes();

// The product of a norm_gemm on its own: h · W', and its norm: x + residual to h.
Gemm gemm_of(const NormGemm& p);
FusedNorm norm_of(const NormGemm& p);

bool quick_on_cpu(const NormGemm& p);
bool quick_on_simulator(const NormGemm& p);
NormGemm random_shape(std::mt19937_64& random, DeviceKind device, const NormGemm&);
NormGemm in_vectors(NormGemm p, Precision precision);

// Bytes of device memory that one set of inputs and outputs takes.
std::uint64_t footprint_bytes(const NormGemm& p, Precision precision = Precision::bf16);
double bytes_needed(const NormGemm& p, int sets, bool timed, bool bf16_only);
double host_bytes_needed(const NormGemm& p, bool bf16_only);

// TFLOPS of the product alone.
double score(const NormGemm& p, Precision precision, double microseconds);

}  // namespace ladder
