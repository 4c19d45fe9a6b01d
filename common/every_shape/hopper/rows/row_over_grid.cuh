// One long row over all SMs, by two kernels: the first stores h and the parts' sums of squares, the second
// reads them back, h from L2 where it fits. There is no workspace. Until y is stored its memory is free, so
// the sums wait there: each part of the row sends its sum to every part, as the CTAs of a cluster do, and
// finds all of them in the memory of y that it alone will overwrite.
#pragma once

#include <algorithm>

#include "common/every_shape/hopper/rows/unaligned.cuh"
#include "common/ptx/dependent_launch.cuh"

namespace ladder::every_shape::norm_rows {

// The part of the row that this CTA has, in vectors. A row has gridDim.x parts.
__device__ inline int begin_of_part(const Row& row, int part) {
  return int((long long)(row.vectors) * part / int(gridDim.x));
}
// The sums that part `part` receives. Its first vector may lie half in another row.
__device__ inline float* sums_of_part(const FusedNorm& p, const Row& row, int part) {
  return reinterpret_cast<float*>(p.y + row.at(begin_of_part(row, part) + 1));
}

template <int vectors, int threads>
__global__ void __launch_bounds__(threads) sum_parts(FusedNorm p) {
  __shared__ float partial[warp_size];
  ptx::let_next_grid_start();
  const Row row(p, blockIdx.y);
  const int end = begin_of_part(row, blockIdx.x + 1);
  float squares = 0;
  for (int first = begin_of_part(row, blockIdx.x) + int(threadIdx.x); first < end;
       first += vectors * threads) {
    uint4 x[vectors], residual[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const int i = first + v * threads;
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);
      if (i >= end || !of_matrix(row, i).whole()) continue;
      x[v] = load(p.x + row.at(i));
      residual[v] = load(p.residual + row.at(i));
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const int i = first + v * threads;
      if (i >= end) continue;
      if (!of_matrix(row, i).whole()) {
        x[v] = load_cut(p.x + row.at(i), of_matrix(row, i));
        residual[v] = load_cut(p.residual + row.at(i), of_matrix(row, i));
      }
      const uint4 h = add_cut(x[v], residual[v], of_row(p, row, i), squares);
      if (row.column(i) >= 0) store_cut(p.h + row.at(i), h, of_matrix(row, i));
    }
  }
  const float sum = row_sum(squares, partial);
  for (int part = threadIdx.x; part < int(gridDim.x); part += threads)
    sums_of_part(p, row, part)[blockIdx.x] = sum;
}

template <int vectors, int threads>
__global__ void __launch_bounds__(threads) scale_parts(FusedNorm p) {
  __shared__ float partial[warp_size];
  const Row row(p, blockIdx.y);
  const int end = begin_of_part(row, blockIdx.x + 1);
  int first = begin_of_part(row, blockIdx.x) + int(threadIdx.x);
  uint4 gamma[vectors], h[vectors];
  auto load_gammas = [&] {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (first + v * threads < end) gamma[v] = load_gamma(p, row, first + v * threads);
  };
  auto load_h = [&] {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (const int i = first + v * threads; i < end && of_matrix(row, i).whole())
        h[v] = load(p.h + row.at(i));
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (const int i = first + v * threads; i < end && !of_matrix(row, i).whole())
        h[v] = load_cut(p.h + row.at(i), of_matrix(row, i));
  };
  load_gammas();  // no kernel writes it
  ptx::wait_for_previous_grid();
  load_h();
  float sum = 0;
  for (int part = threadIdx.x; part < int(gridDim.x); part += threads)
    sum += sums_of_part(p, row, blockIdx.x)[part];
  // All of the CTA's threads have read the sums when row_sum() returns: y may overwrite them.
  const float scale = rsqrtf(row_sum(sum, partial) / float(p.cols) + p.eps);
  for (;;) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (const int i = first + v * threads; i < end)
        store_cut(p.y + row.at(i), scale_vector(h[v], gamma[v], scale), of_row(p, row, i));
    first += vectors * threads;
    if (first >= end) break;
    load_gammas();
    load_h();
  }
}

// How many parts a row has: of as many elements as the threads take at a time, but no more CTAs than run at
// once, if that is enough for the memory of y to hold the sums.
inline int parts_of_row(const FusedNorm& p, int elements_at_a_time, int most_ctas) {
  const int row_vectors = p.cols / vector;
  int parts = std::max(1, std::min(ceil_div(p.cols, elements_at_a_time), most_ctas));
  auto room = [&] { return row_vectors / parts - 2; };  // of 16 bytes each
  while (parts > 1 && room() * 4 < parts) --parts;
  return parts;
}

template <int vectors, int threads>
cudaError_t launch_over_grid(const FusedNorm& p, int most_ctas, cudaStream_t stream) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(parts_of_row(p, vectors * threads * vector, most_ctas), p.rows);
  config.blockDim = threads;
  config.stream = stream;
  const cudaError_t error = cudaLaunchKernelEx(&config, sum_parts<vectors, threads>, p);
  if (error != cudaSuccess) return error;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, scale_parts<vectors, threads>, p);
}

}  // namespace ladder::every_shape::norm_rows
