// Everything the harness asks of cuBLAS: the reference in fp32 and the baselines to beat.
#pragma once

#include <string>
#include <vector>

#include "common/extension.h"
#include "common/harness/measure/benchmark.h"

namespace ladder {

// out[m,n] = A·B in fp32, row-major, on the device, of one product after the other. Synchronises.
void cublas_reference(const std::vector<Gemm>& gemms, float* out);

// The same in fp64, of a [m,k] and b [k,n] on the device; of p only the sizes count.
void cublas_reference(const Gemm& p, const double* a, const double* b, double* out);

// The library's own times for the same problem, in a precision that it has: the fastest of 16 algorithms that
// cublasLt's heuristic proposes (each tried here); in bf16 cublasGemmEx, too; in fp8 once more with fast
// accumulation, where sums stay in the tensor core. In bf16 from row-major operands, else from
// LibraryOperands. They enqueue on the stream they are given, and may be captured into a graph. `sets` are
// the problems that timings rotate over.
std::vector<Contender> cublas_baselines(const std::vector<Gemm>& sets, Precision precision);

// Of products in groups: cublasGemmEx for one after the other, as a graph; cublasGemmGroupedBatchedEx, one
// call for all; and cublasGemmStridedBatchedEx where all groups have as many rows. Each is told on the host
// how many rows a group has, which the kernel has to read on the device.
std::vector<Contender> cublas_baselines(const std::vector<GroupedGemm>& sets);

// A linear by cublasLt's own epilogue, where it has that one: bias, and gelu, which it computes in the tanh
// form, too. The fastest of 16 algorithms, as above.
std::vector<Contender> cublas_baselines(const std::vector<Linear>& sets, Epilogue epilogue);

std::string cublas_version();  // "13.1.0"

}  // namespace ladder
