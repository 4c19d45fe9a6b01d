// What a run takes of memory.
#pragma once

#include "common/harness/problems/problems.h"

namespace ladder {

// Device memory that a run takes: the buffer sets and, beside them, the reference C in fp32 or the norm's
// rival, the copy; and what cuBLAS's workspace, the guard zones and the context need. In floating point,
// since the largest shapes pass 2^64.
// In another precision a set of the gemm has its inputs in fp32, in the variant's layout and in the
// library's, and the reference is in fp64; one of the norm has y twice.
constexpr double memory_slack = 256 << 20;
inline double bytes_needed(const Gemm& p, int sets, bool, bool bf16_only) {
  const double inputs = double(p.m) * p.k + double(p.k) * p.n, outputs = double(p.m) * p.n;
  const double of_a_set = bf16_only ? 2 * inputs + 2 * outputs : 12 * inputs + 4 * outputs;
  const double reference = bf16_only ? 4 * outputs : 8 * (inputs + outputs);
  return of_a_set * sets + reference + memory_slack;
}
// Beside them, in every set: what a variant of the gemm in bf16 uses as a workspace, or one in fp64 needs
// more.
inline double workspace_needed(const Variant<Gemm>& variant, const Gemm& p) {
  const Extension<Gemm>& extension = extension_of(variant);
  // Of fp64 what lies in the two layouts, and C, is twice as long as counted above.
  if (extension.precision == Precision::fp64)
    return 8 * (double(p.m) * p.k + double(p.k) * p.n) + 4 * (double(p.m) * p.n);
  const bool counted = extension.precision != Precision::bf16 || !extension.workspace_bytes;
  return counted ? 0 : double(extension.workspace_bytes(p));
}
template <class Problem>
double workspace_needed(const Variant<Problem>&, const Problem&) {
  return 0;
}
inline double bytes_needed(const FusedNorm& p, int sets, bool timed, bool bf16_only) {
  return double(footprint_bytes(p)) * sets * (timed ? 2 : 1) +
         (bf16_only ? 0 : 2.0 * p.rows * p.cols * sets) + memory_slack;
}
inline double bytes_needed(const NormGemm& p, int sets, bool timed, bool) {
  // The variant's W', and the rivals' y; while the reference is computed, h, W' and C in fp64.
  const double weights = 2.0 * p.cols * p.n, matrix = 2.0 * p.rows * p.cols;
  return (double(footprint_bytes(p)) + weights + (timed ? matrix : 0)) * sets + 4 * (weights + matrix) +
         8.0 * p.rows * p.n + memory_slack;
}
inline double bytes_needed(const GroupedGemm& p, int sets, bool, bool) {
  return double(footprint_bytes(p)) * sets + 4.0 * p.m * p.n + memory_slack;  // and the reference
}
inline double bytes_needed(const Linear& p, int sets, bool timed, bool) {
  // Beside the inputs and C: what the unfused chain stores, two products and the weights side by side; and
  // the reference, in fp32.
  const double chain = 4.0 * p.m * p.n + 4.0 * p.k * p.n;
  return (double(footprint_bytes(p)) + (timed ? chain : 0)) * sets + 4.0 * p.m * p.n + memory_slack;
}

inline double bytes_needed(const RowOperator& p, int sets, bool timed, bool) {
  return double(footprint_bytes(p)) * sets * (timed ? 2 : 1) + memory_slack;
}

// Host memory that a check takes: the inputs in fp32 and as they are copied, the reference, in fp64 and as it
// is copied, and a chunk of the output.
inline double host_bytes_needed(const Gemm& p, bool bf16_only) {
  const double inputs = double(p.m) * p.k + double(p.k) * p.n, outputs = double(p.m) * p.n;
  return (bf16_only ? 6 : 12) * inputs + 12 * outputs + memory_slack;
}
inline double host_bytes_needed(const FusedNorm& p, bool) {
  return double(footprint_bytes(p)) + 8.0 * p.rows + memory_slack;
}
inline double host_bytes_needed(const NormGemm& p, bool) {
  // x, residual, W, gamma; h and W' in fp32, twice; the reference in fp64.
  return double(footprint_bytes(p)) + 8.0 * p.cols * (double(p.rows) + p.n) + 8.0 * p.rows * p.n +
         memory_slack;
}
inline double host_bytes_needed(const GroupedGemm& p, bool) {
  // A and B in fp32, a group's as they are copied; C's reference in fp64 and as it is copied.
  return 4.0 * p.m * p.k + 4.0 * p.groups * p.k * p.n + 6.0 * p.k * p.n + 12.0 * p.m * p.n + memory_slack;
}
inline double host_bytes_needed(const Linear& p, bool) {
  // A twice, B and Gate, in fp32 and as they are copied; two references in fp64, and one as it is copied.
  return 10.0 * p.m * p.k + 12.0 * p.k * p.n + 20.0 * p.m * p.n + memory_slack;
}
inline double host_bytes_needed(const RowOperator& p, bool) {
  return double(footprint_bytes(p)) + 40.0 * p.rows + memory_slack;
}

}  // namespace ladder
