// Narrow rows that start anywhere. Eight neighbouring rows together are a multiple of 16 bytes, so a CTA
// takes a multiple of eight: all its accesses to global memory are whole vectors, whichever rows these lie
// in. Where a row is looked at by itself, for its sum, it is read element by element, from shared memory.
#pragma once

#include <algorithm>

#include "common/every_shape/hopper/rows/ahead.cuh"
#include "common/every_shape/hopper/rows/unaligned.cuh"

namespace ladder::every_shape::norm_rows {

constexpr int tile_columns = 512;  // the widest row of a tile
constexpr int most_tile_rows = 1024;

// The tile is tile_rows · cols <= threads · vectors · 8 elements. Its rows are summed by `lanes` lanes each.
template <int threads, int vectors>
__global__ void __launch_bounds__(threads) rows_in_tile(FusedNorm p, int tile_rows, int lanes) {
  __shared__ uint4 h_of_tile[threads * vectors];
  __shared__ __nv_bfloat16 gamma_of_rows[tile_columns];
  __shared__ float scales[most_tile_rows];
  const int first = int(blockIdx.x) * tile_rows, rows = min(tile_rows, p.rows - first);
  const int elements = rows * p.cols;
  const std::size_t start = std::size_t(first) * p.cols;
  auto offset = [&](int v) { return (v * threads + int(threadIdx.x)) * vector; };  // of the v-th vector
  auto inside = [&](int v) { return Cut{0, elements - offset(v)}; };

  uint4 x[vectors], residual[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (!inside(v).whole()) continue;
    x[v] = load(p.x + start + offset(v));
    residual[v] = load(p.residual + start + offset(v));
  }
  for (int col = threadIdx.x; col < p.cols; col += threads) gamma_of_rows[col] = p.gamma[col];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (offset(v) >= elements) continue;
    if (!inside(v).whole()) {
      x[v] = load_cut(p.x + start + offset(v), inside(v));
      residual[v] = load_cut(p.residual + start + offset(v), inside(v));
    }
    x[v] = add_vector(x[v], residual[v]);
    h_of_tile[v * threads + threadIdx.x] = x[v];
    store_cut(p.h + start + offset(v), x[v], inside(v));
  }
  __syncthreads();  // h and gamma of the tile are there
  if (threadIdx.x + warp_size == threads) prefetch_ahead(p, start, elements);

  const auto* h_elements = reinterpret_cast<const __nv_bfloat16*>(h_of_tile);
  const int lane = threadIdx.x % lanes, rows_at_once = threads / lanes;
  for (int some = 0; some < rows; some += rows_at_once) {
    const int row = some + int(threadIdx.x) / lanes;
    float sum = 0;
    if (row < rows) {
#pragma unroll 4
      for (int col = lane; col < p.cols; col += lanes) {
        const float h = __bfloat162float(h_elements[row * p.cols + col]);
        sum += h * h;
      }
    }
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
    if (row < rows && lane == 0) scales[row] = rsqrtf(sum / float(p.cols) + p.eps);
  }
  __syncthreads();  // and the scales

#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (offset(v) >= elements) continue;
    int row = offset(v) / p.cols, col = offset(v) - row * p.cols;
    auto scaled = [&](float h) {
      const float y = h * scales[row] * __bfloat162float(gamma_of_rows[col]);
      const bool last = col + 1 == p.cols;
      col = last ? 0 : col + 1;
      row = min(row + last, rows - 1);  // past the tile's end y is not stored
      return y;
    };
    const uint4 y = each_word(x[v], [&](unsigned word, int) {
      const float low = scaled(low_half(word));
      return pack(low, scaled(high_half(word)));
    });
    store_cut(p.y + start + offset(v), y, inside(v));
  }
}

template <int threads, int vectors>
cudaError_t launch_in_tile(const FusedNorm& p, cudaStream_t stream) {
  const int tile_rows =
      std::min(most_tile_rows, threads * vectors * vector / p.cols / vector * vector);  // a multiple of 8
  int lanes = 1;
  while (lanes < warp_size && lanes * 2 * tile_rows <= threads) lanes *= 2;
  rows_in_tile<threads, vectors><<<ceil_div(p.rows, tile_rows), threads, 0, stream>>>(p, tile_rows, lanes);
  return cudaGetLastError();
}

}  // namespace ladder::every_shape::norm_rows
