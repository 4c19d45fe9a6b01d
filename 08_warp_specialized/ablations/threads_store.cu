// The rung's kernel with another epilogue: the threads store C themselves, 16 bytes each, not TMA.
#include "08_warp_specialized/shapes/kernel.cuh"

namespace ladder::rung_08 {

Text rows_of_vectors(const Gemm& p);  // gemm.cu

namespace {

// A warp's 16 rows, 64 columns at a time, pass through shared memory all the same: a thread's accumulators
// are pairs of neighbours, and 8 lanes that store 16 bytes each fill whole rows of 128 bytes.
struct ThreadsStore : general::Bf16 {
  template <class C>
  __device__ static void epilogue(const general::Accumulator<C>& accumulator, const auto& scales,
                                  unsigned char (&boxes)[2][C::box_c], const typename C::Operands& p,
                                  int row0, int col0, int& next_box) {
    const int lane = threadIdx.x % warp_size;
#pragma unroll
    for (int box = 0; box < C::block_n / 64; ++box) {
      __syncwarp();  // the warp has read what the box held before
      general::store_box<C>(accumulator[0], 0, box, scales, ptx::shared_address(boxes[next_box]));
      __syncwarp();  // the box is complete
#pragma unroll
      for (int r = lane / 8; r < 16; r += warp_size / 8) {
        const int chunk = lane % 8, col = col0 + box * 64 + chunk * 8;
        const uint4 bits =
            *reinterpret_cast<const uint4*>(&boxes[next_box][r * C::row + (chunk ^ r % 8) * 16]);
        if (row0 + r < p.m && col < p.n)
          *reinterpret_cast<uint4*>(p.c + std::size_t(row0 + r) * p.n + col) = bits;
      }
      next_box ^= 1;
    }
  }
};

}  // namespace

Variants<Gemm> threads_store() {
  return {{.name = "threads_store",
           .what = "C stored by threads, 16 bytes each, not by TMA",
           .unsupported = rows_of_vectors,
           .launch = general::launch<general::tile_128x256, ThreadsStore>}};
}

}  // namespace ladder::rung_08
