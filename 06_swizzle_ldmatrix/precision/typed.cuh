// A variant of the gemm in another type: rounds A and B into the workspace, then multiplies them.
#pragma once

#include "06_swizzle_ldmatrix/precision/launch.cuh"
#include "06_swizzle_ldmatrix/precision/prepare.cuh"

namespace ladder::rung_06 {
namespace {

// Why the kernel cannot run a shape: rows of A, of B and of C are copied in whole vectors. Or a GPU: two
// stages do not fit.
template <class Type>
Text whole_vectors(const Gemm& p) {
  constexpr int of_k = Config<Type, Epilogue{}, 2>::vector * (Type::sparse ? 2 : 1);
  constexpr int of_n = chunk_bytes / sizeof(typename Type::C);
  constexpr int bytes = Config<Type, Epilogue{}, 2>::shared_bytes;
  if (p.k % of_k == 0 && p.n % of_n == 0) {
    if (bytes <= most_shared_bytes()) return {};
    return {"two stages take ", bytes, " bytes of shared memory; this GPU has ", most_shared_bytes(),
            " for a CTA"};
  }
  return {"k must be a multiple of ", of_k, " and n of ", of_n,
          ": rows of A, B and C are copied 16 bytes at a time"};
}

template <class Type, Epilogue epilogue = Epilogue{}>
cudaError_t launch_typed(const Gemm& p, cudaStream_t stream) {
  const Workspace<Type> w(p);
  auto* const c = static_cast<typename Type::C*>(p.typed->c);
  return launch<Type, epilogue>({p.m, p.n, p.k, w.a, w.b, c, w.metadata}, stream);
}

template <class Type, Precision precision>
constexpr Extension<Gemm> typed{
    .precision = precision, .workspace_bytes = workspace_bytes<Type>, .prepare = prepare<Type>};

}  // namespace
}  // namespace ladder::rung_06
