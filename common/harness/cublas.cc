#include "common/harness/cublas.h"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <limits>
#include <memory>

#include "common/harness/failure.h"

namespace ladder {
namespace {

constexpr std::size_t workspace_bytes = std::size_t(64) << 20;

void check(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  // A library that refuses a shape says nothing about the rung; one that fails while it runs may.
  const bool failed = status == CUBLAS_STATUS_EXECUTION_FAILED || status == CUBLAS_STATUS_INTERNAL_ERROR;
  throw Failure(failed ? Exit::wrong_result : Exit::cannot_run, std::string("cuBLAS, ") + doing + ": " +
                                                                    cublasGetStatusString(status) +
                                                                    " (--reference cpu does without it)");
}

cudaError_t as_cuda(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}

// The library's handles and its workspace, which it may not allocate itself while a graph is captured.
struct Library {
  cublasHandle_t blas = nullptr;
  cublasLtHandle_t lt = nullptr;
  void* workspace = nullptr;

  Library() {
    ladder::check(cudaMalloc(&workspace, workspace_bytes), "GPU memory for cuBLAS's workspace");
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

// cuBLAS counts in columns: a row-major C = A·B is the column-major Cᵀ = Bᵀ·Aᵀ, so the operands swap places,
// m and n swap, and the leading dimensions are the row lengths: n for B, k for A, n for C.
cublasStatus_t gemm_ex(Library& library, const Gemm& p, void* c, cudaDataType c_type, cudaStream_t stream) {
  const float one = 1, zero = 0;
  cublasStatus_t status = cublasSetStream(library.blas, stream);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasSetWorkspace(library.blas, library.workspace, workspace_bytes);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasGemmEx(library.blas, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, CUDA_R_16BF, p.n, p.a,
                      CUDA_R_16BF, p.k, &zero, c, c_type, p.n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

struct LtProblem {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;  // of the column-major view: a is B, b is A
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;

  LtProblem(Library& library, const Gemm& p) {
    constexpr int wanted = 16;
    check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing the product");
    check(cublasLtMatrixLayoutCreate(&a, CUDA_R_16BF, p.n, p.k, p.n), "describing B");
    check(cublasLtMatrixLayoutCreate(&b, CUDA_R_16BF, p.k, p.m, p.k), "describing A");
    check(cublasLtMatrixLayoutCreate(&c, CUDA_R_16BF, p.n, p.m, p.n), "describing C");
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "asking for algorithms");
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace_bytes, sizeof workspace_bytes);
    algorithms.resize(wanted);
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library.lt, operation, a, b, c, c, preference, wanted, algorithms.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    algorithms.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
  }
  ~LtProblem() {
    for (auto layout : {a, b, c})
      if (layout) cublasLtMatrixLayoutDestroy(layout);
    if (operation) cublasLtMatmulDescDestroy(operation);
  }
  LtProblem(const LtProblem&) = delete;

  cublasStatus_t run(Library& library, const Gemm& p, const cublasLtMatmulAlgo_t& algorithm,
                     cudaStream_t stream) const {
    const float one = 1, zero = 0;
    return cublasLtMatmul(library.lt, operation, &one, p.b, a, p.a, b, &zero, p.c, c, p.c, c, &algorithm,
                          library.workspace, workspace_bytes, stream);
  }
};

}  // namespace

void cublas_reference(const Gemm& p, float* out) {
  Library library;
  check(gemm_ex(library, p, out, CUDA_R_32F, nullptr), "computing the reference");
  ladder::check(cudaDeviceSynchronize(), "computing the reference");
}

void cublas_reference(const Gemm& p, const double* a, const double* b, double* out) {
  Library library;
  const double one = 1, zero = 0;
  check(cublasDgemm(library.blas, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, b, p.n, a, p.k, &zero, out,
                    p.n),
        "computing the reference");
  ladder::check(cudaDeviceSynchronize(), "computing the reference");
}

// Whether a first launch is accepted. Waits for it, since the next may be on another stream with the same
// workspace.
static bool works(const Contender& contender) {
  return contender.launch(0, nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

std::vector<Contender> cublas_baselines(const std::vector<Gemm>& sets) {
  auto library = std::make_shared<Library>();
  std::vector<Contender> baselines;
  const Contender gemm{"cublasGemmEx", [=](int set, cudaStream_t stream) {
                         return as_cuda(gemm_ex(*library, sets[set], sets[set].c, CUDA_R_16BF, stream));
                       }};
  if (works(gemm)) baselines.push_back(gemm);

  auto lt = std::make_shared<LtProblem>(*library, sets[0]);
  double best_us = std::numeric_limits<double>::infinity();
  Contender best;
  for (const auto& candidate : lt->algorithms) {
    Contender contender{"cublasLt_best16", [=, algorithm = candidate.algo](int set, cudaStream_t stream) {
                          return as_cuda(lt->run(*library, sets[set], algorithm, stream));
                        }};
    if (!works(contender)) continue;  // proposed, but refused for this shape
    const double us = quick_time_us(contender, int(sets.size()));
    if (us < best_us) {
      best_us = us;
      best = contender;
    }
  }
  if (best.launch) baselines.push_back(best);
  return baselines;
}

std::string cublas_version() {
  int major = 0, minor = 0, patch = 0;
  cublasGetProperty(MAJOR_VERSION, &major);
  cublasGetProperty(MINOR_VERSION, &minor);
  cublasGetProperty(PATCH_LEVEL, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace ladder
