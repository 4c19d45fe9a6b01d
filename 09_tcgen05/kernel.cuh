// Blackwell's tensor cores. What was a warpgroup's work is now one thread's: it hands the tensor core two
// matrices in shared memory, and the sums stay in tensor memory, where nobody needs registers for them. So
// there is room for the sums of two tiles, and while one is stored, the next is multiplied. Two CTAs multiply
// together, each with half of B. And clusters take over the tiles of those that have not started.
//
// What there is to choose is design.cuh, which tiles a cluster works on tiles.cuh. From top to bottom: load()
// and multiply(), global -> shared -> sums in tensor memory; drain(), sums -> C; the kernel, which hands its
// warps out to them; launch().
//
// Who waits for whom, all through mbarriers in shared memory:
//   load      empty of a slot of the ring: the MMAs that read it are complete (tcgen05.commit, in both CTAs)
//   multiply  full of a slot, in the leader alone: the bytes of both CTAs have arrived (TMA)
//             sums_empty: the epilogue warps of both CTAs have read the sums that are written next
//   drain     sums_full: the MMAs of a tile are complete (tcgen05.commit, in both CTAs)
//   schedule, and all of them for the next tile: tiles.cuh
#pragma once

#include "09_tcgen05/design.cuh"
#include "common/ptx/elect.cuh"
#include "common/ptx/tcgen05.cuh"

namespace ladder::rung_09 {

template <class C>
__device__ void load_box(SharedAddress to, const CUtensorMap& map, int x, int y, SharedAddress barrier) {
  if constexpr (C::ctas == 1) {
    ptx::tma_load(to, map, x, y, barrier);
  } else {
    ptx::tma_load_of_pair(to, map, x, y, barrier);
  }
}

// Global -> shared: a CTA's part of k-tile t of a tile of C. The leader's barrier counts the bytes of both.
template <class C>
__device__ void load_stage(typename C::Shared& shared, const Operands& p, Pair<C> pair, Slot<C::stages> slot,
                           int tile_row, int tile_col, int t) {
  SharedAddress full = ptx::shared_address(&shared.full[slot.index]);
  if constexpr (C::ctas == 2) full = ptx::cluster_address(full, 0);
  const SharedAddress to_a = ptx::shared_address(shared.ring[slot.index]), to_b = to_a + C::tile_a;
  // Parity 1 first: the phase before the first is complete, the slots are free.
  ptx::mbarrier_wait(ptx::shared_address(&shared.empty[slot.index]), slot.parity ^ 1);
  // The peer's bytes may arrive before this: its slot is free only after the last phase was complete, so they
  // count for this one, which waits for the arrival.
  if (pair.leader())
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&shared.full[slot.index]),
                                      C::loaded_bytes * C::ctas);
  // 4-bit elements are loaded as bytes.
  const int k = t * C::block_k, x = C::precision == Precision::nvfp4 ? k / 2 : k;
  const int m = tile_row + pair.rank * C::cta_m, n = tile_col + pair.rank * C::block_n;
  load_box<C>(to_a, p.a, x, m, full);
  if constexpr (C::major_b == Major::k) {
    load_box<C>(to_b, p.b, x, n, full);
  } else {
#pragma unroll
    for (int box = 0; box < C::block_n / C::box_n; ++box)
      load_box<C>(to_b + box * C::box_b, p.b, n + box * C::box_n, k, full);
  }
  if constexpr (C::scaled) {
    const SharedAddress to_scales = to_b + C::tile_b;
    const int word = t * C::tiles_k * C::scale_tile / 8;
    load_box<C>(to_scales, p.scales_a, word, m / 128, full);
    load_box<C>(to_scales + C::scales_a, p.scales_b, word, tile_col / 128, full);
  }
}

