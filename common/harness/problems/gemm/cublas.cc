#include "common/harness/problems/gemm/cublas.h"

#include <cuda_fp16.h>

#include <limits>
#include <memory>

#include "common/harness/base/failure.h"
#include "common/harness/cublas/library.h"
#include "common/harness/cublas/operands.h"

namespace ladder {
namespace {

// What cublasLt is told of a precision.
struct LtTypes {
  cudaDataType a, b, c, scale;  // of A, B, C and of alpha and beta
  cublasComputeType_t compute;
};
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

// A product described to cublasLt. Of the rungs' own operands, in bf16, all is as the rungs have it. Of
// LibraryOperands B is transposed, with k along its rows as A has it, which 8-bit types ask for: in the
// library's columns of A·B it is op(B) that is transposed.
struct LtProblem {
  LtTypes types;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;  // of the column-major view: a is B, b is A
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;

  // `pitch`: elements from row to row of A and of B transposed. `fast`: FP8 sums that stay in the tensor
  // core.
  // `first`: of set 0. The heuristic looks at the scales' pointers, too.
  // `epilogue`: with the operands' bias, where they have one, as long as a column of the library's C: a row
  // of ours.
  LtProblem(Library& library, const Gemm& p, Precision precision, int pitch, bool fast,
            const LtOperands& first, cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT)
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

  cublasStatus_t run(Library& library, const LtOperands& p, const cublasLtMatmulAlgo_t& algorithm,
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

}  // namespace

void cublas_reference(const std::vector<Gemm>& gemms, float* out) {
  Library library;
  for (const Gemm& p : gemms) {
    check(gemm_ex(library, p, out, CUDA_R_32F, nullptr), "computing the reference");
    out += std::size_t(p.m) * std::size_t(p.n);
  }
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

// The fastest of the algorithms that the heuristic proposes, each tried here, if any of them works.
static void add_best_of_lt(std::vector<Contender>& to, const char* name, std::shared_ptr<Library> library,
                           std::shared_ptr<LtProblem> lt, std::shared_ptr<const LtSets> sets) {
  double best_us = std::numeric_limits<double>::infinity();
  Contender best;
  for (const auto& candidate : lt->algorithms) {
    Contender contender{name, [=, algorithm = candidate.algo](int set, cudaStream_t stream) {
                          return as_cuda(lt->run(*library, sets->operands[set], algorithm, stream));
                        }};
    if (!works(contender)) continue;  // proposed, but refused for this shape
    const double us = quick_time_us(contender, int(sets->operands.size()));
    if (us < best_us) {
      best_us = us;
      best = contender;
    }
  }
  if (best.launch) to.push_back(best);
}

static std::vector<Contender> bf16_baselines(const std::vector<Gemm>& sets) {
  auto library = std::make_shared<Library>();
  std::vector<Contender> baselines;
  const Contender gemm{"cublasGemmEx", [=](int set, cudaStream_t stream) {
                         return as_cuda(gemm_ex(*library, sets[set], sets[set].c, CUDA_R_16BF, stream));
                       }};
  if (works(gemm)) baselines.push_back(gemm);
  auto all = std::make_shared<LtSets>();
  for (const Gemm& p : sets) all->operands.push_back({p.a, p.b, p.c});
  add_best_of_lt(
      baselines, "cublasLt_best16", library,
      std::make_shared<LtProblem>(*library, sets[0], Precision::bf16, sets[0].k, false, all->operands[0]),
      all);
  return baselines;
}

// Of LibraryOperands, whose B is transposed.
static cublasStatus_t fp64_gemm_ex(Library& library, const Gemm& p, const LtOperands& of, int pitch,
                                   cudaStream_t stream) {
  const double one = 1, zero = 0;
  const cublasStatus_t status = use(library, stream);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasGemmEx(library.blas, CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, p.k, &one, of.b, CUDA_R_64F, pitch,
                      of.a, CUDA_R_64F, pitch, &zero, of.c, CUDA_R_64F, p.n, CUBLAS_COMPUTE_64F,
                      CUBLAS_GEMM_DEFAULT);
}

std::vector<Contender> cublas_baselines(const std::vector<Gemm>& sets, Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return bf16_baselines(sets);
    case Precision::mxfp8:
    case Precision::nvfp4:
    case Precision::nvfp4_blocks:
    case Precision::fp8_e5m2_e5m2:
    case Precision::bf16_sparse:
      return {};  // cublasLt has the first three on Blackwell alone, if at all, and no two e5m2 nor sparse
                  // matrices
    default:
      break;
  }
  auto library = std::make_shared<Library>();
  auto all = std::make_shared<LtSets>();
  for (const Gemm& p : sets) {
    const LibraryOperands& set = all->rounded.emplace_back(p, library_precision(precision));
    void* const c = p.c ? static_cast<void*>(p.c) : p.typed->c;
    all->operands.push_back({set.a.as<void>(), set.b.as<void>(), c});
    if (!set.a_scales) continue;
    all->operands.back().a_scales = set.a_scales->as<void>();
    all->operands.back().b_scales = set.b_scales->as<void>();
  }
  std::vector<Contender> baselines;
  auto add = [&](const char* name, bool fast) {
    add_best_of_lt(baselines, name, library,
                   std::make_shared<LtProblem>(*library, sets[0], precision, all->rounded[0].pitch, fast,
                                               all->operands[0]),
                   all);
  };
  if (has_scaled_columns(precision)) {
    add("cublasLt_bf16_best16", false);
    return baselines;
  }
  if (precision == Precision::fp64) {
    const Contender gemm{"cublasGemmEx",
                         [=, p = sets[0], pitch = all->rounded[0].pitch](int set, cudaStream_t stream) {
                           const LtOperands& of = all->operands[set];
                           return as_cuda(fp64_gemm_ex(*library, p, of, pitch, stream));
                         }};
    if (works(gemm)) baselines.push_back(gemm);
  }
  add("cublasLt_best16", false);
  const Number type = format_of(precision).a;
  if ((type == Number::e4m3 || type == Number::e5m2) && precision != Precision::fp8_block)
    add("cublasLt_fast_best16", true);
  return baselines;
}

std::vector<Contender> cublas_baselines(const std::vector<Linear>& sets, Epilogue epilogue) {
  if (epilogue != Epilogue::bias && epilogue != Epilogue::gelu) return {};
  auto library = std::make_shared<Library>();
  auto all = std::make_shared<LtSets>();
  for (const Linear& p : sets) {
    all->operands.push_back({p.a, p.b, p.c});
    all->operands.back().bias = p.bias;
  }
  const Linear& p = sets[0];
  const cublasLtEpilogue_t own =
      epilogue == Epilogue::bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS;
  std::vector<Contender> baselines;
  add_best_of_lt(baselines, "cublasLt_epilogue_best16", library,
                 std::make_shared<LtProblem>(*library, Gemm{p.m, p.n, p.k, p.a, p.b, p.c}, Precision::bf16,
                                             p.k, false, all->operands[0], own),
                 all);
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
