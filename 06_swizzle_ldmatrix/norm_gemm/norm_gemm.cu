// The norm disappears. Its scale is a factor of a row of C, gamma a factor of a row of W: what is left before
// the product is h = x + residual and each row's sum of squares, by one kernel. The other one is the gemm,
// which scales C's rows in its epilogue.
#include "06_swizzle_ldmatrix/precision/launch.cuh"
#include "common/extension.h"
#include "common/rows/norm.cuh"

namespace ladder::rung_06 {
namespace {

// In the workspace: W', and where the rows' sums of squares begin, in bytes.
std::size_t squares_at(const NormGemm& p) {
  return (std::size_t(p.cols) * p.n * sizeof(__nv_bfloat16) + 255) / 256 * 256;
}
float* squares_of(const NormGemm& p) {
  return reinterpret_cast<float*>(static_cast<unsigned char*>(p.workspace) + squares_at(p));
}
std::size_t workspace_bytes(const NormGemm& p) {
  return squares_at(p) + p.rows * sizeof(float);
}

// W' = gamma · W, one thread for 8 columns of one row.
constexpr int fold_threads = 256;
__global__ void __launch_bounds__(fold_threads) fold_kernel(NormGemm p) {
  const std::size_t row_vectors = p.n / vector, i = std::size_t(blockIdx.x) * fold_threads + threadIdx.x;
  if (i >= row_vectors * p.cols) return;
  const unsigned gamma =
      __bfloat16_as_ushort(p.gamma[i / row_vectors]) * 0x10001u;  // twice: a vector has pairs
  store(static_cast<__nv_bfloat16*>(p.workspace) + i * vector,
        scale_vector(load(p.w + i * vector), make_uint4(gamma, gamma, gamma, gamma), 1));
}

cudaError_t fold_gamma(const NormGemm& p, cudaStream_t stream) {
  const std::size_t vectors = std::size_t(p.cols) * p.n / vector;
  fold_kernel<<<unsigned((vectors + fold_threads - 1) / fold_threads), fold_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

// h = x + residual and the row's sum of squares, by one CTA. It issues all loads of a batch
// before it uses the first.
constexpr int add_threads = 256;
__global__ void __launch_bounds__(add_threads) add_kernel(NormGemm p, float* squares_of_rows) {
  __shared__ float of_warps[add_threads / warp_size];
  constexpr int batch = 2;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int row_vectors = p.cols / vector;
  float squares = 0;
  for (int first = threadIdx.x; first < row_vectors; first += batch * add_threads) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      x[i] = residual[i] = make_uint4(0, 0, 0, 0);
      if (first + i * add_threads >= row_vectors) continue;
      x[i] = load(p.x + start + (first + i * add_threads) * vector);
      residual[i] = load(p.residual + start + (first + i * add_threads) * vector);
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const uint4 h = add_vector(x[i], residual[i], squares);
      if (first + i * add_threads < row_vectors) store(p.h + start + (first + i * add_threads) * vector, h);
    }
  }
  squares = warp_sum(squares);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (lane == 0) of_warps[warp] = squares;
  __syncthreads();  // of_warps[] is complete
  if (warp == 0) {
    squares = warp_sum(lane < add_threads / warp_size ? of_warps[lane] : 0);
    if (lane == 0) squares_of_rows[blockIdx.x] = squares;
  }
}

cudaError_t launch_both(const NormGemm& p, cudaStream_t stream) {
  add_kernel<<<p.rows, add_threads, 0, stream>>>(p, squares_of(p));
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  const Product<OfBf16> product{.m = p.rows,
                                .n = p.n,
                                .k = p.cols,
                                .a = p.h,
                                .b = static_cast<const __nv_bfloat16*>(p.workspace),
                                .c = p.c,
                                .squares = {squares_of(p), p.eps}};
  return launch<OfBf16, Epilogue{.scale_rows = true}>(product, stream);
}

Text whole_vectors(const NormGemm& p) {
  if (p.n % vector == 0 && p.cols % vector == 0) return {};
  return "n and cols must be multiples of 8: rows are copied 16 bytes at a time";
}

constexpr Extension<NormGemm> with_workspace{.workspace_bytes = workspace_bytes, .prepare = fold_gamma};

}  // namespace

Variants<NormGemm> norm_gemm() {
  return {{.name = "row_scales",
           .what = "the residual add, then a product that scales rows",
           .unsupported = whole_vectors,
           .launch = launch_both,
           .extension = &with_workspace}};
}

}  // namespace ladder::rung_06
