// The steps towards the rung: one CTA with its own tensor core, and one tile. Either one thread loads and
// multiplies, with one stage or with several, or two warps share the work.
//
// Who waits for whom, all through mbarriers in shared memory:
//   load      empty of a stage: the MMAs that read it are complete (tcgen05.commit)
//   multiply  full of a stage: the bytes have arrived (TMA)
//   epilogue  accumulator_full: all MMAs are complete (tcgen05.commit)
#include "09_tcgen05/epilogue.cuh"
#include "common/ptx/elect.cuh"

namespace ladder::rung_09 {
namespace {

template <int stages_, bool specialized_>
struct Config {
  static constexpr int stages = stages_, group_m = 8;
  static constexpr bool specialized = specialized_;  // one warp loads, another multiplies
  static constexpr int block_m = 128, block_n = 256, block_k = 64;
  using Mma = ptx::MmaDescriptor<1, ptx::MmaKind::f16, block_m, block_n, ptx::Major::k, ptx::Major::mn>;
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = block_n / box_cols;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int epilogue_first = 4, epilogue_warps = 4;
  static constexpr int threads = (epilogue_first + epilogue_warps) * warp_size;
  static constexpr int box_c = warp_size * row;  // bytes that a warp stores at once: 32 rows of 64 columns

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];
    alignas(1024) unsigned char boxes[epilogue_warps][2][box_c];
    ptx::Mbarrier full[stages], empty[stages], accumulator_full;
    TensorAddress tensor_memory;
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "the most that a CTA can have");
};

struct Operands {
  CUtensorMap a{}, b{}, c{};
  int m, n, tiles_k;
};

// Global -> shared: k-tile t of the tile of C at row m, column n.
template <class C>
__device__ void load_stage(typename C::Shared& shared, const Operands& p, Stage<C::stages> stage, int m,
                           int n, int t) {
  const SharedAddress full = stage.of(shared.full);
  const SharedAddress to_a = stage.of(shared.buffer), to_b = to_a + C::tile_a;
  // Parity 1 first: the phase before the first counts as complete, so the stages start out empty.
  ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
  ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
  ptx::tma_load(to_a, p.a, t * C::block_k, m, full);
#pragma unroll
  for (int box = 0; box < C::boxes_b; ++box)
    ptx::tma_load(to_b + box * C::box_b, p.b, n + box * C::box_cols, t * C::block_k, full);
}

// Shared -> accumulator: a k-tile. Its stage is empty when the MMAs are complete.
template <class C>
__device__ void multiply_stage(typename C::Shared& shared, Stage<C::stages> stage, TensorAddress accumulator,
                               bool first) {
  ptx::mbarrier_wait(stage.of(shared.full), stage.parity);
  ptx::tcgen05_fence_after();
  const SharedAddress from_a = stage.of(shared.buffer), from_b = from_a + C::tile_a;
  const SharedMatrix a(from_a, 0, 8 * C::row, Swizzle::bytes128);
  const SharedMatrix b(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
#pragma unroll
  for (int k0 = 0; k0 < C::block_k; k0 += mma_k)
    ptx::tcgen05_mma<1, ptx::MmaKind::f16>(accumulator, a + k0 * element, b + k0 * C::row, C::Mma::bits,
                                           !first || k0 > 0);
  ptx::tcgen05_commit<1>(stage.of(shared.empty), 0);
}

// The CTA may not exit before the last commits have arrived at its barriers: until all stages are empty.
// `stage`: the next one.
template <class C>
__device__ void wait_until_empty(typename C::Shared& shared, Stage<C::stages> stage) {
  for (int s = 0; s < C::stages; ++s, stage.advance())
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
}

// Warp-specialised: one thread loads.
template <class C>
__device__ void load(typename C::Shared& shared, const Operands& p, int m, int n) {
  Stage<C::stages> stage;
  for (int t = 0; t < p.tiles_k; ++t, stage.advance()) load_stage<C>(shared, p, stage, m, n, t);
  wait_until_empty<C>(shared, stage);
}

// And a thread of another warp multiplies.
template <class C>
__device__ void multiply(typename C::Shared& shared, const Operands& p, TensorAddress accumulator) {
  Stage<C::stages> stage;
  for (int t = 0; t < p.tiles_k; ++t, stage.advance()) multiply_stage<C>(shared, stage, accumulator, t == 0);
  ptx::tcgen05_commit<1>(ptx::shared_address(&shared.accumulator_full), 0);
}

// One thread does both. It loads as many k-tiles ahead as there are stages. Then it issues the MMAs of a
// k-tile, and refills the stage of the k-tile before, whose MMAs run meanwhile. With one stage it refills the
// one it has just issued MMAs for, and so waits for them: nothing overlaps.
template <class C>
__device__ void load_and_multiply(typename C::Shared& shared, const Operands& p, TensorAddress accumulator,
                                  int m, int n) {
  constexpr int behind = C::stages > 1;
  Stage<C::stages> refilled, stage;
  auto load_next = [&](int t) {
    if (t < p.tiles_k) load_stage<C>(shared, p, refilled, m, n, t);
    refilled.advance();
  };
  for (int t = 0; t < C::stages; ++t) load_next(t);
  for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
    multiply_stage<C>(shared, stage, accumulator, t == 0);
    if (t >= behind) load_next(t - behind + C::stages);
  }
  ptx::tcgen05_commit<1>(ptx::shared_address(&shared.accumulator_full), 0);
  wait_until_empty<C>(shared, stage);
}