// Shared -> sums: a k-tile, by the leader's one thread, for both CTAs. The slot is free in both when it is
// multiplied.
template <class C>
__device__ void multiply_stage(typename C::Shared& shared, Slot<C::stages> slot, TensorAddress sums,
                               TensorAddress scales, bool first) {
  ptx::mbarrier_wait(ptx::shared_address(&shared.full[slot.index]), slot.parity);
  ptx::tcgen05_fence_after();
  const SharedAddress from_a = ptx::shared_address(shared.ring[slot.index]), from_b = from_a + C::tile_a;
  const SharedMatrix a(from_a, 0, 8 * row, Swizzle::bytes128);
  const SharedMatrix b(from_b, C::major_b == Major::mn ? C::box_b : 0, 8 * row, Swizzle::bytes128);
  if constexpr (C::scaled) {
    // Copies are ordered before the MMAs that follow, of the same thread.
    const SharedAddress from = from_b + C::tile_b;
#pragma unroll
    for (int i = 0; i < (C::scales_a + C::scales_b) / C::scale_tile; ++i) {
      // Tiles lie row of tiles by row of tiles; an MMA's must be neighbours in tensor memory.
      const int tile_row = i / C::tiles_k, tile_k = i % C::tiles_k;
      const int column = tile_row == 0 ? tile_k : C::tiles_k + tile_k * (C::tile_n / 128) + tile_row - 1;
      ptx::tcgen05_copy_scales<C::ctas>(scales + column * C::scale_columns, from + i * C::scale_tile);
    }
  }
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
      ptx::tcgen05_mma<C::ctas, C::kind>(sums, a + step * 32, b + step * C::step_b, what, scales_a, scales_b,
                                         add);
    } else {
      ptx::tcgen05_mma<C::ctas, C::kind>(sums, a + step * 32, b + step * C::step_b, C::Mma::bits, add);
    }
  }
  ptx::tcgen05_commit<C::ctas>(ptx::shared_address(&shared.empty[slot.index]), Pair<C>::both);
}

// A CTA's barriers must stay until the commits have arrived at them for the last time: until all slots, this
// one being the next, are free.
template <class C>
__device__ void wait_until_empty(typename C::Shared& shared, Slot<C::stages> slot) {
  for (int s = 0; s < C::stages; ++s, slot.advance())
    ptx::mbarrier_wait(ptx::shared_address(&shared.empty[slot.index]), slot.parity ^ 1);
}

// Global -> shared, by one thread of each CTA. It runs ahead of the MMAs, also from tile to tile, as far as
// the ring allows.
template <class C>
__device__ void load(typename C::Shared& shared, const Operands& p, Pair<C> pair, Tiles<C> tiles) {
  Slot<C::stages> slot;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = 0; t < p.k; ++t, slot.advance())
      load_stage<C>(shared, p, pair, slot, tiles.row(), tiles.col(), t);
  }
  wait_until_empty<C>(shared, slot);
}

// Shared -> sums, by one thread of the leader.
template <class C>
__device__ void multiply(typename C::Shared& shared, const Operands& p, TensorAddress memory,
                         Tiles<C> tiles) {
  Slot<C::stages> slot;
  Slot<C::accumulators> sums;
  Slot<C::releases> released;
  Slot<C::scale_sets> scales;
  Slot<C::stages> reads_scales;  // of the ring: the k-tile whose scales are overwritten next
  int multiplied = 0;            // k-tiles, until there are scale_sets
  for (; tiles.valid(); tiles.advance(), sums.advance(), released.advance()) {
    // Parity 1 first: there is nothing to read.
    ptx::mbarrier_wait(ptx::shared_address(&shared.sums_empty[released.index]), released.parity ^ 1);
    ptx::tcgen05_fence_after();
    for (int t = 0; t < p.k; ++t, slot.advance(), scales.advance()) {
      // Nothing orders a copy after an MMA that reads what it overwrites: wait for the MMA. Where there is a
      // set for each stage, `full` says as much.
      if constexpr (C::scaled && C::scale_sets < C::stages) {
        if (multiplied == C::scale_sets) {
          ptx::mbarrier_wait(ptx::shared_address(&shared.empty[reads_scales.index]), reads_scales.parity);
          reads_scales.advance();
        } else {
          ++multiplied;
        }
      }
      multiply_stage<C>(shared, slot, memory + sums.index * C::sums_step,
                        memory + C::first_scale + scales.index * C::stage_scale_columns, t == 0);
    }
    ptx::tcgen05_commit<C::ctas>(ptx::shared_address(&shared.sums_full[sums.index]), Pair<C>::both);
  }
}

