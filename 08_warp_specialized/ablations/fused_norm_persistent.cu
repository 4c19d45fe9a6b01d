// The norm by persistent CTAs: a CTA for each row, and it stays for many, so that gridDim.x is what runs at
// once. No clusters: a CTA may only send its next sum when the last one has been read.
#include <algorithm>

#include "common/rows/norm.cuh"

namespace ladder::rung_08 {
namespace {

// A CTA takes blockDim.y neighbouring rows at a time. A thread has up to `vectors` vectors of a row. cols is
// a multiple of 8 and at most blockDim.x · vectors · 8.
template <int vectors>
__global__ void __launch_bounds__(1024) rows_in_registers(FusedNorm p) {
  constexpr int most_rows = 4;
  __shared__ float partial[2][most_rows][warp_size];  // of the warps of each of the CTA's rows

  const int row_vectors = p.cols / vector, row_step = gridDim.x * blockDim.y;
  auto column = [&](int v) { return v * int(blockDim.x) + int(threadIdx.x); };  // in vectors
  int turn = 0;
  for (int first = blockIdx.x * blockDim.y; first < p.rows; first += row_step) {
    const int row = first + int(threadIdx.y), end = row < p.rows ? row_vectors : 0;
    const std::size_t start = std::size_t(row) * p.cols;
    uint4 x[vectors], residual[vectors], h[vectors], gamma[vectors];
    float squares = 0;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);
      if (column(v) >= end) continue;
      x[v] = load(p.x + start + column(v) * vector);
      residual[v] = load(p.residual + start + column(v) * vector);
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < end) gamma[v] = load(p.gamma + column(v) * vector);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      h[v] = add_vector(x[v], residual[v], squares);
      if (column(v) < end) store(p.h + start + column(v) * vector, h[v]);
    }

    const float sum = row_sum(squares, partial[turn][threadIdx.y]);
    turn ^= 1;  // slower warps may still read these partial sums
    const float scale = rsqrtf(sum / float(p.cols) + p.eps);
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < end) store(p.y + start + column(v) * vector, scale_vector(h[v], gamma[v], scale));
  }
}

template <int vectors>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  constexpr int least_threads = 128;  // of a CTA
  auto* kernel = rows_in_registers<vectors>;
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = std::max(1, least_threads / threads);
  int device = 0, sms = 0, ctas_per_sm = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas_per_sm, kernel, threads * rows_per_cta, 0);
  if (error != cudaSuccess) return error;
  const int ctas = std::min(ceil_div(p.rows, rows_per_cta), ctas_per_sm * sms);
  kernel<<<ctas, dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

// More vectors to a thread would need registers that the loop over rows takes.
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector != 0 || p.cols > 16384) return launch_any_width(p, stream);
  return p.cols <= 8192 ? launch<1>(p, stream) : launch<2>(p, stream);
}

}  // namespace

Variants<FusedNorm> fused_norm_persistent() {
  return {{.name = "persistent",
           .what = "persistent CTAs, a row in the registers of one",
           .launch = launch_by_width}};
}

}  // namespace ladder::rung_08
