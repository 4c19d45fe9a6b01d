// The norm disappears. Its scale is a factor of a row of C, gamma a factor of a row of W: what is left in
// front of the product is the sum h = x + residual, and each row's sum of squares, which one kernel makes.
// The other is the gemm, which scales C's rows as it stores them.
#include "06_swizzle_ldmatrix/launch.cuh"
#include "06_swizzle_ldmatrix/norm_vectors.cuh"

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
      __bfloat16_as_ushort(p.gamma[i / row_vectors]) * 0x10001u;  // twice, as vectors have pairs
  store(static_cast<__nv_bfloat16*>(p.workspace) + i * vector,
        scale_vector(load(p.w + i * vector), make_uint4(gamma, gamma, gamma, gamma), 1));
}

cudaError_t fold_gamma(const NormGemm& p, cudaStream_t stream) {
  const std::size_t vectors = std::size_t(p.cols) * p.n / vector;
  fold_kernel<<<unsigned((vectors + fold_threads - 1) / fold_threads), fold_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

__device__ float squares_of_pair(unsigned h) {
  return low_half(h) * low_half(h) + high_half(h) * high_half(h);
}

// h = x + residual and the row's sum of squares, by one CTA. All its loads of a batch are on their way before
// the first is used.
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
      const uint4 h = add_vector(x[i], residual[i]);
      squares += squares_of_pair(h.x) + squares_of_pair(h.y) + squares_of_pair(h.z) + squares_of_pair(h.w);
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
  Product<OfBf16> product{p.rows, p.n,    p.cols, p.h, static_cast<const __nv_bfloat16*>(p.workspace),
                          p.c,    nullptr};
  product.squares = {squares_of(p), p.eps};
  return launch<OfBf16, Tricks{.scale_rows = true}>(product, stream);
}

std::string whole_vectors(const NormGemm& p) {
  if (p.n % vector == 0 && p.cols % vector == 0) return {};
  return "n and cols must be multiples of 8: rows are copied 16 bytes at a time";
}

}  // namespace

Variant<NormGemm> norm_gemm_row_scales() {
  return {.name = "row_scales",
          .what = "a sum, and a product that scales rows",
          .unsupported = whole_vectors,
          .launch = launch_both,
          .workspace_bytes = workspace_bytes,
          .prepare = fold_gamma};
}

}  // namespace ladder::rung_06
