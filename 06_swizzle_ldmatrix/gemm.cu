// The rung in bf16, and what each of its tricks buys.
#include "06_swizzle_ldmatrix/launch.cuh"

namespace ladder::rung_06 {
namespace {

template <Tricks tricks>
cudaError_t launch_bf16(const Gemm& p, cudaStream_t stream) {
  return launch<OfBf16, tricks>({p.m, p.n, p.k, p.a, p.b, p.c, nullptr}, stream);
}

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: rows are copied 16 bytes at a time";
}
std::string rows_of_vectors_padded(const Gemm& p) {
  const std::string too_little = too_little_shared<Config<OfBf16, Tricks{.rows = Rows::padded}, 2>>();
  return too_little.empty() ? rows_of_vectors(p) : too_little;
}

cudaError_t gemm_unswizzled(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.rows = Rows::plain}>(p, stream);
}
cudaError_t gemm_padded(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.rows = Rows::padded}>(p, stream);
}
cudaError_t gemm_single_buffer(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.fragments = Fragments::one_set}>(p, stream);
}
cudaError_t gemm_straight(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.serpentine = false}>(p, stream);
}
cudaError_t gemm_compiler_offsets(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.hoisted_offsets = false}>(p, stream);
}
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.group = 1}>(p, stream);
}
cudaError_t gemm_tile_per_cta(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.persistent = false}>(p, stream);
}
cudaError_t gemm_stores_later(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{.stores_later = true}>(p, stream);
}
cudaError_t gemm_swizzle_ldmatrix(const Gemm& p, cudaStream_t stream) {
  return launch_bf16<Tricks{}>(p, stream);
}
cudaError_t gemm_swizzle_ldmatrix_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream) {
  return launch<OfBf16, Tricks{}>(Traced<Product<OfBf16>>{{p.m, p.n, p.k, p.a, p.b, p.c, nullptr}, timeline},
                                  stream);
}

}  // namespace ladder::rung_06
