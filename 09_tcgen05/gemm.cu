// Blackwell's tensor cores. One thread issues the MMAs: it hands the tensor core two tiles in shared memory,
// and the accumulator is in tensor memory, not in registers. There is room for the accumulators of two tiles,
// so while one goes through the epilogue, the next tile is multiplied. The CTAs of a pair multiply together,
// each with half of B. And a cluster that has finished takes over the tile of one that has not started.
//
// Who waits for whom, all through mbarriers in shared memory:
//   produce   empty of a stage: the MMAs that read it are complete (tcgen05.commit, in both CTAs)
//   multiply  full of a stage, in the leader alone: the bytes of both CTAs have arrived (TMA)
//             accumulator_empty, in the leader alone: the epilogue warps of both CTAs have read it
//   epilogue  accumulator_full: the MMAs of a tile are complete (tcgen05.commit, in both CTAs)
//   all three, for their next tile
//             full of a response, in their own CTA: its 16 bytes have arrived (cluster launch control)
//   schedule  empty of a response, in the leader alone: all three have read it, in both CTAs
//             full of a response: to read it as well, since no request may follow one that failed
//
// In the order of the data: produce() and multiply() of pipeline.cuh, epilogue(), and the kernel that gives
// them to its warps. Launch control is in pipeline.cuh as well: Tiles, and schedule(), which requests them.
#include "09_tcgen05/pipeline.cuh"
#include "common/ptx/elect.cuh"

namespace ladder::rung_09 {
namespace {

enum class Schedule {
  one_tile,       // a cluster for each tile
  persistent,     // as many clusters as run at once; each steps over what the others take
  launch_control  // a cluster for each tile, but a running one takes over from one that has not started
};

template <Schedule schedule_>
struct Config {
  static constexpr Schedule schedule = schedule_;
  static constexpr int ctas = 2, stages = 6;
  static constexpr int group_m = 8;  // rows of tiles that neighbouring clusters share
  // The CTA pair's tile of C. A CTA has half of its rows, and loads those of A and half of B's columns.
  static constexpr int tile_m = 256, tile_n = 256, block_m = tile_m / ctas, block_n = tile_n / ctas;
  static constexpr int block_k = 64;
  using Mma = ptx::MmaDescriptor<ctas, ptx::MmaKind::f16, tile_m, tile_n, ptx::Major::k, ptx::Major::mn>;

  // A is one box; B, whose rows run along n, is boxes of block_k rows and 64 columns.
  static constexpr int row = 128, box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_b = block_k * row, boxes_b = block_n / box_cols;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;

  // Tensor memory has 512 columns: the accumulators of two tiles fill it.
  static constexpr int accumulators = schedule == Schedule::one_tile ? 1 : 2;
  static constexpr int columns = accumulators * tile_n;

