// Copies of matrices whose rows TMA does not take, since their length is not a multiple of 16 bytes: into
// rows that start on boundaries of 128 bytes, and back. Both kernels read and write 16 aligned bytes at a
// time; what lies between two such chunks on the one side is shifted in registers.
#pragma once

#include "common/rung.h"

namespace ladder::padded_rows {

// Elements from the start of a padded row to the next one.
inline int pitch_of(int cols) {
  return ceil_div(cols, 64) * 64;
}
inline std::size_t bytes_of(int rows, int cols) {
  return std::size_t(rows) * pitch_of(cols) * sizeof(__nv_bfloat16);
}

// Eight elements from `first` on, of an array that is aligned to 16 bytes and has `count`; past its end,
// zeros. All threads of a warp that read the same row shift alike: the branches do not diverge.
__device__ inline uint4 eight_at(const __nv_bfloat16* array, std::size_t first, std::size_t count) {
  const int shift = first % 8;  // elements
  unsigned words[8];
  if (first - shift + 16 <= count) {
    const uint4* const chunk = reinterpret_cast<const uint4*>(array + first - shift);
    const uint4 low = chunk[0], high = chunk[1];
    words[0] = low.x, words[1] = low.y, words[2] = low.z, words[3] = low.w;
    words[4] = high.x, words[5] = high.y, words[6] = high.z, words[7] = high.w;
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) words[i] = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if (first - shift + i < count)
        words[i / 2] |= unsigned(__bfloat16_as_ushort(array[first - shift + i])) << i % 2 * 16;
  }
  if (shift & 4) {
#pragma unroll
    for (int i = 0; i < 6; ++i) words[i] = words[i + 2];
  }
  if (shift & 2) {
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = words[i + 1];
  }
  unsigned out[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) out[i] = __funnelshift_r(words[i], words[i + 1], shift % 2 * 16);
  return make_uint4(out[0], out[1], out[2], out[3]);
}

constexpr int block_chunks = 32, block_rows = 8;  // of a CTA: a warp has 512 bytes of a row
constexpr int rows_each = 4;                      // of a thread, in the usual case

// [rows, cols] -> rows that are `pitch` apart. Behind a row's cols elements others are left: TMA does not
// read them, since the matrix that its map describes has cols columns.
static __global__ void __launch_bounds__(block_chunks* block_rows)
    pad_kernel(const __nv_bfloat16* __restrict__ from, __nv_bfloat16* __restrict__ to, int rows, int cols,
               int pitch) {
  const int col = (blockIdx.x * block_chunks + threadIdx.x) * 8;
  if (col >= cols) return;
  for (int row = blockIdx.y * block_rows + threadIdx.y; row < rows; row += gridDim.y * block_rows)
    *reinterpret_cast<uint4*>(to + std::size_t(row) * pitch + col) =
        eight_at(from, std::size_t(row) * cols + col, std::size_t(rows) * cols);
}

// And back. The chunks are those of the target: of a row first some elements before one begins, then whole
// ones, then the rest.
static __global__ void __launch_bounds__(block_chunks* block_rows)
    unpad_kernel(const __nv_bfloat16* __restrict__ from, __nv_bfloat16* __restrict__ to, int rows, int cols,
                 int pitch) {
  const int chunk = blockIdx.x * block_chunks + threadIdx.x;
  for (int row = blockIdx.y * block_rows + threadIdx.y; row < rows; row += gridDim.y * block_rows) {
    const __nv_bfloat16* const source = from + std::size_t(row) * pitch;
    __nv_bfloat16* const target = to + std::size_t(row) * cols;
    const int before = min(int(-(std::size_t(row) * cols) % 8), cols), whole = (cols - before) / 8;
    if (chunk < whole)
      *reinterpret_cast<uint4*>(target + before + chunk * 8) = eight_at(source, before + chunk * 8, pitch);
    const int rest = before + whole * 8 + chunk;
    if (chunk < before) target[chunk] = source[chunk];
    if (chunk < 8 && rest < cols) target[rest] = source[rest];
  }
}

using Kernel = void (*)(const __nv_bfloat16*, __nv_bfloat16*, int, int, int);
inline cudaError_t launch(Kernel kernel, const __nv_bfloat16* from, __nv_bfloat16* to, int rows, int cols,
                          cudaStream_t stream) {
  const int down = ceil_div(rows, block_rows * rows_each);
  const dim3 grid(ceil_div(ceil_div(cols, 8), block_chunks), down < 65535 ? down : 65535);
  kernel<<<grid, dim3(block_chunks, block_rows), 0, stream>>>(from, to, rows, cols, pitch_of(cols));
  return cudaGetLastError();
}

}  // namespace ladder::padded_rows
