// cuBLAS's ways to multiply: the baselines of a gemm, and of what is made of one.
#pragma once

#include <vector>

#include "common/extension.h"
#include "common/harness/measure/benchmark.h"

namespace ladder {

// The library's own times for the same problem, in a precision that it has: the fastest of 16 algorithms that
// cublasLt's heuristic proposes (each tried here); in bf16 cublasGemmEx, too; in fp8 once more with fast
// accumulation, where accumulators stay in the tensor core. In bf16 from row-major operands, else from
// LibraryOperands. They enqueue on the stream they are given, and may be captured into a graph. `sets` are
// the problems that timings rotate over.
std::vector<Contender> cublas_baselines(const std::vector<Gemm>& sets, Precision precision);

}  // namespace ladder
