// The transposed product, Cᵀ = Bᵀ·Aᵀ. B's columns fill the 64 rows of an MMA, and A's rows its n, which may be any
// multiple of 8: a tile is as high as the problem, down to 8 rows, and a few rows do not cost the MMAs of 64. The
// tensor core transposes both as it reads them.
//
// Where tiles do not fill the last wave, all CTAs get the same number of k-tiles instead, wherever a tile begins or
// ends (stream-K): who has the beginning of a tile adds what others have of it, through global memory. Small tiles
// are rather split evenly within a cluster (split-K), whose CTAs add up through each other's shared memory.
//
// In the order of the data: Tiles, produce(), multiply(), combine() or finish(), store(), and the kernel.
#pragma once

#include <algorithm>

#include "08_warp_specialized/pipeline.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/global_order.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/wgmma_transposed.cuh"

namespace ladder::rung_08::swapped {

struct Design {
  int rows;           // of A, and of a tile of C: a multiple of 8, at most 256
  int consumers = 2;  // warpgroups, each with 64 columns of B
  int sharers = 1;    // CTAs of a cluster, beside each other: each loads a part of A's rows for all
  int per_sm = 1;     // CTAs
  bool split = false;  // in a cluster, instead of streamed
  int group = 8;      // rows of tiles that neighbouring clusters share
};

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int block_m = d.rows, block_n = d.consumers * mma_m, block_k = 64;
  static constexpr int consumers = d.consumers, sharers = d.sharers;
  static constexpr int warps = consumers * 4, threads = (warps + 1) * warp_size;  // the last one loads
  static constexpr int row = 128;                                                 // bytes of a box's row
  static constexpr int box_b = block_k * row, tile_b = consumers * box_b, tile_a = block_m * row;
  static constexpr int stage_bytes = tile_a + tile_b;
  static constexpr int groups = block_m / 8;  // of 8 rows of A: a thread has 4 accumulators of each
  // A warp stores its 16 columns of so many rows at once.
  static constexpr int box_rows = block_m % 32 == 0 && d.per_sm == 1 ? 32 : block_m % 16 == 0 ? 16 : 8;
  static constexpr int box_c = box_rows * 32;
  // An SM has 228 KiB, of which each CTA takes one for itself. The pattern of the swizzle is aligned to another.
  static constexpr int budget = 228 * 1024 / d.per_sm - 2048 - warps * 2 * box_c - 512;
  static constexpr int stages = std::min(budget / stage_bytes, 16);
  static constexpr int share_a = block_m / sharers;
  // What a CTA receives from its peers.
  static constexpr int parts_bytes(int parts) {
    return (parts - 1) * ceil_div(groups, parts) * warps * warp_size * int(sizeof(float4));
  }
  static constexpr bool takes(int parts) { return parts_bytes(parts) <= stages * stage_bytes; }

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // and afterwards the parts of the peers
    alignas(256) unsigned char boxes[warps][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier multiplied;  // all CTAs of the cluster have multiplied their part: their buffers are free
    ptx::Mbarrier combined;    // the peers' parts have arrived
  };
  static_assert(block_m % (8 * sharers) == 0, "the swizzle's pattern has 8 rows");
  static_assert(stages >= 2, "one stage is multiplied, one loaded");
};

struct Operands {
  CUtensorMap a, b, c;
  int m, n, k;
  int parts;         // CTAs of a cluster that have the same tile, each a part of k
  int streamed;      // tiles of clusters that are cut where a CTA's share ends
  float4* partials;  // [CTA][group][thread], of tiles that another CTA began
  unsigned* ready;   // [CTA][warp]: 1 from when they are written until they are read
};

