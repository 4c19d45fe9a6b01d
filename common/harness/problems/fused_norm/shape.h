// Shapes of fused_norm: which are run, and what each must compute, move and hold.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/base/device_kind.h"

namespace ladder {

inline FusedNorm norm_shape(int rows, int cols) {
  return {rows, cols, nullptr, nullptr, nullptr, nullptr, nullptr, 1e-5f};
}

std::vector<FusedNorm> fused_norm_verify_shapes();  // awkward sizes, large ones last
std::vector<FusedNorm> fused_norm_sweep_shapes();

bool quick_on_cpu(const FusedNorm& p);
bool quick_on_simulator(const FusedNorm& p);
FusedNorm random_shape(std::mt19937_64& random, DeviceKind device, const FusedNorm&);
FusedNorm in_vectors(FusedNorm p, Precision precision);

// Bytes of device memory that one set of inputs and outputs takes: y in the precision.
std::uint64_t footprint_bytes(const FusedNorm& p, Precision precision = Precision::bf16);
double bytes_needed(const FusedNorm& p, int sets, bool timed, bool bf16_only);
double host_bytes_needed(const FusedNorm& p, bool bf16_only);

// GB/s over the bytes that must move, 4·rows·cols·2 + 2·cols in bf16.
double score(const FusedNorm& p, Precision precision, double microseconds);

}  // namespace ladder
