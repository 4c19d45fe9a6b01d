// What a gemm with weights of 8 bits reads: A in bf16; B transposed, rounded, its columns' scales. Weights
// are prepared once, before a model runs, and A is what the layer before has stored: none of it is timed.
#pragma once

#include "07_wgmma_tma/precision/weights.cuh"
#include "common/extension.h"

namespace ladder::rung_07 {

// In the workspace. Rows start at multiples of 16 bytes, as TMA wants them.
struct Workspace {
  int pitch_a, pitch_b;    // elements from row to row
  __nv_bfloat16* a;        // [m, k]
  unsigned char* weights;  // B transposed, [n, k], in the order of k_at(); zeros from k to the pitch
  float* scales;           // [n]
  std::size_t bytes = 0;

  explicit Workspace(const Gemm& p) : pitch_a(ceil_div(p.k, 8) * 8), pitch_b(ceil_div(p.k, 16) * 16) {
    auto* const start = p.typed ? static_cast<unsigned char*>(p.typed->workspace) : nullptr;
    auto take = [&](std::size_t size) {
      unsigned char* const part = start + bytes;
      bytes += (size + 255) / 256 * 256;
      return part;
    };
    a = reinterpret_cast<__nv_bfloat16*>(take(std::size_t(p.m) * pitch_a * sizeof *a));
    weights = take(std::size_t(p.n) * pitch_b);
    scales = reinterpret_cast<float*>(take(std::size_t(p.n) * sizeof *scales));
  }
};

inline std::size_t workspace_bytes(const Gemm& p) {
  return Workspace(p).bytes;
}

namespace {

constexpr int prepare_threads = 256, columns = 32, lines = prepare_threads / columns;

__global__ void __launch_bounds__(prepare_threads)
    round_activations(const float* from, __nv_bfloat16* to, int k, int pitch, std::size_t count) {
  for (std::size_t i = std::size_t(blockIdx.x) * prepare_threads + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * prepare_threads)
    to[i / k * pitch + i % k] = __float2bfloat16_rn(from[i]);
}

// A CTA for 32 columns of B.
template <class Weight>
__global__ void __launch_bounds__(prepare_threads)
    find_scales(const float* from, float* scales, int k, int n) {
  __shared__ float largest[lines][columns];
  const int x = threadIdx.x % columns, y = threadIdx.x / columns, col = blockIdx.x * columns + x;
  float mine = 0;  // a NaN is never the larger one to fmaxf
  for (int row = y; row < k && col < n; row += lines)
    mine = fmaxf(mine, fabsf(from[std::size_t(row) * n + col]));
  largest[y][x] = mine;
  __syncthreads();  // largest[] is complete
  if (y > 0 || col >= n) return;
  for (int line = 1; line < lines; ++line) mine = fmaxf(mine, largest[line][x]);
  scales[col] = mine / Weight::largest;
}

// A CTA for 32 columns of B and 64 of k; a thread writes four weights at a time.
template <class Weight>
__global__ void __launch_bounds__(prepare_threads)
    round_weights(const float* from, const Workspace to, int k, int n) {
  constexpr int depth = 64, words = depth / 4;
  __shared__ float part[depth][columns + 1];  // one column more: no bank conflicts, either way
  const int parts = ceil_div(to.pitch_b, depth);
  const int col0 = int(blockIdx.x / parts) * columns, row0 = int(blockIdx.x % parts) * depth;
  for (int i = threadIdx.x; i < depth * columns; i += prepare_threads) {
    const int row = row0 + i / columns, col = col0 + i % columns;
    part[i / columns][i % columns] = row < k && col < n ? from[std::size_t(row) * n + col] : 0;
  }
  __syncthreads();  // part[] is complete
  for (int i = threadIdx.x; i < columns * words; i += prepare_threads) {
    const int x = i / words, byte = i % words * 4, col = col0 + x;
    if (col >= n || row0 + byte >= to.pitch_b) continue;
    const float scale = to.scales[col];
    unsigned word = 0;
    for (int b = 0; b < 4; ++b)
      word |= unsigned(Weight::round(scale == 0 ? 0 : part[k_at(byte + b)][x] / scale)) << 8 * b;
    *reinterpret_cast<unsigned*>(to.weights + std::size_t(col) * to.pitch_b + row0 + byte) = word;
  }
}

}  // namespace

template <class Weight>
cudaError_t prepare(const Gemm& p, cudaStream_t stream) {
  const Workspace w(p);
  const std::size_t count = std::size_t(p.m) * p.k, ctas = (count + prepare_threads - 1) / prepare_threads;
  round_activations<<<unsigned(ctas < 4096 ? ctas : 4096), prepare_threads, 0, stream>>>(p.typed->a, w.a, p.k,
                                                                                         w.pitch_a, count);
  const unsigned strips = ceil_div(p.n, columns);
  find_scales<Weight><<<strips, prepare_threads, 0, stream>>>(p.typed->b, w.scales, p.k, p.n);
  round_weights<Weight>
      <<<strips* unsigned(ceil_div(w.pitch_b, 64)), prepare_threads, 0, stream>>>(p.typed->b, w, p.k, p.n);
  return cudaGetLastError();
}

}  // namespace ladder::rung_07
