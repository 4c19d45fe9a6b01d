#include "common/harness/cublas/lt.h"

#include <cuda_fp16.h>

#include "common/harness/base/failure.h"

namespace ladder {
namespace {

cudaDataType lt_type(Number number) {
  switch (number) {
    case Number::bf16:
      return CUDA_R_16BF;
    case Number::f16:
      return CUDA_R_16F;
    case Number::fp64:
      return CUDA_R_64F;
    case Number::s8:
      return CUDA_R_8I;
    case Number::s32:
      return CUDA_R_32I;
    case Number::e4m3:
      return CUDA_R_8F_E4M3;
    case Number::e5m2:
      return CUDA_R_8F_E5M2;
    default:
      return CUDA_R_32F;
  }
}
LtTypes lt_types(Precision precision) {
  const Format format = format_of(library_precision(precision));
  LtTypes types{lt_type(format.a), lt_type(format.b), lt_type(format.c), CUDA_R_32F, CUBLAS_COMPUTE_32F};
  if (format.a == Number::tf32) types.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (format.sum == Number::f16) types.scale = CUDA_R_16F, types.compute = CUBLAS_COMPUTE_16F;
  if (format.sum == Number::fp64) types.scale = CUDA_R_64F, types.compute = CUBLAS_COMPUTE_64F;
  if (format.sum == Number::s32) types.scale = CUDA_R_32I, types.compute = CUBLAS_COMPUTE_32I;
  return types;
}

}  // namespace

LtProblem::LtProblem(Library& library, const Gemm& p, Precision precision, int pitch, bool fast,
                     const LtOperands& first, cublasLtEpilogue_t epilogue)
    : types(lt_types(precision)) {
  constexpr int wanted = 16;
  const bool transposed = precision != Precision::bf16;
  check(cublasLtMatmulDescCreate(&operation, types.compute, types.scale), "describing the product");
  check(transposed ? cublasLtMatrixLayoutCreate(&a, types.b, p.k, p.n, pitch)
                   : cublasLtMatrixLayoutCreate(&a, types.b, p.n, p.k, p.n),
        "describing B");
  check(cublasLtMatrixLayoutCreate(&b, types.a, p.k, p.m, pitch), "describing A");
  check(cublasLtMatrixLayoutCreate(&c, types.c, p.n, p.m, p.n), "describing C");
  if (transposed) set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  if (fast) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t(1));
  if (precision == Precision::fp8_block) {
    set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F);
  }
  if (first.a_scales) set_scales(first);
  if (first.bias) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16BF);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, first.bias);
  }
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "querying algorithms");
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                       sizeof workspace_bytes);
  algorithms.resize(wanted);
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(library.lt, operation, a, b, c, c, preference,
                                                               wanted, algorithms.data(), &found);
  cublasLtMatmulPreferenceDestroy(preference);
  algorithms.resize(status == CUBLAS_STATUS_SUCCESS ? found : 0);
}

cublasStatus_t LtProblem::run(Library& library, const LtOperands& p, const cublasLtMatmulAlgo_t& algorithm,
                              cudaStream_t stream) const {
  const float one = 1, zero = 0;
  const double double_one = 1, double_zero = 0;
  const __half half_one = 1.0f, half_zero = 0.0f;
  const std::int32_t whole_one = 1, whole_zero = 0;
  const void *alpha = &one, *beta = &zero;
  if (types.scale == CUDA_R_16F) alpha = &half_one, beta = &half_zero;
  if (types.scale == CUDA_R_64F) alpha = &double_one, beta = &double_zero;
  if (types.scale == CUDA_R_32I) alpha = &whole_one, beta = &whole_zero;
  if (p.a_scales) set_scales(p);
  if (p.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
  return cublasLtMatmul(library.lt, operation, alpha, p.b, a, p.a, b, beta, p.c, c, p.c, c, &algorithm,
                        library.workspace, workspace_bytes, stream);
}

// The fastest of the algorithms that the heuristic proposes, each tried here, if any of them works.
void add_best_of_lt(std::vector<Contender>& to, const char* name, std::shared_ptr<Library> library,
                    std::shared_ptr<LtProblem> lt, std::shared_ptr<const LtSets> sets) {
  std::vector<Contender> proposed;
  for (const auto& candidate : lt->algorithms)
    proposed.push_back({name, [=, algorithm = candidate.algo](int set, cudaStream_t stream) {
                          return as_cuda(lt->run(*library, sets->operands[set], algorithm, stream));
                        }});
  const Contender best = fastest_of(proposed, int(sets->operands.size()));
  if (best.launch) to.push_back(best);
}

}  // namespace ladder
