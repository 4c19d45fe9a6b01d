// The rung's kernel with operands of 8 and 4 bits. B is transposed beforehand, so both operands run along k.
// mxfp8 and nvfp4 have scales, each for 32 or 16 neighbours along k: TMA loads them with a k-tile, tcgen05.cp
// copies them to tensor memory, and the MMAs read them there. They leave less than two tiles' room for
// accumulators, so the two overlap by half: the next tile begins when that half of the last one has been
// read. nvfp4 has a scale for each matrix, besides: the epilogue multiplies the accumulators by both.
//
// Who waits for whom is as in ../gemm.cu; and with scales
//   multiply  empty of a stage: the MMAs are complete that read the scales it is about to overwrite
#include "09_tcgen05/block_scaled/workspace.h"
#include "09_tcgen05/epilogue.cuh"
#include "09_tcgen05/launch.h"
#include "common/ptx/elect.cuh"

namespace ladder::rung_09 {
namespace {

using ptx::MmaKind;

constexpr int row = 128;  // bytes of a TMA box's row, and of the swizzle

template <Precision precision_>
struct Config {
  static constexpr Precision precision = precision_;
  static constexpr QuantisedLayout layout{precision, 1, 64};  // for bits and block
  static constexpr MmaKind kind = precision == Precision::fp8     ? MmaKind::f8f6f4
                                  : precision == Precision::mxfp8 ? MmaKind::mxf8f6f4
                                                                  : MmaKind::mxf4nvf4;
  static constexpr bool scaled = layout.block != 0;
  static constexpr bool matrix_scales = precision == Precision::nvfp4;
  static constexpr int ctas = 2, stages = scaled ? 5 : 6;
  static constexpr int group_m = 8;  // rows of tiles that neighbouring clusters share

  // The CTA pair's tile of C. A CTA has half of its rows, and loads those of A and half of B's columns.
  static constexpr int tile_m = 256, tile_n = 256, block_m = tile_m / ctas, block_n = tile_n / ctas;
  static constexpr int block_k = row * 8 / layout.bits, mma_k = 32 * 8 / layout.bits;  // elements
  using Mma = ptx::MmaDescriptor<ctas, kind, tile_m, tile_n, ptx::Major::k, ptx::Major::k>;
  static constexpr int tile_a = block_m * row, tile_b = block_n * row;  // bytes, a box each

  // Scales: tiles of 512 bytes, of 128 rows and 4 blocks of k. A CTA has those of its rows of A, and those of
  // all columns of B: each of the two tensor cores needs them.
  static constexpr int scale_tile = 512, scale_columns = 4;  // bytes, columns of tensor memory
  static constexpr int tiles_k = scaled ? block_k / layout.block / 4 : 0;
  static constexpr int scales_a = tiles_k * scale_tile, scales_b = tile_n / 128 * tiles_k * scale_tile;
  static constexpr int loaded_bytes = tile_a + tile_b + scales_a + scales_b;
  static constexpr int stage_bytes = (loaded_bytes + 1023) / 1024 * 1024;

  // Tensor memory: 512 columns. Accumulators take 256, so two tiles' fill it. With scales there is less room,
  // and the two overlap by half.
  static constexpr int accumulators = 2, columns = 512, accumulator_step = scaled ? 128 : 256;
  static constexpr int boxes_c = tile_n * 2 / row;  // of 64 columns, in which a tile is stored
  static constexpr int boxes_before_release = scaled ? boxes_c / 2 : boxes_c;
  static constexpr int releases = scaled ? 1 : accumulators;  // barriers accumulator_empty
  // From column 384 on the scales, of as many stages as there is room for.
  static constexpr int first_scale = 384;
  static constexpr int stage_scale_columns = (scales_a + scales_b) / scale_tile * scale_columns;
  static constexpr int scale_sets = stage_scale_columns * stages <= columns - first_scale
                                        ? stages
                                        : (columns - first_scale) / stage_scale_columns;

