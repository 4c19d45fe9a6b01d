// Products by cublasLt, of which there are several algorithms to choose from.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <vector>

#include "common/extension.h"
#include "common/harness/cublas/library.h"
#include "common/harness/cublas/operands.h"
#include "common/harness/measure/benchmark.h"

namespace ladder {

// How a precision is described to cublasLt.
struct LtTypes {
  cudaDataType a, b, c, scale;  // of A, B, C and of alpha and beta
  cublasComputeType_t compute;
};
// One buffer set's.
struct LtOperands {
  const void *a, *b;
  void* c;
  const void *a_scales = nullptr, *b_scales = nullptr, *bias = nullptr;
};

// All of them, and the memory that is the library's own.
struct LtSets {
  std::vector<LtOperands> operands;
  std::vector<LibraryOperands> rounded;
};

// A product described to cublasLt. The rungs' own operands, in bf16, are described as the rungs have them. B
// of LibraryOperands is transposed, with k along its rows as A has it, which 8-bit types require: in the
// library's columns of A·B it is op(B) that is transposed.
struct LtProblem {
  LtTypes types;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;  // of the column-major view: a is B, b is A
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;

  // `pitch`: elements from row to row of A and of B transposed. `fast`: FP8 accumulators that stay in the
  // tensor core.
  // `first`: of set 0. The heuristic looks at the scales' pointers, too.
  // `epilogue`: with the operands' bias, where they have one, as long as a column of the library's C: a row
  // of ours.
  LtProblem(Library& library, const Gemm& p, Precision precision, int pitch, bool fast,
            const LtOperands& first, cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT);
  ~LtProblem() {
    for (auto layout : {a, b, c})
      if (layout) cublasLtMatrixLayoutDestroy(layout);
    if (operation) cublasLtMatmulDescDestroy(operation);
  }
  LtProblem(const LtProblem&) = delete;

  cublasStatus_t run(Library& library, const LtOperands& p, const cublasLtMatmulAlgo_t& algorithm,
                     cudaStream_t stream) const;

 private:
  void set_scales(const LtOperands& p) const {
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, p.b_scales);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, p.a_scales);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
    check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value),
          "describing the product");
  }
};

// The fastest of the algorithms that the heuristic proposes, each tried here, if any of them works.
void add_best_of_lt(std::vector<Contender>& to, const char* name, std::shared_ptr<Library> library,
                    std::shared_ptr<LtProblem> lt, std::shared_ptr<const LtSets> sets);

}  // namespace ladder
