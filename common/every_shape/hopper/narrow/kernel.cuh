// The kernel for every width, and its launch. In the order of the data: design.cuh, what there is to choose;
// transposed/tiles.cuh, which tiles a CTA computes; here produce(), global -> shared; multiply(), shared ->
// accumulators; store(), accumulators -> C.
#pragma once

#include "common/every_shape/hopper/narrow/design.cuh"
#include "common/ptx/barrier.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/wgmma_every_n.cuh"

namespace ladder::every_shape::narrow {

using transposed::Operands;
using transposed::Peers;
using transposed::Tiles;

// By a warp. It runs ahead of the consumers, from one tile to the next as well, until every stage is full.
// What lies past the edges of A and B arrives as zeros, which count as bytes, too.
template <class C, int cluster_n, int cluster_m, class Meet>
__device__ void produce(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank,
                        const Meet& meet) {
  constexpr Cluster cluster{cluster_n, cluster_m};
  const int row_in_cluster = rank / cluster_n, col_in_cluster = rank % cluster_n;
  const auto beside = static_cast<unsigned short>(cluster.beside() << row_in_cluster * cluster_n);
  const auto below = static_cast<unsigned short>(cluster.below() << col_in_cluster);
  // Rows that this CTA loads for all.
  const int from_a = col_in_cluster * (C::block_m / cluster_n),
            from_b = row_in_cluster * (C::block_k / cluster_m);
  Stage<C> stage;
  meet();
  for (; tiles.valid(); tiles.advance()) {
#pragma unroll 1
    for (int t = 0; t < p.tiles_k; ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[stage.index]);
      const SharedAddress to_a = ptx::shared_address(shared.buffer[stage.index]), to_b = to_a + C::tile_a;
      // Until the consumers of all CTAs have read the stage. Parity 1 first: of a new barrier that phase
      // counts as complete, and every stage is empty.
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      if (ptx::elect_one()) {
        // The peers' bytes are expected, too. They may arrive first: the phase cannot complete before this
        // thread's arrival.
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
#pragma unroll
        for (int i = 0; i < C::boxes; ++i) {
          const SharedAddress to = to_b + i * C::box_b + from_b * C::row_b;
          const int x = tiles.col() + i * C::box_cols, y = t * C::block_k + from_b;
          if constexpr (cluster_m == 1) {
            ptx::tma_load(to, p.b, x, y, full);
          } else {
            ptx::tma_load_multicast(to, p.b, x, y, full, below);
          }
        }
        const SharedAddress to = to_a + from_a * C::row_a;
        if constexpr (cluster_n == 1) {
          ptx::tma_load(to, p.a, t * C::block_k, tiles.row(), full);
        } else {
          ptx::tma_load_multicast(to, p.a, t * C::block_k, tiles.row() + from_a, full, beside);
        }
      }
      __syncwarp();
      stage.advance();
    }
  }
  // The peers' consumers arrive at this CTA's barriers until all of its stages are empty.
  if constexpr (cluster.size() > 1) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      stage.advance();
    }
  }
}

template <class C>
using Accumulator = float[C::block_n / 8][4];

// 16 of k: one wgmma, or two where the tile is wider than one.
template <class C>
__device__ void multiply_step(Accumulator<C>& accumulator, MatrixDescriptor a, MatrixDescriptor b, bool add) {
  constexpr int first = C::first_mma / 8, rest = C::block_n / 8 - first;
  ptx::wgmma_m64k16_every_n(reinterpret_cast<float(&)[first][4]>(accumulator[0]), a, b, add);
  if constexpr (rest > 0)
    ptx::wgmma_m64k16_every_n(reinterpret_cast<float(&)[rest][4]>(accumulator[first]), a,
                              b + C::first_mma / C::box_cols * C::box_b, add);
}