  static constexpr int epilogue_first = 4, epilogue_warps = 4;
  static constexpr int threads = (epilogue_first + epilogue_warps) * warp_size;
  static constexpr int box_c = warp_size * row;  // bytes that a warp stores at once: 32 rows of 64 columns

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    alignas(1024) unsigned char boxes[epilogue_warps][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier accumulator_full[accumulators], accumulator_empty[releases];
    Responses responses;
    TensorAddress tensor_memory;
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "the most that a CTA can have");
};

struct Operands {
  CUtensorMap a{}, b{}, c{}, scales_a{}, scales_b{};
  int m, n, tiles_k;
  const float *matrix_scale_a, *matrix_scale_b;  // null where the matrices have none
};

// The scales of A and of B that all elements share, and so all of C. The smaller one first: an accumulator
// times both leaves fp32's range on the way only if it does in the end. Their product alone might be
// infinite, and 0 times that is NaN.
struct MatrixScales {
  float smaller = 1, larger = 1;

  __device__ void load(const Operands& p) {
    smaller = fminf(*p.matrix_scale_a, *p.matrix_scale_b);
    larger = fmaxf(*p.matrix_scale_a, *p.matrix_scale_b);
  }
  __device__ void apply(float (&values)[2][32]) const {
#pragma unroll
    for (int i = 0; i < 64; ++i) values[i / 32][i % 32] = values[i / 32][i % 32] * smaller * larger;
  }
};

// Global -> shared, by one thread of each CTA. It runs ahead of the MMAs, also from tile to tile, as far as
// there are stages. The CTA of rank 0 is the leader of the pair: it issues the MMAs of both.
template <class C>
__device__ void load(typename C::Shared& shared, const Operands& p, int rank, Tiles<C> tiles) {
  Stage<C::stages> stage;
  for (; tiles.valid(); tiles.advance()) {
    const int tile_col = tiles.col();
    const int m = tiles.row() + rank * C::block_m, n = tile_col + rank * C::block_n;
    for (int t = 0; t < p.tiles_k; ++t, stage.advance()) {
      const SharedAddress full = stage.of(shared.full);
      const SharedAddress leader_full = ptx::cluster_address(full, 0);
      const SharedAddress to_a = stage.of(shared.buffer), to_b = to_a + C::tile_a;
      // Parity 1 first: the phase before the first counts as complete, so the stages start out empty.
      ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
      // The leader's barrier counts the bytes of both CTAs. The peer's may arrive before this: its stage is
      // empty only after the last phase was complete, so they count for this one, which awaits the arrival.
      if (rank == 0) ptx::mbarrier_arrive_expect_bytes(full, C::loaded_bytes * C::ctas);
      const int byte = t * row;  // of the rows of A and B
      ptx::tma_load_of_cta_pair(to_a, p.a, byte, m, leader_full);
      ptx::tma_load_of_cta_pair(to_b, p.b, byte, n, leader_full);
      if constexpr (C::scaled) {
        const SharedAddress to_scales = to_b + C::tile_b;
        const int word = t * C::tiles_k * C::scale_tile / 8;
        ptx::tma_load_of_cta_pair(to_scales, p.scales_a, word, m / 128, leader_full);
        ptx::tma_load_of_cta_pair(to_scales + C::scales_a, p.scales_b, word, tile_col / 128, leader_full);
      }
    }
  }
  // The CTA may not exit before the last commits have arrived at its barriers: until all stages are empty.
  for (int s = 0; s < C::stages; ++s, stage.advance())
    ptx::mbarrier_wait(stage.of(shared.empty), stage.parity ^ 1);
}

// Shared -> tensor memory: the scales of a k-tile. Copies are ordered before the MMAs that the same thread
// issues after them.
template <class C>
__device__ void copy_scales(TensorAddress to, SharedAddress from) {
#pragma unroll
  for (int i = 0; i < (C::scales_a + C::scales_b) / C::scale_tile; ++i) {
    // Tiles lie row of tiles by row of tiles; an MMA's must be neighbours in tensor memory.
    const int tile_row = i / C::tiles_k, tile_k = i % C::tiles_k;
    const int column = tile_row == 0 ? tile_k : C::tiles_k + tile_k * (C::tile_n / 128) + tile_row - 1;
    ptx::tcgen05_copy_scales<C::ctas>(to + column * C::scale_columns, from + i * C::scale_tile);
  }
}

// Shared -> accumulator: the MMAs of a k-tile.
template <class C>
__device__ void multiply_stage(TensorAddress accumulator, SharedAddress from_a, TensorAddress scales,
                               bool first) {
  const SharedMatrix a(from_a, 0, 8 * row, Swizzle::bytes128);
  const SharedMatrix b(from_a + C::tile_a, 0, 8 * row, Swizzle::bytes128);
#pragma unroll
  for (int step = 0; step < C::block_k / C::mma_k; ++step) {
    const bool add = !first || step > 0;
    if constexpr (C::scaled) {
      // nvfp4: an MMA's k is four blocks, all of a tile. mxfp8: one, a byte of each word.
      std::uint32_t what = C::Mma::bits;
      if constexpr (C::kind == MmaKind::mxf8f6f4) what = C::Mma::with_scales(step);
      const int tile_k = C::kind == MmaKind::mxf8f6f4 ? 0 : step;
      const TensorAddress scales_a = scales + tile_k * C::scale_columns;
      const TensorAddress scales_b = scales + (C::tiles_k + tile_k * (C::tile_n / 128)) * C::scale_columns;
      ptx::tcgen05_mma<C::ctas, C::kind>(accumulator, a + step * 32, b + step * 32, what, scales_a, scales_b,
                                         add);
    } else {
      ptx::tcgen05_mma<C::ctas, C::kind>(accumulator, a + step * 32, b + step * 32, C::Mma::bits, add);
    }
  }
}

// By one thread of the leader for both CTAs.
template <class C>
__device__ void multiply_tiles(typename C::Shared& shared, const Operands& p, TensorAddress memory,
                               Tiles<C> tiles) {
  Stage<C::stages> stage;
  Stage<C::accumulators> accumulator;
  Stage<C::releases> released;
  Stage<C::scale_sets> scales;
  Stage<C::stages> reads_scales;  // the stage of the k-tile whose scales are overwritten next
  int multiplied = 0;             // k-tiles, until there are scale_sets
  for (; tiles.valid(); tiles.advance(), accumulator.advance(), released.advance()) {
    // Parity 1 first: the accumulators start out empty.
    ptx::mbarrier_wait(released.of(shared.accumulator_empty), released.parity ^ 1);
    ptx::tcgen05_fence_after();  // orders the MMAs after the wait
    for (int t = 0; t < p.tiles_k; ++t, stage.advance(), scales.advance()) {
      // Nothing orders a copy after an MMA that reads what it overwrites: wait for the MMA. Where there is a
      // set for each stage, `full` implies it.
      if constexpr (C::scaled && C::scale_sets < C::stages) {
        if (multiplied == C::scale_sets) {
          ptx::mbarrier_wait(reads_scales.of(shared.empty), reads_scales.parity);
          reads_scales.advance();
        } else {
          ++multiplied;
        }
      }
      ptx::mbarrier_wait(stage.of(shared.full), stage.parity);
      ptx::tcgen05_fence_after();
      const SharedAddress from = stage.of(shared.buffer);
      const TensorAddress to_scales = memory + C::first_scale + scales.index * C::stage_scale_columns;
      if constexpr (C::scaled) copy_scales<C>(to_scales, from + C::tile_a + C::tile_b);
      multiply_stage<C>(memory + accumulator.index * C::accumulator_step, from, to_scales, t == 0);
      ptx::tcgen05_commit<C::ctas>(stage.of(shared.empty), both_ctas);
    }
    ptx::tcgen05_commit<C::ctas>(accumulator.of(shared.accumulator_full), both_ctas);
  }
}

// Accumulators -> registers -> shared -> C, by four warps, each with 32 rows of the tile.
template <class C>
__device__ void epilogue(typename C::Shared& shared, const Operands& p, int rank, TensorAddress memory,
                         Tiles<C> tiles) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % C::epilogue_warps;
  auto(&boxes)[2][C::box_c] = shared.boxes[warp];
  Stage<C::accumulators> accumulator;
  Stage<C::releases> released;
  int next_box = 0;
  MatrixScales matrix_scales;
  if constexpr (C::matrix_scales) matrix_scales.load(p);
  auto broadcast = [](int value) { return __shfl_sync(~0u, value, 0); };  // lane 0 walks through the tiles
  while (broadcast(tiles.valid())) {
    const int tile_row = broadcast(tiles.row()) + rank * C::block_m + warp * warp_size;
    const int tile_col = broadcast(tiles.col());
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_full), accumulator.parity);
    ptx::tcgen05_fence_after();  // orders the loads after the wait
    const TensorAddress from = memory + (warp * warp_size << 16) + accumulator.index * C::accumulator_step;
    // The half that the next tile overwrites comes first: of the lower accumulator the upper half.
    const int first_box = C::scaled && accumulator.index == 0 ? C::boxes_c / 2 : 0;
    for (int i = 0; i < C::boxes_c; ++i) {
      const int box = (i + first_box) % C::boxes_c, col = box * row / 2;
      float values[2][32];
      ptx::tcgen05_load(values[0], from + col);
      ptx::tcgen05_load(values[1], from + col + 32);
      ptx::tcgen05_wait_load(values);
      if (i + 1 == C::boxes_before_release) {
        ptx::tcgen05_fence_before();  // orders the loads before the arrival
        __syncwarp();                 // the whole warp has read
        if (lane == 0) ptx::mbarrier_arrive(released.of(shared.accumulator_empty), 0);
      }

      if constexpr (C::matrix_scales) matrix_scales.apply(values);
      store_columns(values, boxes, next_box, p.c, tile_row, tile_col + col);
    }
    if (lane == 0) tiles.advance();
    accumulator.advance();
    released.advance();
  }
  if (lane == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  // The shuffle tells the compiler that all threads of the warp have the same value.
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0), rank = ptx::cluster_rank();

  if (warp == C::epilogue_first && ptx::elect_one()) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(p.b);
    ptx::prefetch_tensor_map(p.c);
    init_barriers(shared.full, 1);   // one arrival, and the bytes
    init_barriers(shared.empty, 1);  // one commit
    init_barriers(shared.accumulator_full, 1);
    init_barriers(shared.accumulator_empty, C::epilogue_warps * C::ctas);
    init_barriers(shared.responses.full, 1);
    // The warps that load and store in each CTA, and the one that multiplies.
    init_barriers(shared.responses.empty, (1 + C::epilogue_warps) * C::ctas + 1);
    ptx::fence_mbarrier_init();
  }
  // Its constructor has a barrier of the cluster, after which both CTAs' mbarriers are initialised; so has
  // its destructor, after which no CTA accesses its peer.
  const ptx::TensorMemory<C::ctas, C::columns> memory(shared.tensor_memory);
  const Tiles<C> tiles{ceil_div(p.m, C::tile_m), ceil_div(p.n, C::tile_n), shared.responses};

  if (warp == 0) {
    if (ptx::elect_one()) load<C>(shared, p, rank, tiles);
  } else if (warp == 1) {
    if (rank == 0 && ptx::elect_one()) multiply_tiles<C>(shared, p, memory.address(), tiles);
  } else if (warp == 2) {
    if (rank == 0 && ptx::elect_one()) schedule<C>(shared.responses);
  } else if (warp >= C::epilogue_first) {
    epilogue<C>(shared, p, rank, memory.address(), tiles);
  }
}

