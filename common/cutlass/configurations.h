// The configurations of CUTLASS that the course's kernels are timed beside, as variants of a rung: the
// harness checks and times them as it does the others. The course takes nothing from CUTLASS; this compiles a
// checkout of the reader's, unmodified.
#pragma once

#include <cutlass/bfloat16.h>
#include <cutlass/layout/matrix.h>

#include "common/rung.h"

namespace ladder::beside {

using Element = cutlass::bfloat16_t;
using Row = cutlass::layout::RowMajor;
constexpr int elements_of_16_bytes = 8;

inline Text whole_vectors(const Gemm& p) {
  if (p.n % elements_of_16_bytes == 0 && p.k % elements_of_16_bytes == 0) return {};
  return "n and k must be multiples of 8: these configurations copy rows 16 bytes at a time";
}

// CUTLASS returns a status of its own; the runtime's error, where there is one, says more.
inline cudaError_t failed() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? cudaErrorInvalidConfiguration : error;
}

Variants<Gemm> sm80();
Variants<Gemm> sm90_cooperative();
Variants<Gemm> sm90_pingpong();

}  // namespace ladder::beside
