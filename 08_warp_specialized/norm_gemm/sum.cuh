// Around a norm_gemm's product: its workspace, gamma folded into the weights, and the kernel that adds x and
// residual and leaves each row's sum of squares.
#pragma once

#include "08_warp_specialized/norm_gemm/add_rows.cuh"
#include "common/extension.h"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::rung_08 {

// What lies in the workspace, each aligned to 256 bytes.
struct NormWorkspace {
  std::size_t folded, squares, progress, rows_there, end;  // bytes from its start

  explicit NormWorkspace(const NormGemm& p) {
    const auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const std::size_t parts = ceil_div(p.cols, part_columns), rows = p.rows;
    folded = 0;
    squares = aligned(std::size_t(p.cols) * p.n * sizeof(__nv_bfloat16));
    progress = squares + aligned(parts * rows * sizeof(float));
    rows_there = progress + aligned(sizeof(Progress));
    end = rows_there + aligned(ceil_div(p.rows, block_rows) * parts * sizeof(unsigned));
  }

  static constexpr int block_rows = general::Config<general::tile_128x256>::block_m;
};

template <class T>
T* at(const NormGemm& p, std::size_t bytes) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(p.workspace) + bytes);
}

// W' = gamma · W, one thread for 8 columns of one row.
constexpr int fold_threads = 256;
static __global__ void __launch_bounds__(fold_threads) fold_kernel(NormGemm p, __nv_bfloat16* folded) {
  const std::size_t row_vectors = p.n / vector, i = std::size_t(blockIdx.x) * fold_threads + threadIdx.x;
  if (i >= row_vectors * p.cols) return;
  const unsigned gamma =
      __bfloat16_as_ushort(p.gamma[i / row_vectors]) * 0x10001u;  // twice: a vector has pairs
  store(folded + i * vector, scale_vector(load(p.w + i * vector), make_uint4(gamma, gamma, gamma, gamma), 1));
}

// h = x + residual and the row's sum of squares, by one CTA. All its loads of a batch are on their way before
// the first is used.
constexpr int add_threads = 512;
static __global__ void __launch_bounds__(add_threads) add_kernel(NormGemm p, float* squares_of_rows) {
  __shared__ float of_warps[add_threads / warp_size];
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();  // it may have written x and residual, and read h
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

inline cudaError_t launch_add(const NormGemm& p, float* squares, cudaStream_t stream, bool early_start) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = p.rows;
  config.blockDim = add_threads;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = early_start;
  return cudaLaunchKernelEx(&config, add_kernel, p, squares);
}

// The product on its own: h · W'.
inline Gemm product(const NormGemm& p) {
  return {p.rows, p.n, p.cols, p.h, at<__nv_bfloat16>(p, NormWorkspace(p).folded), p.c};
}

// The product's operands after launch_add().
inline NormOperands operands_of_two_kernels(const NormGemm& p) {
  NormOperands norm{};
  norm.squares = at<float>(p, NormWorkspace(p).squares);
  norm.parts = 1;
  norm.eps = p.eps;
  return norm;
}
inline NormOperands operands_of_one_kernel(const NormGemm& p) {
  const NormWorkspace workspace(p);
  NormOperands norm{};
  norm.squares = at<float>(p, workspace.squares);
  norm.parts = ceil_div(p.cols, part_columns);
  norm.eps = p.eps;
  norm.x = p.x;
  norm.residual = p.residual;
  norm.h = p.h;
  norm.progress = at<Progress>(p, workspace.progress);
  norm.rows_there = at<unsigned>(p, workspace.rows_there);
  return norm;
}

inline Text rows_of_vectors(const NormGemm& p) {
  if (p.n % vector == 0 && p.cols % vector == 0) return {};
  return "n and cols must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

inline std::size_t workspace_bytes(const NormGemm& p) {
  return NormWorkspace(p).end;
}

inline cudaError_t fold_gamma(const NormGemm& p, cudaStream_t stream) {
  const NormWorkspace workspace(p);
  const std::size_t vectors = std::size_t(p.cols) * p.n / vector;
  fold_kernel<<<unsigned((vectors + fold_threads - 1) / fold_threads), fold_threads, 0, stream>>>(
      p, at<__nv_bfloat16>(p, workspace.folded));
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return error;
  return cudaMemsetAsync(at<void>(p, workspace.progress), 0, workspace.end - workspace.progress, stream);
}

inline constexpr Extension<NormGemm> with_workspace{.workspace_bytes = workspace_bytes,
                                                    .prepare = fold_gamma};

}  // namespace ladder::rung_08