// By a warpgroup: rows of a tile from row `first` on, and all columns.
template <class C>
__device__ void multiply(Accumulator<C>& accumulator, typename C::Shared& shared, Peers peers, int first,
                         int tiles_k, Stage<C>& stage) {
  // The MMAs of a small tile take hardly longer than the loop around them. So its addresses are worked out
  // here, and kept from the compiler, which would work them out again in each pass.
  const SharedAddress buffer = ptx::keep(ptx::shared_address(shared.buffer[0]));
  const SharedAddress full = ptx::keep(ptx::shared_address(&shared.full[0]));
  const MatrixDescriptor a_0(buffer + first * C::row_a, 0, 8 * C::row_a, Swizzle::bytes128);
  const MatrixDescriptor b_0(buffer + C::tile_a, C::box_b, 8 * C::row_b, Swizzle(C::row_b));
  // A warpgroup's MMAs are complete for all of its warps at once, so a single one arrives at a CTA that loads
  // into the stage: each warp at another one.
  const int filler = threadIdx.x % warp_size * 4 + threadIdx.x / warp_size % 4;
  const bool releases = filler < peers.fillers();
  SharedAddress empty = ptx::shared_address(&shared.empty[0]);
  empty = ptx::keep(ptx::cluster_address(empty, peers.filler(releases ? filler : 0)));
  auto release = [&](int stage_read) {
    if (releases) ptx::mbarrier_arrive_in_cluster(empty + stage_read * int(sizeof(ptx::Mbarrier)));
  };
  int before = 0;
#pragma unroll(C::block_n <= 32 ? 4 : 1)
  for (int t = 0; t < tiles_k; ++t) {
    const MatrixDescriptor a = a_0 + stage.index * C::stage_bytes, b = b_0 + stage.index * C::stage_bytes;
    ptx::mbarrier_wait(full + stage.index * int(sizeof(ptx::Mbarrier)), stage.parity);
    ptx::wgmma_fence();
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k) {
      multiply_step<C>(accumulator, a + k0 * element, b + k0 * C::row_b, t > 0 || k0 > 0);
    }
    ptx::wgmma_commit_group();
    // These MMAs run on while the warpgroup waits for those of the k-tile before, whose stage then is read.
    ptx::wgmma_wait_group<1>();
    if (t > 0) release(before);
    before = stage.index;
    stage.advance();
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);
  release(before);
}

