// The epilogue of the kernels beside gemm.cu: as there, and a function of the accumulator in between. C is
// the kernel's Config.
#pragma once

#include "09_tcgen05/pipeline.cuh"

namespace ladder::rung_09 {

// 64 columns of a warp's 32 rows, a row in each thread, to `row`, `col` of C: in bf16 to a box in shared
// memory, in chunks of 16 bytes, swizzled as TMA expects them, and from there by TMA. The warp has two boxes
// and uses them in turn: while TMA reads one, the warp fills the other.
template <int box_bytes>
__device__ void store_columns(const float (&values)[2][32], unsigned char (&boxes)[2][box_bytes],
                              int& next_box, const CUtensorMap& c, int row, int col) {
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) ptx::bulk_wait_group_read<1>();
  __syncwarp();  // TMA has read this box
#pragma unroll
  for (int chunk = 0; chunk < 8; ++chunk) {
    uint4 bits;
    unsigned* const words = &bits.x;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const int j = chunk * 8 + w * 2;
      const __nv_bfloat162 pair = __floats2bfloat162_rn(values[j / 32][j % 32], values[j / 32][j % 32 + 1]);
      words[w] = reinterpret_cast<const unsigned&>(pair);
    }
    constexpr int row_bytes = 64 * element;
    *reinterpret_cast<uint4*>(boxes[next_box] + lane * row_bytes + (chunk ^ lane % 8) * 16) = bits;
  }
  ptx::fence_proxy_async();  // threads have written, TMA will read
  __syncwarp();              // the box is complete
  if (lane == 0) {
    ptx::tma_store(c, col, row, ptx::shared_address(boxes[next_box]));
    ptx::bulk_commit_group();
  }
  next_box ^= 1;
}

// What an epilogue does to a thread's row of a tile: a Finish is constructed from the kernel's operands and
// the row. It goes through the row 64 columns at a time: load() gets their address in the accumulator before
// the warp releases that, and the call, after it, their values and the column of C at which they begin. This
// one changes nothing.
struct Unchanged {
  template <class Operands>
  __device__ Unchanged(const Operands&, int) {}
  __device__ void load(TensorAddress) const {}
  __device__ void operator()(float (&)[2][32], int) const {}
};

// Accumulators -> registers, Finish -> shared -> C, by four warps. A warp reaches 32 lanes of tensor memory,
// 32 rows of the tile, one for each thread. The last stores of a tile are still under way when the next tile
// begins.
template <class C, class Finish, class Operands, class Tiles>
__device__ void epilogue(typename C::Shared& shared, const Operands& p, int rank, TensorAddress memory,
                         Tiles tiles) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % C::epilogue_warps;
  auto(&boxes)[2][C::box_c] = shared.boxes[warp];
  Stage<C::accumulators> accumulator;
  int next_box = 0;
  auto broadcast = [](int value) { return __shfl_sync(~0u, value, 0); };  // lane 0 walks through the tiles
  while (broadcast(tiles.valid())) {
    const int tile_row = broadcast(tiles.row()) + rank * C::block_m + warp * warp_size;
    const int tile_col = broadcast(tiles.col());
    Finish finish(p, tile_row + lane);
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_full), accumulator.parity);
    ptx::tcgen05_fence_after();  // orders the loads after the wait
    const TensorAddress from =
        memory + (warp * warp_size << 16) + accumulator.index * (C::columns / C::accumulators);
    for (int col = 0; col < C::tile_n; col += C::box_cols) {
      float values[2][32];
      ptx::tcgen05_load(values[0], from + col);
      ptx::tcgen05_load(values[1], from + col + 32);
      finish.load(from + col);
      ptx::tcgen05_wait_load(values);
      if (col + C::box_cols == C::tile_n) {
        ptx::tcgen05_fence_before();  // orders the loads before the arrival
        __syncwarp();                 // the whole warp has read the accumulator
        if (lane == 0) ptx::mbarrier_arrive(accumulator.of(shared.accumulator_empty), 0);
      }
      finish(values, tile_col + col);
      store_columns(values, boxes, next_box, p.c, tile_row, tile_col + col);
    }
    if (lane == 0) tiles.advance();
    accumulator.advance();
  }
  if (lane == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

}  // namespace ladder::rung_09
