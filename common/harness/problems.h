// The course's problems as sizes: their names, their shapes, and what each must compute and move. A shape is
// the problem's own struct (Gemm, FusedNorm, NormGemm) with null pointers.
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

// Its product on its own: h · W', and its norm: x + residual to h.
Gemm gemm_of(const NormGemm& p);
FusedNorm norm_of(const NormGemm& p);

// Whether the CPU computes the problem in well under a second: what --verify-only keeps with --reference cpu.
bool quick_on_cpu(const Gemm& p);
bool quick_on_cpu(const FusedNorm& p);
bool quick_on_cpu(const NormGemm& p);

// Whether the simulator runs any rung's kernel on it in about a second: what --verify-only keeps there. Every
// tile of the gemm counts in full.
bool quick_on_simulator(const Gemm& p);
bool quick_on_simulator(const FusedNorm& p);
bool quick_on_simulator(const NormGemm& p);

std::string shape_text(const Gemm& p);       // "4096x4096x4096" (m x n x k)
std::string shape_text(const FusedNorm& p);  // "16384x8192" (rows x cols)
std::string shape_text(const NormGemm& p);   // "8192x4096x4096" (rows x cols x n)

// Bytes of device memory that one set of inputs and outputs takes.
// In another precision A and B of the gemm take its bytes, and y of the norm.
std::uint64_t footprint_bytes(const Gemm& p, Precision precision = Precision::bf16);
std::uint64_t footprint_bytes(const FusedNorm& p, Precision precision = Precision::bf16);
std::uint64_t footprint_bytes(const NormGemm& p, Precision precision = Precision::bf16);

// The score at a given time per launch: TFLOPS = 2·m·n·k / time for the gemm, GB/s over the bytes that must
// move, 4·rows·cols·2 + 2·cols in bf16, for the norm; TFLOPS of the product alone for norm_gemm.
double score(const Gemm& p, Precision precision, double microseconds);
double score(const FusedNorm& p, Precision precision, double microseconds);
double score(const NormGemm& p, Precision precision, double microseconds);

}  // namespace ladder
