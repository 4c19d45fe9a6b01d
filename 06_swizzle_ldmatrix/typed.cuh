// A variant of the rung's gemm in another type: rounds A and B into the workspace, then multiplies them.
#pragma once

#include "06_swizzle_ldmatrix/launch.cuh"
#include "06_swizzle_ldmatrix/prepare.cuh"

namespace ladder::rung_06 {

// Why the kernel cannot run a shape: rows of A, of B and of C are copied in whole vectors, two stages at a
// time.
template <class Type, Tricks tricks = Tricks{}>
std::string whole_vectors(const Gemm& p) {
  constexpr int of_k = Config<Type, tricks, 2>::vector * (Type::sparse ? 2 : 1);
  constexpr int of_n = chunk_bytes / sizeof(typename Type::C);
  if (p.k % of_k == 0 && p.n % of_n == 0) return too_little_shared<Config<Type, tricks, 2>>();
  return "k must be a multiple of " + std::to_string(of_k) + " and n of " + std::to_string(of_n) +
         ": rows of A, B and C are copied 16 bytes at a time";
}

template <class Type, Tricks tricks>
cudaError_t gemm_typed(const Gemm& p, cudaStream_t stream) {
  const Workspace<Type> w(p);
  auto* const c = static_cast<typename Type::C*>(p.c_typed ? p.c_typed : p.c);
  return launch<Type, tricks>({p.m, p.n, p.k, w.a, w.b, c, w.metadata}, stream);
}

template <class Type, Tricks tricks = Tricks{}>
Variant<Gemm> typed(Precision precision, const char* name, const char* what,
                    std::string (*unsupported)(const Gemm&) = whole_vectors<Type, tricks>) {
  return {name, what, unsupported, gemm_typed<Type, tricks>, precision, workspace_bytes<Type>, prepare<Type>};
}

}  // namespace ladder::rung_06