// Both by one thread, a tile: it loads as far ahead as the ring allows, multiplies, and loads again where the
// MMA before has freed a slot: with one stage it is the one just issued, and nothing overlaps.
template <class C>
__device__ void load_and_multiply(typename C::Shared& shared, const Operands& p, Pair<C> pair,
                                  TensorAddress memory, Tiles<C> tiles) {
  constexpr int behind = C::stages > 1;
  Slot<C::stages> load_slot, slot;
  auto load_next = [&](int t) {
    if (t < p.k) load_stage<C>(shared, p, pair, load_slot, tiles.row(), tiles.col(), t);
    load_slot.advance();
  };
  for (int t = 0; t < C::stages; ++t) load_next(t);
  for (int t = 0; t < p.k; ++t, slot.advance()) {
    multiply_stage<C>(shared, slot, memory, memory, t == 0);
    if (t >= behind) load_next(t - behind + C::stages);
  }
  ptx::tcgen05_commit<C::ctas>(ptx::shared_address(&shared.sums_full[0]), Pair<C>::both);
  wait_until_empty<C>(shared, slot);
}

// Sums -> shared -> C, by four warps. A warp reaches 32 lanes of tensor memory, 32 rows of the tile, one for
// each thread. It stores them 64 columns at a time, through two buffers in turn: while TMA reads one, the
// other is filled. Nobody waits for the last ones before the next tile.
template <class C>
__device__ void drain(typename C::Shared& shared, const Operands& p, Pair<C> pair, TensorAddress memory,
                      Tiles<C> tiles) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % 4;
  auto(&buffers)[2][C::box_c] = shared.c[warp];
  Slot<C::accumulators> sums;
  Slot<C::releases> released;
  int buffer = 0;
  auto broadcast = [](int value) { return __shfl_sync(~0u, value, 0); };
  while (broadcast(tiles.valid())) {
    const int tile_row = broadcast(tiles.row()) + pair.rank * C::cta_m + warp * warp_size;
    const int tile_col = broadcast(tiles.col());
    const float scale = C::design.scale_rows ? row_scale(p, tile_row + lane) : 1;
    ptx::mbarrier_wait(ptx::shared_address(&shared.sums_full[sums.index]), sums.parity);
    ptx::tcgen05_fence_after();
    const TensorAddress from = memory + (warp * warp_size << 16) + sums.index * C::sums_step;
    // The half that the next tile overwrites comes first: of the lower sums the upper half.
    const int first_box = C::scaled && sums.index == 0 ? C::boxes_c / 2 : 0;
    for (int i = 0; i < C::boxes_c; ++i) {
      const int box = (i + first_box) % C::boxes_c, col = box * row / 2;
      float values[2][32];
      ptx::tcgen05_load(values[0], from + col);
      ptx::tcgen05_load(values[1], from + col + 32);
      ptx::tcgen05_wait_load(values);
      if (i + 1 == C::boxes_before_release) {
        ptx::tcgen05_fence_before();
        __syncwarp();  // the whole warp has read
        if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.sums_empty[released.index]), 0);
      }

      const SharedAddress to = ptx::shared_address(buffers[buffer]);
      if (lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();  // the buffer is free
#pragma unroll
      for (int chunk = 0; chunk < 8; ++chunk) {
        uint4 bits;
        unsigned* const words = &bits.x;
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          const int j = chunk * 8 + w * 2;
          const __nv_bfloat162 pair_of_sums =
              __floats2bfloat162_rn(values[j / 32][j % 32] * scale, values[j / 32][j % 32 + 1] * scale);
          words[w] = reinterpret_cast<const unsigned&>(pair_of_sums);
        }
        *reinterpret_cast<uint4*>(&buffers[buffer][lane * row + (chunk ^ lane % 8) * 16]) = bits;
      }
      ptx::fence_proxy_async();
      __syncwarp();  // the box is complete
      if (lane == 0) {
        ptx::tma_store(p.c, tile_col + col, tile_row, to);
        ptx::bulk_commit_group();
      }
      buffer ^= 1;
    }
    if (lane == 0) tiles.advance();
    sums.advance();
    released.advance();
  }
  if (lane == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp =
      __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);  // the compiler shall know it is the same for all
  const Pair<C> pair{C::ctas == 1 ? 0 : ptx::cluster_rank()};

  if (warp == C::epilogue_first && ptx::elect_one()) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(p.b);
    ptx::prefetch_tensor_map(p.c);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), 1);
    }
    for (auto& full : shared.sums_full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& empty : shared.sums_empty)
      ptx::mbarrier_init(ptx::shared_address(&empty), C::epilogue_warps * C::ctas);
    for (auto& full : shared.responses.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    for (auto& empty : shared.responses.empty) {
      // Those who load and drain in every CTA, and the one who multiplies.
      ptx::mbarrier_init(ptx::shared_address(&empty), (1 + C::epilogue_warps) * C::ctas + 1);
    }
    ptx::fence_mbarrier_init();
  }
  // Its barrier is also the one after which all barriers are there, the peer's included.
  const ptx::TensorMemory<C::ctas, C::columns> memory(shared.tensor_memory);
  const Tiles<C> tiles(ceil_div(p.m, C::tile_m), ceil_div(p.n, C::tile_n), shared.responses);

  if (warp == 0) {
    if (ptx::elect_one()) {
      if constexpr (C::design.specialized) {
        load<C>(shared, p, pair, tiles);
      } else {
        load_and_multiply<C>(shared, p, pair, memory.address(), tiles);
      }
    }
  } else if (warp == 1) {
    if (C::design.specialized && pair.leader() && ptx::elect_one())
      multiply<C>(shared, p, memory.address(), tiles);
  } else if (warp == 2) {
    if (C::schedule == Schedule::cancel && pair.leader() && ptx::elect_one()) schedule<C>(shared.responses);
  } else if (warp >= C::epilogue_first) {
    drain<C>(shared, p, pair, memory.address(), tiles);
  }
}

