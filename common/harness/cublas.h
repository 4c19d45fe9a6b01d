// Everything the harness asks of cuBLAS: the reference in fp32 and the baselines to beat.
#pragma once

#include <string>
#include <vector>

#include "common/harness/benchmark.h"
#include "common/rung.h"

namespace ladder {

// out[m,n] = A·B in fp32, row-major, on the device. Synchronises.
void cublas_reference(const Gemm& p, float* out);

// The same in fp64, of a [m,k] and b [k,n] on the device; of p only the sizes count.
void cublas_reference(const Gemm& p, const double* a, const double* b, double* out);

// The library's own times for the same problem: cublasGemmEx, and the fastest of 16 algorithms that
// cublasLt's heuristic proposes (each tried here). Both write bf16 from row-major operands and
// enqueue on the stream they are given; both may be captured into a graph. `sets` are the problems that
// timings rotate over.
std::vector<Contender> cublas_baselines(const std::vector<Gemm>& sets);

std::string cublas_version();  // "13.1.0"

}  // namespace ladder