// What a CTA computes: tiles, of which it may have a part of k. The first `streamed` tiles of clusters are shared out
// by k-tiles; the others come whole.
template <class C>
class Tiles {
 public:
  __device__ Tiles(const Operands& p, int rank_of_cta)
      : tiles_m_(ceil_div(p.m, C::block_m)),
        clusters_n_(ceil_div(p.n, C::block_n * C::sharers)),
        tiles_k_(ceil_div(p.k, C::block_k)),
        rank_(C::sharers > 1 ? rank_of_cta : 0),
        streamed_(p.streamed) {
    if constexpr (C::design.split) {
      index_ = int(blockIdx.x) / p.parts;
      first_ = int(1ll * tiles_k_ * rank_of_cta / p.parts);
      end_ = int(1ll * tiles_k_ * (rank_of_cta + 1) / p.parts);
    } else {
      cluster_ = int(blockIdx.x) / C::sharers;
      clusters_ = int(gridDim.x) / C::sharers;
      next_ = begin_of(cluster_);
      share_end_ = begin_of(cluster_ + 1);
      advance();
      return;
    }
    find();
  }
  __device__ bool valid() const { return index_ < tiles_m_ * clusters_n_; }
  __device__ void advance() {
    if constexpr (C::design.split) {
      index_ = tiles_m_ * clusters_n_;
      return;
    } else if (next_ < share_end_) {
      index_ = int(next_ / tiles_k_);
      first_ = int(next_ % tiles_k_);
      end_ = int(min(1ll * tiles_k_, first_ + share_end_ - next_));
      next_ += end_ - first_;
    } else {
      if (whole_ < 0) whole_ = streamed_ + cluster_;
      index_ = whole_;
      whole_ += clusters_;
      first_ = 0;
      end_ = tiles_k_;
    }
    find();
  }
  __device__ int row() const { return row_; }  // of C, of the tile's first element
  __device__ int col() const { return col_; }
  __device__ int first() const { return first_; }  // k-tile
  __device__ int end() const { return end_; }
  __device__ bool begun_elsewhere() const { return first_ > 0; }
  // Whether this cluster has a later part of the tile.
  __device__ bool continued_by(int cluster) const {
    return cluster < clusters_ && begin_of(cluster) < 1ll * (index_ + 1) * tiles_k_;
  }
  __device__ bool complete() const { return first_ == 0 && end_ == tiles_k_; }
  __device__ int cluster() const { return cluster_; }

 private:
  // Of the streamed k-tiles, the first that is a cluster's.
  __device__ long long begin_of(int cluster) const { return 1ll * streamed_ * tiles_k_ * cluster / clusters_; }
  __device__ void find() {
    if (!valid()) return;
    const int per_group = C::design.group * clusters_n_, above = index_ / per_group * C::design.group;
    const int rows = min(tiles_m_ - above, C::design.group), i = index_ % per_group;
    row_ = (above + i % rows) * C::block_m;
    col_ = (i / rows * C::sharers + rank_) * C::block_n;
  }

  const int tiles_m_, clusters_n_, tiles_k_, rank_, streamed_;
  int cluster_ = 0, clusters_ = 1, whole_ = -1;
  long long next_ = 0, share_end_ = 0;
  int index_ = 0, row_ = 0, col_ = 0, first_ = 0, end_ = 0;
};

template <class C>
__device__ void produce(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank) {
  constexpr unsigned short all_ctas = (1 << C::sharers) - 1;
  Stage<C> stage;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = tiles.first(); t < tiles.end(); ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[stage.index]);
      const SharedAddress to_a = ptx::shared_address(shared.buffer[stage.index]), to_b = to_a + C::tile_a;
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      if (ptx::elect_one()) {
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
#pragma unroll
        for (int i = 0; i < C::consumers; ++i)
          ptx::tma_load(to_b + i * C::box_b, p.b, tiles.col() + i * mma_m, t * C::block_k, full);
        if constexpr (C::sharers == 1) {
          ptx::tma_load(to_a, p.a, t * C::block_k, tiles.row(), full);
        } else {
          const int from = rank * C::share_a;
          ptx::tma_load_multicast(to_a + from * C::row, p.a, t * C::block_k, tiles.row() + from, full, all_ctas);
        }
      }
      __syncwarp();
      stage.advance();
    }
  }
  // The peers' consumers arrive at this CTA's barriers until all of its stages are empty.
  if constexpr (C::sharers > 1) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      stage.advance();
    }
  }
}

