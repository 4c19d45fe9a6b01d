// The course's problems as sizes: their names, their shapes, and what each must compute and move. A shape is
// the problem's own struct (Gemm, FusedNorm, NormGemm, GroupedGemm, Linear, RowOperator) with null pointers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/extension.h"

namespace ladder {

// What a program of the course runs on. It decides the sizes, and whether there are times or counts.
enum class DeviceKind {
  gpu,
  simulator,  // a GPU made of the CPU, a thousand times slower and more: common/simulator
};

inline Gemm gemm_shape(int m, int n, int k) {
  return {m, n, k, nullptr, nullptr, nullptr};
}
inline FusedNorm norm_shape(int rows, int cols) {
  return {rows, cols, nullptr, nullptr, nullptr, nullptr, nullptr, 1e-5f};
}
inline NormGemm norm_gemm_shape(int rows, int cols, int n) {
  return {rows, cols, n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 1e-5f};
}
inline GroupedGemm grouped_shape(int groups, int m, int n, int k) {
  return {groups, m, n, k, nullptr, nullptr, nullptr, nullptr};
}
inline Linear linear_shape(int m, int n, int k) {
  return {m, n, k, nullptr, nullptr, nullptr, nullptr, nullptr};
}
inline RowOperator row_operator_shape(int rows, int cols) {
  return {rows, cols, nullptr, nullptr, nullptr, nullptr, 1e-5f};
}

// What the harness needs to know of a problem to handle every problem alike.
template <class Problem>
struct ProblemInfo;

template <>
struct ProblemInfo<Gemm> {
  static constexpr const char* name = "gemm";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static Gemm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? gemm_shape(4096, 4096, 4096) : gemm_shape(256, 256, 256);
  }
  static std::vector<Gemm> verify_shapes();  // awkward sizes, large ones last: what --verify-only runs
  static std::vector<Gemm> sweep_shapes();   // what --sweep times
  static std::vector<Gemm> sweep_over_k(int m, int n);  // what --sweep k times
  static const std::vector<Variant<Gemm>>& variants(const Rung& r) { return r.gemm; }
};

template <>
struct ProblemInfo<FusedNorm> {
  static constexpr const char* name = "fused_norm";
  static constexpr const char* unit = "GB/s";
  static constexpr const char* score_field = "gbps";
  static FusedNorm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? norm_shape(16384, 8192) : norm_shape(64, 8192);
  }
  static std::vector<FusedNorm> verify_shapes();
  static std::vector<FusedNorm> sweep_shapes();
  static const std::vector<Variant<FusedNorm>>& variants(const Rung& r) { return r.fused_norm; }
};

template <>
struct ProblemInfo<NormGemm> {
  static constexpr const char* name = "norm_gemm";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static NormGemm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? norm_gemm_shape(8192, 4096, 4096) : norm_gemm_shape(256, 256, 256);
  }
  static std::vector<NormGemm> verify_shapes();
  static std::vector<NormGemm> sweep_shapes();
  static const std::vector<Variant<NormGemm>>& variants(const Rung& r) { return r.norm_gemm; }
};

template <>
struct ProblemInfo<GroupedGemm> {
  static constexpr const char* name = "grouped_gemm";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static GroupedGemm default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? grouped_shape(8, 4096, 14336, 4096) : grouped_shape(8, 256, 256, 256);
  }
  static std::vector<GroupedGemm> verify_shapes();
  static std::vector<GroupedGemm> sweep_shapes();
  static const std::vector<Variant<GroupedGemm>>& variants(const Rung& r) { return r.grouped_gemm; }
};

template <>
struct ProblemInfo<Linear> {
  static constexpr const char* name = "linear";
  static constexpr const char* unit = "TFLOPS";
  static constexpr const char* score_field = "tflops";
  static Linear default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? linear_shape(8192, 14336, 4096) : linear_shape(256, 256, 256);
  }
  static std::vector<Linear> verify_shapes();
  static std::vector<Linear> sweep_shapes();
  static const std::vector<Variant<Linear>>& variants(const Rung& r) { return r.linear; }
};

