// The norm disappears. Its scale is a factor of a row of C, gamma a factor of a row of W: what is left before
// the product is h = x + residual and each row's sum of squares, which one kernel computes. The other one is
// the rung's gemm, whose epilogue has a row of C in each thread, and multiplies it by one number.
#include "09_tcgen05/launch.h"
#include "09_tcgen05/operators/kernel.cuh"
#include "common/extension.h"
#include "common/rows/norm.cuh"

namespace ladder::rung_09 {
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
  const float gamma = __bfloat162float(p.gamma[i / row_vectors]);
  auto scaled = [&](unsigned pair) { return pack(low_half(pair) * gamma, high_half(pair) * gamma); };
  const uint4 w = load(p.w + i * vector);
  store(static_cast<__nv_bfloat16*>(p.workspace) + i * vector,
        make_uint4(scaled(w.x), scaled(w.y), scaled(w.z), scaled(w.w)));
}

cudaError_t fold_gamma(const NormGemm& p, cudaStream_t stream) {
  const std::size_t vectors = std::size_t(p.cols) * p.n / vector;
  fold_kernel<<<unsigned((vectors + fold_threads - 1) / fold_threads), fold_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

// h = x + residual and the row's sum of squares, by one CTA. All loads of a batch are under way before the
// first is used.
constexpr int add_threads = 256;
__global__ void __launch_bounds__(add_threads) add_kernel(NormGemm p, float* squares_of_rows) {
  __shared__ float partial[add_threads / warp_size];
  constexpr int batch = 2;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int row_vectors = p.cols / vector;
  float squares = 0;
  for (int first = threadIdx.x; first < row_vectors; first += batch * add_threads) {
    uint4 x[batch] = {}, residual[batch] = {};
#pragma unroll
    for (int i = 0; i < batch; ++i) {
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
  if (lane == 0) partial[warp] = squares;
  __syncthreads();  // partial[] is complete
  if (warp == 0) {
    squares = warp_sum(lane < add_threads / warp_size ? partial[lane] : 0);
    if (lane == 0) squares_of_rows[blockIdx.x] = squares;
  }
}

using C = Config<false>;

struct Operands {
  CUtensorMap a{}, weights[1]{}, c{};
  int m, n, k, tiles_k;
  const float* squares;  // of the rows of A, each the sum over its k elements
  float eps;
};

// What a row of C is multiplied by.
__device__ float row_scale(const Operands& p, int at) {
  return at < p.m ? rsqrtf(p.squares[at] / float(p.k) + p.eps) : 0;
}

// The epilogue: the thread's row of the accumulator, times its scale.
struct RowScale {
  float scale;

  __device__ RowScale(const Operands& p, int row) : scale(row_scale(p, row)) {}
  __device__ void load(TensorAddress) const {}
  __device__ void operator()(float (&values)[2][32], int) const {
#pragma unroll
    for (int i = 0; i < 64; ++i) values[i / 32][i % 32] *= scale;
  }
};

// C = row scale · (h · W').
cudaError_t launch_product(const NormGemm& p, cudaStream_t stream) {
  Operands operands{.m = p.rows,
                    .n = p.n,
                    .k = p.cols,
                    .tiles_k = ceil_div(p.cols, C::block_k),
                    .squares = squares_of(p),
                    .eps = p.eps};
  const auto* w = static_cast<const __nv_bfloat16*>(p.workspace);
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error =
      ptx::make_tensor_map(&operands.a, p.h, p.rows, p.cols, C::block_m, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.weights[0], w, p.cols, p.n, C::block_k, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.rows, p.n, warp_size, C::box_cols, swizzle);
  if (error != cudaSuccess) return error;
  return launch_tiles<C>(fused_kernel<C, RowScale, Operands>, operands, stream);
}

cudaError_t launch(const NormGemm& p, cudaStream_t stream) {
  add_kernel<<<p.rows, add_threads, 0, stream>>>(p, squares_of(p));
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? launch_product(p, stream) : error;
}

Text rows_of_vectors(const NormGemm& p) {
  if (p.n % vector == 0 && p.cols % vector == 0) return {};
  return "n and cols must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

constexpr Extension<NormGemm> folded{.workspace_bytes = workspace_bytes, .prepare = fold_gamma};

}  // namespace

Variants<NormGemm> norm_gemm() {
  return {{.name = "row_scales",
           .what = "h and its squares, then a product that scales rows",
           .unsupported = rows_of_vectors,
           .launch = launch,
           .extension = &folded}};
}

}  // namespace ladder::rung_09
