// The factors of a product as cublasLt wants them where they are not the rungs'. The library is a rival and
// no rung: it gets operands of its own.
#pragma once

#include <optional>

#include "common/extension.h"
#include "common/harness/backend/device_buffer.h"

namespace ladder {

// What the library multiplies for a precision: of mixed operands both in A's type.
constexpr Precision library_precision(Precision precision) {
  return has_scaled_columns(precision) ? Precision::bf16 : precision;
}

// A [m, k] and B transposed [n, k], row-major, from row to row `pitch` elements, rounded as the precision
// says; of fp8_block the scales, too, as BlockScales lays them out, and of fp8_tensor one for each.
struct LibraryOperands {
  int pitch;
  GuardedBuffer a, b;
  std::optional<GuardedBuffer> a_scales, b_scales;

  // From p.typed. The precision is one of bf16, f16, f16_f16, tf32, fp32, fp64, s8, fp8, fp8_e5m2,
  // fp8_e4m3_e5m2, fp8_tensor, fp8_block.
  LibraryOperands(const Gemm& p, Precision precision);
};

}  // namespace ladder
