// What the harness's calls of cuBLAS have in common.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstddef>
#include <string>

#include "common/harness/base/failure.h"
#include "common/harness/measure/benchmark.h"
#include "common/rung.h"

namespace ladder {

inline constexpr std::size_t workspace_bytes = std::size_t(64) << 20;

inline void check(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  // A library that refuses a shape says nothing about the rung; one that fails while it runs may.
  const bool failed = status == CUBLAS_STATUS_EXECUTION_FAILED || status == CUBLAS_STATUS_INTERNAL_ERROR;
  throw Failure(failed ? Exit::wrong_result : Exit::cannot_run, std::string("cuBLAS, ") + doing + ": " +
                                                                    cublasGetStatusString(status) +
                                                                    " (--reference cpu does without it)");
}

inline cudaError_t as_cuda(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

// The library's handles and its workspace, which it may not allocate itself while a graph is captured.
struct Library {
  cublasHandle_t blas = nullptr;
  cublasLtHandle_t lt = nullptr;
  void* workspace = nullptr;

  Library() {
    check(cudaMalloc(&workspace, workspace_bytes), "GPU memory for cuBLAS's workspace");
    check(cublasCreate(&blas), "starting");
    check(cublasLtCreate(&lt), "starting");
  }
  ~Library() {
    if (lt) cublasLtDestroy(lt);
    if (blas) cublasDestroy(blas);
    cudaFree(workspace);
  }
  Library(const Library&) = delete;
};

// What is called next runs on the stream, in the library's workspace.
inline cublasStatus_t use(Library& library, cudaStream_t stream) {
  const cublasStatus_t status = cublasSetStream(library.blas, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasSetWorkspace(library.blas, library.workspace, workspace_bytes);
}

// cuBLAS counts in columns: a row-major C = A·B is the column-major Cᵀ = Bᵀ·Aᵀ, so the operands swap places,
// m and n swap, and the leading dimensions are the row lengths: n for B, k for A, n for C.
inline cublasStatus_t gemm_ex(Library& library, const Gemm& p, void* c, cudaDataType c_type,
                              cudaStream_t stream) {
  const float one = 1, zero = 0;
  const cublasStatus_t status = use(library, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasGemmEx(library.blas, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, CUDA_R_16BF, p.n, p.a,
                      CUDA_R_16BF, p.k, &zero, c, c_type, p.n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

}  // namespace ladder