template <>
struct ProblemInfo<RowOperator> {
  static constexpr const char* name = "row_operator";
  static constexpr const char* unit = "GB/s";
  static constexpr const char* score_field = "gbps";
  static RowOperator default_shape(DeviceKind device) {
    return device == DeviceKind::gpu ? row_operator_shape(16384, 8192) : row_operator_shape(64, 8192);
  }
  static std::vector<RowOperator> verify_shapes();
  static std::vector<RowOperator> sweep_shapes();
  static const std::vector<Variant<RowOperator>>& variants(const Rung& r) { return r.row_operator; }
};

// How the rows of a grouped_gemm are shared out among its groups: the offsets of GroupedGemm, on the host.
// Skewed, as by a router that has its favourites: each group's share is the exponential of a number that is
// about normal, drawn by the seed. Even: the numbers of rows differ by one at most.
std::vector<int> group_offsets(const GroupedGemm& p, bool even, std::uint64_t seed);
// The product of each group that has rows, with their pointers where p has any.
std::vector<Gemm> gemms_of(const GroupedGemm& p, const std::vector<int>& offsets);

// The product of a norm_gemm on its own: h · W', and its norm: x + residual to h.
Gemm gemm_of(const NormGemm& p);
FusedNorm norm_of(const NormGemm& p);
// The product of a linear on its own: A · B.
Gemm gemm_of(const Linear& p);

// Whether the CPU computes the problem in well under a second: what --verify-only keeps with --reference cpu.
bool quick_on_cpu(const Gemm& p);
bool quick_on_cpu(const FusedNorm& p);
bool quick_on_cpu(const NormGemm& p);
bool quick_on_cpu(const GroupedGemm& p);
bool quick_on_cpu(const Linear& p);
bool quick_on_cpu(const RowOperator& p);

// Whether the simulator runs any rung's kernel on it in about a second: what --verify-only keeps there. Every
// tile of the gemm counts in full.
bool quick_on_simulator(const Gemm& p);
bool quick_on_simulator(const FusedNorm& p);
bool quick_on_simulator(const NormGemm& p);
bool quick_on_simulator(const GroupedGemm& p);
bool quick_on_simulator(const Linear& p);
bool quick_on_simulator(const RowOperator& p);

std::string shape_text(const Gemm& p);         // "4096x4096x4096" (m x n x k)
std::string shape_text(const FusedNorm& p);    // "16384x8192" (rows x cols)
std::string shape_text(const NormGemm& p);     // "8192x4096x4096" (rows x cols x n)
std::string shape_text(const GroupedGemm& p);  // "8x4096x14336x4096" (groups x m x n x k)
std::string shape_text(const Linear& p);       // as of its product
std::string shape_text(const RowOperator& p);  // "16384x8192" (rows x cols)

// Bytes of device memory that one set of inputs and outputs takes.
// In another precision A and B of the gemm take its bytes, and y of the norm.
std::uint64_t footprint_bytes(const Gemm& p, Precision precision = Precision::bf16);
std::uint64_t footprint_bytes(const FusedNorm& p, Precision precision = Precision::bf16);
std::uint64_t footprint_bytes(const NormGemm& p, Precision precision = Precision::bf16);
std::uint64_t footprint_bytes(const GroupedGemm& p, Precision precision = Precision::bf16);
std::uint64_t footprint_bytes(const Linear& p, Precision precision = Precision::bf16);
std::uint64_t footprint_bytes(const RowOperator& p, Precision precision = Precision::bf16);

// Bytes that a row_operator must move: x and y, and gamma and beta where it has them.
std::uint64_t compulsory_bytes(const RowOperator& p, RowOperation operation);

// The score at a given time per launch: TFLOPS = 2·m·n·k / time for the gemm, GB/s over the bytes that must
// move, 4·rows·cols·2 + 2·cols in bf16, for the norm; TFLOPS of the product alone for norm_gemm, of all
// groups' for grouped_gemm; of one product for linear, of which a gated variant has two.
double score(const Gemm& p, Precision precision, double microseconds);
double score(const FusedNorm& p, Precision precision, double microseconds);
double score(const NormGemm& p, Precision precision, double microseconds);
double score(const GroupedGemm& p, Precision precision, double microseconds);
double score(const Linear& p, Precision precision, double microseconds);
double score(const RowOperator& p, RowOperation operation, double microseconds);  // of compulsory_bytes()

}  // namespace ladder
