// The rung with another order of tiles, other clusters, ping-pong consumers, or another epilogue: the general
// kernel, with a field or a function of its policy changed.
#include "08_warp_specialized/general/kernel.cuh"

namespace ladder::rung_08 {

namespace {

using general::Design, general::launch, general::Order;

constexpr Design ping_pong{.rows_each = 2, .block_n = 128, .stages = 6, .ping_pong = true};

// The epilogue of `threads_store`: the threads store C themselves, 16 bytes each, not TMA.

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

// With the tile of gemm.cu, for a test that holds both equal.
cudaError_t launch_general_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<general::tile_128x256>(p, stream);
}

Variants<Gemm> general_variants() {
  Variants<Gemm> variants = {
      {.name = "threads_store",
       .what = "C stored by threads, 16 bytes each, not by TMA",
       .launch = launch<general::tile_128x256, ThreadsStore>},
      {.name = "shared_a",
       .what = "two CTAs side by side share A",
       .launch = launch<Design{.cluster_m = 1, .cluster_n = 2, .group = 16}>},
      {.name = "cluster_of_4",
       .what = "two by two CTAs share A and B",
       .launch = launch<Design{.cluster_n = 2}>},
      {.name = "ping_pong", .what = "a 128x128 tile for each consumer, in turn", .launch = launch<ping_pong>},
      {.name = "hilbert",
       .what = "tiles along Hilbert curves",
       .launch = launch<Design{.order = Order::hilbert}>}};
  for (Variant<Gemm>& variant : variants) variant.unsupported = general::rows_of_vectors<Gemm>;
  return variants;
}

}  // namespace ladder::rung_08
