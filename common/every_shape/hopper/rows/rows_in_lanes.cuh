// Narrow rows: several share a warp. A row is `lanes` lanes wide, a power of two, so its sum is a few
// shuffles among them and no barrier; and a lane has `rows` rows at once, because a row this short is too few
// bytes in flight. A lane's columns are the same in all of its rows: gamma stays in registers.
#pragma once

#include "common/rows/norm.cuh"

namespace ladder::every_shape::norm_rows {

// The warp's rows are neighbours, so that each of its accesses is contiguous but for the lanes past the end
// of a row. cols is a multiple of 8 and at most lanes · vectors · 8.
template <int lanes, int vectors, int rows, int threads>
__global__ void __launch_bounds__(threads) rows_in_lanes(FusedNorm p) {
  constexpr int rows_at_once = warp_size / lanes, rows_of_warp = rows_at_once * rows;
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % lanes, row_vectors = p.cols / vector;
  const int first = int(blockIdx.x) * (threads / warp_size * rows_of_warp) + warp * rows_of_warp +
                    int(threadIdx.x) % warp_size / lanes;
  auto row = [&](int r) { return first + r * rows_at_once; };
  auto column = [&](int v) { return v * lanes + lane; };  // in vectors
  auto there = [&](int r, int v) { return row(r) < p.rows && column(v) < row_vectors; };
  auto at = [&](int r, int v) { return std::size_t(row(r)) * p.cols + column(v) * vector; };

  uint4 x[rows][vectors], residual[rows][vectors], gamma[vectors];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      x[r][v] = residual[r][v] = make_uint4(0, 0, 0, 0);
      if (!there(r, v)) continue;
      x[r][v] = load(p.x + at(r, v));
      residual[r][v] = load(p.residual + at(r, v));
    }
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    if (column(v) < row_vectors) gamma[v] = load(p.gamma + column(v) * vector);

#pragma unroll
  for (int r = 0; r < rows; ++r) {
    uint4 h[vectors];
    float sum = 0;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      h[v] = add_vector(x[r][v], residual[r][v], sum);
      if (there(r, v)) store(p.h + at(r, v), h[v]);
    }
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    const float scale = rsqrtf(sum / float(p.cols) + p.eps);
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (there(r, v)) store(p.y + at(r, v), scale_vector(h[v], gamma[v], scale));
  }
}

template <int lanes, int vectors, int rows, int threads>
cudaError_t launch_in_lanes(const FusedNorm& p, cudaStream_t stream) {
  rows_in_lanes<lanes, vectors, rows, threads>
      <<<ceil_div(p.rows, threads / lanes * rows), threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace ladder::every_shape::norm_rows
