#include "common/harness/problems/gemm/cublas.h"

#include <memory>

#include "common/harness/cublas/library.h"
#include "common/harness/cublas/lt.h"
#include "common/harness/cublas/operands.h"

namespace ladder {

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

}  // namespace ladder