template <class C>
using Accumulator = float[C::groups][4];

// By a warpgroup: its 64 columns of B, and all rows of A.
template <class C>
__device__ void multiply(Accumulator<C>& accumulator, typename C::Shared& shared, int warpgroup, int first, int end,
                         Stage<C>& stage) {
  const int lane = threadIdx.x % warp_size;
  auto release = [&](int read) {
    const SharedAddress empty = ptx::shared_address(&shared.empty[read]);
    if constexpr (C::sharers == 1) {
      if (lane == 0) ptx::mbarrier_arrive(empty);
    } else {
      if (lane < C::sharers) ptx::mbarrier_arrive(empty, lane);
    }
  };
  if constexpr (C::design.split) {  // a part may have no k-tile
#pragma unroll
    for (int i = 0; i < C::groups * 4; ++i) (&accumulator[0][0])[i] = 0;
  }
  int before = 0;
  for (int t = first; t < end; ++t) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.full[stage.index]), stage.parity);
    const SharedAddress from_a = ptx::shared_address(shared.buffer[stage.index]);
    const SharedAddress from_b = from_a + C::tile_a + warpgroup * C::box_b;
    const MatrixDescriptor columns(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
    const MatrixDescriptor rows(from_a, 0, 8 * C::row, Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k)
      ptx::wgmma_m64k16_transposed(accumulator, columns + k0 * C::row, rows + k0 * element,
                                   t > first || k0 > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
    if (t > first) release(before);
    before = stage.index;
    stage.advance();
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);
  if (first < end) release(before);
}

// Which groups of rows CTA `part` adds up and stores.
template <class C>
__device__ int first_group(int part, int parts) {
  return C::groups * part / parts;
}

// accumulator of a part of k -> of all of k, for the groups of rows that are this CTA's. Each CTA sends the others
// what is theirs, straight from its registers into their ring buffer, which is free when all have multiplied; they
// are added in the order of k, whichever arrives first. Who waits for what is sent to it cannot exit too early.
template <class C>
__device__ void combine(Accumulator<C>& accumulator, typename C::Shared& shared, int part, int parts) {
  const int lane = threadIdx.x % warp_size;
  const SharedAddress multiplied = ptx::shared_address(&shared.multiplied);
  const SharedAddress combined = ptx::shared_address(&shared.combined);
  if (lane < parts) ptx::mbarrier_arrive(multiplied, lane);
  ptx::mbarrier_wait(multiplied, 0);
  const int most = ceil_div(C::groups, parts);
  const int first = first_group<C>(part, parts), end = first_group<C>(part + 1, parts);
  auto* const received = reinterpret_cast<float4*>(shared.buffer);
  auto slot = [&](int from, int to, int group) {  // of the received, in CTA `to`
    const int peer = from < to ? from : from - 1;
    return (peer * most + group - first_group<C>(to, parts)) * C::warps * warp_size + int(threadIdx.x);
  };
#pragma unroll
  for (int g = 0; g < C::groups; ++g) {
    const int owner = ((g + 1) * parts - 1) / C::groups;
    if (owner != part)
      ptx::store_async(ptx::shared_address(&received[slot(part, owner, g)]), accumulator[g], combined, owner);
  }
  if (first == end) return;
  ptx::mbarrier_wait(combined, 0);
#pragma unroll
  for (int g = 0; g < C::groups; ++g) {
    if (g < first || g >= end) continue;
    float(&own)[4] = accumulator[g];
    float4 sum{};
    for (int from = 0; from < parts; ++from) {
      const float4 one = from == part ? make_float4(own[0], own[1], own[2], own[3])
                                            : received[slot(from, part, g)];
      sum = {sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w};
    }
    own[0] = sum.x, own[1] = sum.y, own[2] = sum.z, own[3] = sum.w;
  }
}

