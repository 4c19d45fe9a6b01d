// What rung.cc lists: the launches of this rung's variants. The kernels are in gemm.cu and fused_norm.cu;
// the division below is what both need to count CTAs.
#pragma once

#include "common/rung.h"

namespace ladder::rung_03 {

constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

cudaError_t gemm_scalar_global(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_single_buffer(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_fp32(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_dp4a(const Gemm& p, cudaStream_t stream);
cudaError_t gemm_vectorized(const Gemm& p, cudaStream_t stream);

// A [m, k] and B transposed [n, k] in s8 in the workspace, four neighbours along k in a value. A row is
// filled up with zeros to whole vectors of 16 bytes.
struct Packed {
  int values;  // of a row
  int *a, *b;
  std::size_t bytes;

  explicit Packed(const Gemm& p) : values(ceil_div(p.k, 16) * 4) {
    const std::size_t bytes_a = (4 * std::size_t(p.m) * values + 255) / 256 * 256;
    a = static_cast<int*>(p.workspace);
    b = reinterpret_cast<int*>(static_cast<unsigned char*>(p.workspace) + bytes_a);
    bytes = bytes_a + 4 * std::size_t(p.n) * values;
  }
};
std::string sums_in_s32(const Gemm& p);  // why the kernel cannot run a shape
std::size_t packed_bytes(const Gemm& p);
cudaError_t pack(const Gemm& p, cudaStream_t stream);  // fills the workspace
cudaError_t fused_norm_reread(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_interleaved(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_gamma_late(const FusedNorm& p, cudaStream_t stream);
cudaError_t fused_norm_vectorized(const FusedNorm& p, cudaStream_t stream);

}  // namespace ladder::rung_03