// Elements are loaded as bytes, scales as words of 64 bits.
template <class C>
cudaError_t make_maps(Operands* p, const Gemm& gemm) {
  const Workspace w(C::precision, gemm);
  const int row_bytes = gemm.k * C::layout.bits / 8;
  cudaError_t error = ptx::make_tensor_map(&p->a, w.a_elements, gemm.m, row_bytes, C::block_m, row,
                                           Swizzle::bytes128, w.a.pitch());
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p->b, w.b_elements, gemm.n, row_bytes, C::block_n, row, Swizzle::bytes128,
                                 w.b.pitch());
  if constexpr (C::scaled) {
    constexpr int words = C::scale_tile / 8, box = C::tiles_k * words;
    auto map = [&](CUtensorMap* to, const unsigned char* scales, const QuantisedLayout& layout, int rows) {
      return ptx::make_tensor_map(to, reinterpret_cast<const std::uint64_t*>(scales), layout.tiles_down(),
                                  layout.tiles_across() * words, rows, box, Swizzle::none);
    };
    if (error == cudaSuccess) error = map(&p->scales_a, w.a_scales, w.a, 1);
    if (error == cudaSuccess) error = map(&p->scales_b, w.b_scales, w.b, C::tile_n / 128);
  }
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p->c, gemm.c, gemm.m, gemm.n, warp_size, row / 2, Swizzle::bytes128);
  return error;
}