// Accumulator -> registers -> shared -> C, by four warps, each with 32 rows of the tile.
template <class C>
__device__ void epilogue(typename C::Shared& shared, const Operands& p, TensorAddress accumulator, int m,
                         int n) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % C::epilogue_warps;
  auto(&boxes)[2][C::box_c] = shared.boxes[warp];
  int next_box = 0;
  ptx::mbarrier_wait(ptx::shared_address(&shared.accumulator_full), 0);
  ptx::tcgen05_fence_after();
  const TensorAddress from = accumulator + (warp * warp_size << 16);
  for (int col = 0; col < C::block_n; col += C::box_cols) {
    float values[2][32];
    ptx::tcgen05_load(values[0], from + col);
    ptx::tcgen05_load(values[1], from + col + 32);
    ptx::tcgen05_wait_load(values);
    store_columns(values, boxes, next_box, p.c, m + warp * warp_size, n + col);
  }
  if (lane == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle tells the compiler that all threads of the warp have the same value.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);

  if (warp == C::epilogue_first && ptx::elect_one()) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(p.b);
    ptx::prefetch_tensor_map(p.c);
    init_barriers(shared.full, 1);
    init_barriers(shared.empty, 1);
    ptx::mbarrier_init(ptx::shared_address(&shared.accumulator_full), 1);
    ptx::fence_mbarrier_init();
  }
  // Its constructor has a barrier of the CTA, after which the mbarriers are initialised.
  const ptx::TensorMemory<1, C::block_n> memory(shared.tensor_memory);
  const int2 tile =
      tile_of_cluster(blockIdx.x, ceil_div(p.m, C::block_m), ceil_div(p.n, C::block_n), C::group_m);
  const int m = tile.x * C::block_m, n = tile.y * C::block_n;

  if (warp == 0) {
    if (ptx::elect_one()) {
      if constexpr (C::specialized) {
        load<C>(shared, p, m, n);
      } else {
        load_and_multiply<C>(shared, p, memory.address(), m, n);
      }
    }
  } else if (warp == 1) {
    if (C::specialized && ptx::elect_one()) multiply<C>(shared, p, memory.address());
  } else if (warp >= C::epilogue_first) {
    epilogue<C>(shared, p, memory.address(), m, n);
  }
}

template <class C>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  Operands operands{.m = p.m, .n = p.n, .tiles_k = ceil_div(p.k, C::block_k)};
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error = ptx::make_tensor_map(&operands.a, p.a, p.m, p.k, C::block_m, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, p.b, p.k, p.n, C::block_k, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.m, p.n, warp_size, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error =
        cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;
  const int ctas = ceil_div(p.m, C::block_m) * ceil_div(p.n, C::block_n);
  gemm_kernel<C><<<ctas, C::threads, C::shared_bytes, stream>>>(operands);
  return cudaGetLastError();
}

Text rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

}  // namespace

Variants<Gemm> ablations() {
  return {{.name = "one_stage",
           .what = "one CTA, one thread, one stage: nothing overlaps",
           .unsupported = rows_of_vectors,
           .launch = launch<Config<1, false>>},
          {.name = "pipelined",
           .what = "one CTA, one thread, loads four stages ahead",
           .unsupported = rows_of_vectors,
           .launch = launch<Config<4, false>>},
          {.name = "warp_specialized",
           .what = "one warp loads, another multiplies",
           .unsupported = rows_of_vectors,
           .launch = launch<Config<4, true>>}};
}

}  // namespace ladder::rung_09