  static constexpr int epilogue_first = 4, epilogue_warps = 4;
  static constexpr int threads = (epilogue_first + epilogue_warps) * warp_size;
  static constexpr int box_c = warp_size * row;  // bytes that a warp stores at once: 32 rows of 64 columns

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    alignas(1024) unsigned char boxes[epilogue_warps][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier accumulator_full[accumulators], accumulator_empty[accumulators];
    Responses responses;
    TensorAddress tensor_memory;
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "the most that a CTA can have");
  static_assert(block_k == box_cols, "A's tile is one box");
};

struct Operands {
  CUtensorMap a{}, b{}, c{};
  int m, n, tiles_k;
};

// The tiles of a cluster by any of the schedules.
template <class C>
struct ScheduledTiles : Tiles<C> {
  __device__ void advance() {
    if constexpr (C::schedule == Schedule::one_tile) {
      this->index = -1;
    } else if constexpr (C::schedule == Schedule::persistent) {
      this->index += int(gridDim.x) / C::ctas;
    } else {
      Tiles<C>::advance();
    }
  }
};

// A row of 64 columns in bf16 to its place in a box of C: 16-byte chunks, swizzled as TMA expects them.
__device__ void store_row(unsigned char* box, int at, const float (&values)[2][32]) {
  constexpr int row = 64 * element;  // bytes
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
    *reinterpret_cast<uint4*>(box + at * row + (chunk ^ at % 8) * 16) = bits;
  }
}

// Accumulators -> registers -> shared -> C, by four warps. A warp reaches 32 lanes of tensor memory, 32 rows
// of the tile, one for each thread. It stores them 64 columns at a time through two boxes in turn: while
// TMA reads one, the warp fills the other. The last stores of a tile are still under way when the next tile
// begins.
template <class C>
__device__ void epilogue(typename C::Shared& shared, const Operands& p, int rank, TensorAddress memory,
                         ScheduledTiles<C> tiles) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % C::epilogue_warps;
  auto(&boxes)[2][C::box_c] = shared.boxes[warp];
  Stage<C::accumulators> accumulator;
  int next_box = 0;
  auto broadcast = [](int value) { return __shfl_sync(~0u, value, 0); };  // lane 0 walks through the tiles
  while (broadcast(tiles.valid())) {
    const int tile_row = broadcast(tiles.row()) + rank * C::block_m + warp * warp_size;
    const int tile_col = broadcast(tiles.col());
    ptx::mbarrier_wait(accumulator.of(shared.accumulator_full), accumulator.parity);
    ptx::tcgen05_fence_after();  // orders the loads after the wait
    const TensorAddress from = memory + (warp * warp_size << 16) + accumulator.index * C::tile_n;
    for (int col = 0; col < C::tile_n; col += C::box_cols) {
      float values[2][32];
      ptx::tcgen05_load(values[0], from + col);
      ptx::tcgen05_load(values[1], from + col + 32);
      ptx::tcgen05_wait_load(values);
      if (col + C::box_cols == C::tile_n) {
        ptx::tcgen05_fence_before();  // orders the loads before the arrival
        __syncwarp();                 // the whole warp has read the accumulator
        if (lane == 0) ptx::mbarrier_arrive(accumulator.of(shared.accumulator_empty), 0);
      }

      if (lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();  // TMA has read this box
      store_row(boxes[next_box], lane, values);
      ptx::fence_proxy_async();  // threads have written, TMA will read
      __syncwarp();              // the box is complete
      if (lane == 0) {
        ptx::tma_store(p.c, tile_col + col, tile_row, ptx::shared_address(boxes[next_box]));
        ptx::bulk_commit_group();
      }
      next_box ^= 1;
    }
    if (lane == 0) tiles.advance();
    accumulator.advance();
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
  const ScheduledTiles<C> tiles{{ceil_div(p.m, C::tile_m), ceil_div(p.n, C::tile_n), shared.responses}};

  if (warp == 0) {
    if (ptx::elect_one()) produce<C>(shared, p, p.b, rank, rank * C::block_n, tiles);
  } else if (warp == 1) {
    if (rank == 0 && ptx::elect_one()) multiply<C>(shared, p, memory.address(), tiles);
  } else if (warp == 2 && C::schedule == Schedule::launch_control) {
    if (rank == 0 && ptx::elect_one()) schedule<C>(shared.responses);
  } else if (warp >= C::epilogue_first) {
    epilogue<C>(shared, p, rank, memory.address(), tiles);
  }
}

template <Schedule schedule>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  using C = Config<schedule>;
  auto* const kernel = gemm_kernel<C>;
  Operands operands{.m = p.m, .n = p.n, .tiles_k = ceil_div(p.k, C::block_k)};
  constexpr Swizzle swizzle = Swizzle::bytes128;
  cudaError_t error = ptx::make_tensor_map(&operands.a, p.a, p.m, p.k, C::block_m, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.b, p.b, p.k, p.n, C::block_k, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&operands.c, p.c, p.m, p.n, warp_size, C::box_cols, swizzle);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {C::ctas, 1, 1};
  cudaLaunchConfig_t config{};
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = ceil_div(p.m, C::tile_m) * ceil_div(p.n, C::tile_n);
  if constexpr (schedule == Schedule::persistent) {
    config.gridDim = C::ctas;
    int at_once = 0;
    error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
    if (error != cudaSuccess) return error;
    if (at_once < clusters) clusters = at_once;
  }
  config.gridDim = clusters * C::ctas;
  return cudaLaunchKernelEx(&config, kernel, operands);
}

Text rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

template <Schedule schedule>
Variant<Gemm> variant(const char* name, const char* what) {
  return {.name = name, .what = what, .unsupported = rows_of_vectors, .launch = launch<schedule>};
}

}  // namespace

Variants<Gemm> gemm() {
  return {variant<Schedule::one_tile>("two_ctas", "a CTA pair multiplies together, each with half of B"),
          variant<Schedule::persistent>(
              "persistent", "persistent CTA pairs: a tile is multiplied during the last one's epilogue"),
          variant<Schedule::launch_control>(
              "launch_control", "cluster launch control: clusters take over tiles that have not started")};
}

}  // namespace ladder::rung_09