template <Precision precision>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  using C = Config<precision>;
  const Workspace w(precision, p);
  Operands operands{.m = p.m,
                    .n = p.n,
                    .tiles_k = ceil_div(p.k, C::block_k),
                    .matrix_scale_a = w.a_matrix_scale,
                    .matrix_scale_b = w.b_matrix_scale};
  cudaError_t error = make_maps<C>(&operands, p);
  if (error != cudaSuccess) return error;
  return launch_tiles<C>(gemm_kernel<C>, operands, stream);
}

template <Precision precision>
Text whole_blocks(const Gemm& p) {
  constexpr int block = Config<precision>::layout.block;
  if (p.n % 8 == 0 && p.k % (block ? block : 8) == 0) return {};
  if (block) return {"n must be a multiple of 8, k of ", block, ": that many elements share a scale"};
  return "n must be a multiple of 8 and k too: a tensor map's rows are multiples of 16 bytes";
}

template <Precision p>
constexpr Extension<Gemm> rounded{
    .precision = p, .workspace_bytes = workspace_bytes<p>, .prepare = quantise<p>};

}  // namespace

Variants<Gemm> block_scaled_gemm() {
  return {
      {.name = "fp8",
       .what = "the rung with e4m3 operands",
       .unsupported = whole_blocks<Precision::fp8>,
       .launch = launch<Precision::fp8>,
       .extension = &rounded<Precision::fp8>},
      {.name = "mxfp8",
       .what = "e4m3, and a scale for every 32 elements",
       .unsupported = whole_blocks<Precision::mxfp8>,
       .launch = launch<Precision::mxfp8>,
       .extension = &rounded<Precision::mxfp8>},
      {.name = "nvfp4_blocks",
       .what = "nvfp4 without the scale of each matrix: small numbers are lost, and large numbers saturate",
       .unsupported = whole_blocks<Precision::nvfp4_blocks>,
       .launch = launch<Precision::nvfp4_blocks>,
       .extension = &rounded<Precision::nvfp4_blocks>},
      {.name = "nvfp4",
       .what = "e2m1, a scale for every 16 elements, and one for each matrix",
       .unsupported = whole_blocks<Precision::nvfp4>,
       .launch = launch<Precision::nvfp4>,
       .extension = &rounded<Precision::nvfp4>}};
}

}  // namespace ladder::rung_09
