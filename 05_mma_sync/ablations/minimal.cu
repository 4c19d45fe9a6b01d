// mma.sync and nothing around it. A warp computes 16x8 of C with one mma for every 16 of k, and each lane
// loads its elements of the fragments from global memory, as the PTX ISA lays them out: no shared memory, no
// pipeline, no element that a warp uses twice. Everything else in gemm.cu is there to feed the tensor cores.
#include "common/ptx/mma.cuh"
#include "common/rung.h"

namespace ladder::rung_05 {
namespace {

constexpr int mma_m = 16, mma_n = 8, mma_k = 16;  // what one mma.sync multiplies
constexpr int half = 8;                           // of a fragment's 16 rows of A, and of its 16 of k

__global__ void gemm_kernel(Gemm p, int tiles_n) {
  const int row0 = blockIdx.x / tiles_n * mma_m, col0 = blockIdx.x % tiles_n * mma_n;
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;  // common/ptx/mma.cuh has the layout

  float accumulator[4] = {};
  for (int k0 = 0; k0 < p.k; k0 += mma_k) {
    // A: two neighbours along k are one 32-bit word. All 32 lanes execute the mma, so the lanes whose row
    // lies past the edge supply zeros. k is a multiple of 8: of the last mma the second half may lie past the
    // edge.
    unsigned a[4], b[2];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = row0 + g + r % 2 * half, k = k0 + 2 * t + r / 2 * half;
      const bool inside = row < p.m && k < p.k;
      a[r] = inside ? *reinterpret_cast<const unsigned*>(p.a + std::size_t(row) * p.k + k) : 0;
    }
    // B: two neighbours along k lie a row apart, and take two loads. n is a multiple of 8: no column is
    // outside.
    const auto* const column = reinterpret_cast<const unsigned short*>(p.b) + col0 + g;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int k = k0 + 2 * t + r * half;
      const unsigned low = k < p.k ? column[std::size_t(k) * p.n] : 0;
      const unsigned high = k < p.k ? column[std::size_t(k + 1) * p.n] : 0;
      b[r] = high << 16 | low;
    }
    ptx::mma_m16n8k16(accumulator, a, b);
  }

  // C: columns 2t and 2t+1 of rows g and g+8, one word each.
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = row0 + g + r * half, col = col0 + 2 * t;
    const __nv_bfloat162 pair = __floats2bfloat162_rn(accumulator[2 * r], accumulator[2 * r + 1]);
    if (row < p.m) *reinterpret_cast<__nv_bfloat162*>(p.c + std::size_t(row) * p.n + col) = pair;
  }
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  const int tiles_m = ceil_div(p.m, mma_m), tiles_n = ceil_div(p.n, mma_n);
  gemm_kernel<<<unsigned(tiles_m) * unsigned(tiles_n), 32, 0, stream>>>(p, tiles_n);
  return cudaGetLastError();
}

Text whole_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> minimal() {
  return {{.name = "minimal",
           .what = "a warp per 16x8 of C, fragments loaded from global memory",
           .unsupported = whole_vectors,
           .launch = launch}};
}

}  // namespace ladder::rung_05