// Accumulators -> C, by a warp: its 16 columns, and the rows of groups `first` up to `end`, through two boxes of
// shared memory in turn. An accumulator's row is a column of C, so stmatrix transposes. TMA does not store what lies
// past the edges of C.
template <class C, int box_groups>
__device__ void store(const Accumulator<C>& accumulator, unsigned char (&boxes)[2][C::box_c], int& next_box,
                      const CUtensorMap& c, int row, int col, int first, int end) {
  const int lane = threadIdx.x % warp_size, row_of_lane = lane % 8, half = lane / 8 % 2;
#pragma unroll
  for (int g0 = 0; g0 < C::groups; g0 += box_groups) {
    if (g0 < first || g0 >= end) continue;
    const SharedAddress box = ptx::shared_address(boxes[next_box]);
    if (lane == 0) ptx::bulk_wait_group_read<1>();  // all copies but the newest, which is the other box's
    __syncwarp();
#pragma unroll
    for (int g = 0; g < box_groups; ++g) {
      const float(&from)[4] = accumulator[g0 + g];
      const __nv_bfloat162 left = __floats2bfloat162_rn(from[0], from[1]);
      const __nv_bfloat162 right = __floats2bfloat162_rn(from[2], from[3]);
      const unsigned both[2] = {reinterpret_cast<const unsigned&>(left), reinterpret_cast<const unsigned&>(right)};
      const int swizzled = half ^ row_of_lane / 4;  // over 32 bytes
      ptx::stmatrix_x2_trans(box + (g * 8 + row_of_lane) * 32 + swizzled * 16, both);
    }
    ptx::fence_proxy_async();
    __syncwarp();
    if (lane == 0) {
      ptx::tma_store(c, col, row + g0 * 8, box);
      ptx::bulk_commit_group();
    }
    next_box ^= 1;
  }
}

// This CTA's part of a tile that another began -> memory, by a warp.
template <class C>
__device__ void hand_over(const Accumulator<C>& accumulator, const Operands& p, int warp) {
  const int lane = threadIdx.x % warp_size;
  float4* const to = p.partials + std::size_t(blockIdx.x) * C::groups * C::warps * warp_size + threadIdx.x;
#pragma unroll
  for (int g = 0; g < C::groups; ++g) {
    const float(&one)[4] = accumulator[g];
    to[g * C::warps * warp_size] = make_float4(one[0], one[1], one[2], one[3]);
  }
  __syncwarp();
  if (lane == 0) ptx::signal_release(&p.ready[blockIdx.x * C::warps + warp], 1);
}

// accumulator of a tile's first k-tiles -> of all. Those who have the others began with them, and the one with the
// last k-tiles waits for nobody: so nobody waits in a circle, and as a rule not at all.
template <class C>
__device__ void finish(Accumulator<C>& accumulator, const Operands& p, const Tiles<C>& tiles, int rank, int warp) {
  const int lane = threadIdx.x % warp_size;
  for (int cluster = tiles.cluster() + 1; tiles.continued_by(cluster); ++cluster) {
    const int cta = cluster * C::sharers + rank;
    unsigned* const ready = &p.ready[cta * C::warps + warp];
    if (lane == 0) {
      while (ptx::load_acquire(ready) == 0) {
      }
      *ready = 0;  // for the next launch
    }
    __syncwarp();
    const float4* const from = p.partials + std::size_t(cta) * C::groups * C::warps * warp_size + threadIdx.x;
#pragma unroll
    for (int g = 0; g < C::groups; ++g) {
      const float4 one = from[g * C::warps * warp_size];
      float(&sum)[4] = accumulator[g];
      sum[0] += one.x, sum[1] += one.y, sum[2] += one.z, sum[3] += one.w;
    }
  }
}