// By a warp: 16 rows from row0 on, and columns from column `from` of the tile on, through its box of shared
// memory, in stores of 16 bytes along C's rows.
template <class C, int from = 0>
__device__ void store(const float (&accumulator)[C::block_n / 8][4], unsigned char (&box)[C::box_c],
                      const Operands& p, int row0, int col0) {
  constexpr int chunk = 16, chunk_cols = chunk / element;  // n is a multiple of chunk_cols
  constexpr int left = C::block_n - from, cols = left < C::store_cols ? left : C::store_cols;
  const int lane = threadIdx.x % warp_size;
  const SharedAddress to = ptx::shared_address(box) + lane % 16 * C::pitch_c + lane / 16 * chunk;
#pragma unroll
  for (int j = 0; j < cols; j += 16) {
    unsigned both[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float(&x)[4] = accumulator[(from + j) / 8 + q / 2];
      const __nv_bfloat162 pair = __floats2bfloat162_rn(x[q % 2 * 2], x[q % 2 * 2 + 1]);
      both[q] = reinterpret_cast<const unsigned&>(pair);
    }
    ptx::stmatrix_x4(to + j * element, both);
  }
  __syncwarp();
  constexpr int rows = warp_size / C::row_lanes;  // at once
  const int row = lane / C::row_lanes, in_box = lane % C::row_lanes * chunk_cols, col = col0 + from + in_box;
  if (in_box < cols && col < p.n) {
    // All are read before the first is stored, or each store would wait for a read of its own.
    uint4 chunks[16 / rows];
#pragma unroll
    for (int i = 0; i < 16 / rows; ++i)
      chunks[i] = *reinterpret_cast<const uint4*>(&box[(row + i * rows) * C::pitch_c + in_box * element]);
#pragma unroll
    for (int i = 0; i < 16 / rows; ++i) {
      const int y = row0 + row + i * rows;
      if (y < p.m) *reinterpret_cast<uint4*>(p.to + std::size_t(y) * p.n + col) = chunks[i];
    }
  }
  __syncwarp();  // the box may be written again
  if constexpr (from + cols < C::block_n) store<C, from + cols>(accumulator, box, p, row0, col0);
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::design.per_sm)
    gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const int cluster = p.cluster.size(), rank = cluster > 1 ? ptx::cluster_rank() : 0;

  // As in transposed/kernel.cuh: a warp of the consumers initialises the barriers, while the producer works
  // out what it can, and then all wait for each other, and for the peers.
  auto meet = [&] {
    if (cluster > 1) {
      ptx::cluster_sync_relaxed();
    } else {
      ptx::barrier_sync(15, (C::consumer_warps + 1) * warp_size);
    }
    ptx::let_next_grid_start();
    ptx::wait_for_previous_grid();  // it may have written A and B, and read C
  };
  if (warp >= C::consumer_warps) {
    if constexpr (C::move_registers) ptx::give_back_registers<24>();
    if (warp == C::consumer_warps) {
      if (ptx::elect_one()) {
        ptx::prefetch_tensor_map(p.b);
        ptx::prefetch_tensor_map(p.a);
      }
      __syncwarp();
      const Tiles<C> tiles(p);
      transposed::in_cluster(p.cluster,
                             [&]<int n, int m> { produce<C, n, m>(shared, p, tiles, rank, meet); });
    } else if (cluster > 1) {
      ptx::cluster_arrive_relaxed();
    }
    return;
  }
  if (warp == 0) {
    if (ptx::elect_one()) {
      for (int s = 0; s < C::stages; ++s) {
        ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
        // Until it is empty: the arrivals of the consumers in all the CTAs that this one loads for.
        ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]),
                           (p.cluster.n + p.cluster.m - 1) * C::consumers);
      }
      ptx::fence_mbarrier_init();
    }
    __syncwarp();
  }
  if constexpr (C::move_registers) ptx::take_registers<240>();
  meet();
  Stage<C> stage;
  for (Tiles<C> tiles(p); tiles.valid(); tiles.advance()) {
    Accumulator<C> accumulator;
    multiply<C>(accumulator, shared, Peers{p.cluster, rank}, warp / 4 * mma_m, p.tiles_k, stage);
    store<C>(accumulator, shared.boxes[warp], p, tiles.row() + warp * 16, tiles.col());
  }
}

template <Design d>
cudaError_t launch(const Gemm& gemm, Cluster cluster, cudaStream_t stream, bool early_start) {
  using C = Config<d>;
  Operands p{};  // whole tiles, whose k is not divided
  p.to = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  p.cluster = cluster;
  p.clusters_m = ceil_div(p.m, C::block_m * cluster.m);
  p.clusters_n = ceil_div(p.n, C::block_n * cluster.n);
  p.tiles_k = ceil_div(gemm.k, C::block_k);
  auto* kernel = gemm_kernel<C>;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.a, gemm.a, p.m, gemm.k, C::block_m / cluster.n, C::block_k,
                                 Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.b, gemm.b, gemm.k, p.n, C::block_k / cluster.m, C::box_cols,
                                 Swizzle(C::row_b));
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {unsigned(cluster.n), unsigned(cluster.m), 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(cluster.n, cluster.m);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = early_start ? 2 : 1;
  int at_once = 0;  // not always SMs / cluster: the CTAs of a cluster share a GPC
  error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error == cudaSuccess && at_once == 0) error = cudaErrorInvalidConfiguration;
  if (error != cudaSuccess) return error;
  const int clusters = int(std::min<long long>(at_once, 1ll * p.clusters_m * p.clusters_n));
  transposed::order<C>(p, at_once, clusters);
  config.gridDim.z = unsigned(clusters);
  if (cluster.size() == 1) {
    ++config.attrs;
    --config.numAttrs;
  }
  return cudaLaunchKernelEx(&config, kernel, p);
}

}  // namespace ladder::every_shape::narrow