template <class C>
cudaError_t make_maps(Operands* p, const Gemm& gemm) {
  cudaError_t error;
  if constexpr (C::precision == Precision::bf16) {
    error = ptx::make_tensor_map(&p->a, gemm.a, gemm.m, gemm.k, C::cta_m, C::block_k, Swizzle::bytes128);
    if (error == cudaSuccess)
      error = ptx::make_tensor_map(&p->b, gemm.b, gemm.k, gemm.n, C::block_k, C::box_n, Swizzle::bytes128);
  } else {
    const Workspace w(C::precision, gemm);
    const int row_bytes = gemm.k * C::layout.bits / 8;
    error = ptx::make_tensor_map(&p->a, w.a_elements, gemm.m, row_bytes, C::cta_m, row, Swizzle::bytes128,
                                 w.a.pitch());
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
  }
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p->c, gemm.c, gemm.m, gemm.n, warp_size, row / 2, Swizzle::bytes128);
  return error;
}

template <Design d>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream, const RowSquares& squares = {}) {
  using C = Config<d>;
  Operands p{};
  p.m = gemm.m;
  p.n = gemm.n;
  p.k = ceil_div(gemm.k, C::block_k);
  p.squares = squares;
  cudaError_t error = make_maps<C>(&p, gemm);
  if (error == cudaSuccess)
    error =
        cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
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
  int clusters = ceil_div(gemm.m, C::tile_m) * ceil_div(gemm.n, C::tile_n);
  if constexpr (d.schedule == Schedule::persistent) {
    config.gridDim = C::ctas;
    int at_once = 0;
    error = cudaOccupancyMaxActiveClusters(&at_once, gemm_kernel<C>, &config);
    if (error != cudaSuccess) return error;
    if (at_once < clusters) clusters = at_once;
  }
  config.gridDim = clusters * C::ctas;
  return cudaLaunchKernelEx(&config, gemm_kernel<C>, p);
}

}  // namespace ladder::rung_09