template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank, int warp) {
  Stage<C> stage;
  int next_box = 0;
  for (; tiles.valid(); tiles.advance()) {
    Accumulator<C> accumulator;
    multiply<C>(accumulator, shared, warp / 4, tiles.first(), tiles.end(), stage);
    const int col = tiles.col() + warp * 16;
    if constexpr (C::design.split) {
      if (p.parts > 1) {
        combine<C>(accumulator, shared, rank, p.parts);
        store<C, 1>(accumulator, shared.boxes[warp], next_box, p.c, tiles.row(), col,
                    first_group<C>(rank, p.parts), first_group<C>(rank + 1, p.parts));
        continue;
      }
    } else {
      if (tiles.begun_elsewhere()) {
        hand_over<C>(accumulator, p, warp);
        continue;
      }
      if (!tiles.complete()) finish<C>(accumulator, p, tiles, rank, warp);
    }
    store<C, C::box_rows / 8>(accumulator, shared.boxes[warp], next_box, p.c, tiles.row(), col, 0, C::groups);
  }
  if (threadIdx.x % warp_size == 0) ptx::bulk_wait_group_read<0>();  // shared memory must outlive the reads
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::design.per_sm) gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp = __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);
  const int cluster = C::design.split ? p.parts : C::sharers, rank = cluster > 1 ? ptx::cluster_rank() : 0;
  const Tiles<C> tiles(p, rank);

  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(p.a);
    ptx::prefetch_tensor_map(p.b);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::sharers * C::warps);
    }
    if constexpr (C::design.split) {
      ptx::mbarrier_init(ptx::shared_address(&shared.multiplied), p.parts * C::warps);
      ptx::mbarrier_init(ptx::shared_address(&shared.combined), 1);
      const int own = first_group<C>(rank + 1, p.parts) - first_group<C>(rank, p.parts);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&shared.combined),
                                        (p.parts - 1) * own * C::warps * warp_size * int(sizeof(float4)));
    }
    ptx::fence_mbarrier_init();
  }
  // The barriers of all CTAs of the cluster are initialised before a CTA arrives or sends to another.
  if (cluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync_relaxed();
  }
  ptx::let_next_grid_start();
  ptx::wait_for_previous_grid();

  if (warp == C::warps) {
    produce<C>(shared, p, tiles, rank);
  } else {
    consume<C>(shared, p, tiles, rank, warp);
  }
}

// parts: of a design that splits. `waves`: of one that streams, how many last waves of tiles are shared out by k-tiles, 0
// for none.
template <Design d>
cudaError_t launch(const Gemm& gemm, int parts, int waves, void* workspace, cudaStream_t stream, bool early_start) {
  using C = Config<d>;
  if (!C::takes(parts)) return cudaErrorInvalidValue;
  Operands p{};
  p.m = gemm.m;
  p.n = gemm.n;
  p.k = gemm.k;
  p.parts = parts;
  p.ready = static_cast<unsigned*>(workspace);
  p.partials = reinterpret_cast<float4*>(static_cast<char*>(workspace) + 16384);
  auto* kernel = gemm_kernel<C>;
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  static_assert((shared_bytes + 1024) * d.per_sm <= 228 * 1024, "what an SM has");
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.a, gemm.a, p.m, p.k, C::share_a, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.b, gemm.b, p.k, p.n, C::block_k, mma_m, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.c, gemm.c, p.m, p.n, parts > 1 ? 8 : C::box_rows, 16, Swizzle::bytes32);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  const int cluster = d.split ? parts : d.sharers;
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {unsigned(cluster), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(cluster);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = early_start ? 2 : 1;
  const long long tiles = 1ll * ceil_div(p.m, C::block_m) * ceil_div(p.n, C::block_n * d.sharers);
  long long clusters = tiles;
  if (!d.split) {
    int at_once = 0;  // not always SMs / cluster: the CTAs of a cluster share a GPC
    error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
    if (error != cudaSuccess) return error;
    clusters = std::min<long long>(at_once, tiles);
    if (waves > 0 && tiles % at_once != 0) {
      const int tiles_k = ceil_div(p.k, C::block_k);
      p.streamed = int(tiles % at_once);
      if (tiles > at_once && (waves > 1 || p.streamed * tiles_k < 4 * at_once)) p.streamed += at_once;
      clusters = std::min<long long>(at_once, std::max<long long>(tiles, tiles * tiles_k / 4));
    }
  }
  config.gridDim = unsigned(clusters * cluster);
  return cudaLaunchKernelEx(&config, kernel, p);
}

}  // namespace ladder::rung_08::swapped
