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
#include <cmath>

#include "08_warp_specialized/pipeline.cuh"
#include "common/ptx/barrier.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/global_order.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/wgmma_transposed.cuh"

namespace ladder::rung_08::swapped {

struct Design {
  int rows;                // of A, and of a tile of C: a multiple of 8, at most 256
  int consumers = 2;       // warpgroups
  int blocks = 1;          // of 64 columns of B, for each of them
  bool ping_pong = false;  // a tile for each consumer, in turn, instead of one for all
  int cluster_n = 1;       // CTAs of a cluster beside each other, which share A
  int cluster_m = 1;       // and below each other, which share B
  int per_sm = 1;          // CTAs
  bool split = false;      // in a cluster, instead of streamed
};

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int consumers = d.consumers, readers = d.ping_pong ? 1 : d.consumers;  // of a stage
  static constexpr int blocks = readers * d.blocks;
  static constexpr int block_m = d.rows, block_n = blocks * mma_m, block_k = 64;
  static constexpr int cluster_m = d.cluster_m, cluster_n = d.cluster_n, sharers = cluster_m * cluster_n;
  // A warpgroup gives back and takes registers as a whole. Where there are several CTAs a warp loads.
  static constexpr bool move_registers = consumers == 2 && d.per_sm == 1;
  static constexpr int consumer_warps = consumers * 4, producer_warps = move_registers ? 4 : 1;
  static constexpr int threads = (consumer_warps + producer_warps) * warp_size;
  static constexpr int row = 128;  // bytes of a box's row
  static constexpr int box_b = block_k * row, tile_b = blocks * box_b, tile_a = block_m * row;
  static constexpr int stage_bytes = tile_a + tile_b;
  static constexpr int groups = block_m / 8;  // of 8 rows of A: a thread has 4 accumulators of each, and of a block
  // What each CTA of a cluster loads: rows of A's box, and rows of B's boxes, whole ones or a part of one.
  static constexpr int share_a = ceil_div(block_m / 8, cluster_n) * 8, share_b = blocks * block_k / cluster_m;
  static constexpr int load_b = std::min(share_b, block_k);
  static constexpr int fillers = cluster_m + cluster_n - 1;  // CTAs that load into a stage
  // A warpgroup stores 64 columns of so many rows at once, by TMA; of a small tile, whose CTA has nothing else to do
  // meanwhile, each warp stores 16 columns of all rows itself, which takes less long.
  static constexpr bool threads_store = consumers == 1 || d.split;
  static constexpr int box_rows = threads_store ? block_m : std::min(block_m, 32);
  static constexpr int box_c = box_rows * row * (threads_store ? 1 : 2);
  // An SM has 228 KiB, of which each CTA takes one for itself. The pattern of the swizzle is aligned to another.
  static constexpr int budget = 228 * 1024 / d.per_sm - 2048 - consumers * box_c - 512;
  static constexpr int stages = std::min(budget / stage_bytes, 16);
  static constexpr int tile_threads = readers * warpgroup_size;
  static constexpr int partial = d.blocks * groups * tile_threads;  // float4s of a tile's accumulators
  // What a CTA receives from its peers.
  static constexpr int parts_bytes(int parts) {
    return (parts - 1) * ceil_div(groups, parts) * tile_threads * int(sizeof(float4));
  }
  static constexpr bool takes(int parts) { return parts == 1 || parts_bytes(parts) <= stages * stage_bytes; }

  struct Shared {
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // and afterwards the parts of the peers
    alignas(1024) unsigned char boxes[consumers][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier turn[2];     // to issue MMAs, of two consumers in ping-pong
    ptx::Mbarrier multiplied;  // all CTAs of the cluster have multiplied their part: their buffers are free
    ptx::Mbarrier combined;    // the peers' parts have arrived
  };
  static_assert(share_b % 8 == 0 && block_m / 8 >= cluster_n, "the swizzle's pattern has 8 rows");
  static_assert(share_b % load_b == 0, "whole boxes");
  static_assert(stages >= 2, "one stage is multiplied, one loaded");
  static_assert(!d.ping_pong || consumers == 2, "ping and pong");
  static_assert(!d.split || (sharers == 1 && d.blocks == 1 && !d.ping_pong), "a cluster shares operands or a tile");
};

struct Operands {
  CUtensorMap a, less_of_a, b, c;  // less: of CTAs that load 8 rows less than others
  __nv_bfloat16* to;  // C
  int m, n, k;
  int group;         // rows of clusters' tiles that neighbouring clusters share
  int parts;         // CTAs of a cluster that have the same tile, each a part of k
  int streamed;      // tiles of clusters that are cut where a CTA's share ends
  float4* partials;  // [CTA][block][group][thread], of tiles that another CTA began
  unsigned* ready;   // [CTA][warp]: 1 from when they are written until they are read
};

// What a CTA computes: tiles, of which it may have a part of k. The first `streamed` tiles of clusters are shared out
// by k-tiles; the others come whole.
template <class C>
class Tiles {
 public:
  __device__ Tiles(const Operands& p, int rank)
      : clusters_m_(ceil_div(p.m, C::block_m * C::cluster_m)),
        clusters_n_(ceil_div(p.n, C::block_n * C::cluster_n)),
        tiles_k_(ceil_div(p.k, C::block_k)),
        group_(p.group),
        streamed_(p.streamed) {
    if constexpr (C::design.split) {
      index_ = int(blockIdx.x) / p.parts;
      first_ = int(1ll * tiles_k_ * rank / p.parts);
      end_ = int(1ll * tiles_k_ * (rank + 1) / p.parts);
      find();
    } else {
      row_in_cluster_ = rank % C::cluster_m;
      col_in_cluster_ = rank / C::cluster_m;
      cluster_ = int(blockIdx.x) / C::sharers;
      clusters_ = int(gridDim.x) / C::sharers;
      next_ = begin_of(cluster_);
      share_end_ = begin_of(cluster_ + 1);
      whole_ = streamed_ + cluster_;
      advance();
    }
  }
  __device__ bool valid() const { return index_ < clusters_m_ * clusters_n_; }
  __device__ void advance() {
    if constexpr (C::design.split) {
      index_ = clusters_m_ * clusters_n_;
    } else if (next_ < share_end_) {
      index_ = int(next_ / tiles_k_);
      first_ = int(next_ % tiles_k_);
      end_ = int(min(1ll * tiles_k_, first_ + share_end_ - next_));
      next_ += end_ - first_;
      find();
    } else {
      index_ = whole_;
      whole_ += clusters_;
      first_ = 0;
      end_ = tiles_k_;
      find();
    }
  }
  __device__ int row() const { return row_; }  // of C, of the tile's first element
  __device__ int col() const { return col_; }
  __device__ int first() const { return first_; }  // k-tile
  __device__ int end() const { return end_; }
  __device__ bool begins() const { return first_ == 0; }
  __device__ bool ends() const { return end_ == tiles_k_; }
  __device__ int cluster() const { return cluster_; }
  // Whether this cluster has a later part of the tile.
  __device__ bool goes_on_in(int cluster) const {
    return cluster < clusters_ && begin_of(cluster) < 1ll * (index_ + 1) * tiles_k_;
  }

 private:
  // Of the streamed k-tiles, the first that is a cluster's.
  __device__ long long begin_of(int cluster) const { return 1ll * streamed_ * tiles_k_ * cluster / clusters_; }
  __device__ void find() {
    if (!valid()) return;
    const int per_group = group_ * clusters_n_, above = index_ / per_group * group_;
    const int rows = min(clusters_m_ - above, group_), i = index_ % per_group;
    row_ = ((above + i % rows) * C::cluster_m + row_in_cluster_) * C::block_m;
    col_ = (i / rows * C::cluster_n + col_in_cluster_) * C::block_n;
  }

  const int clusters_m_, clusters_n_, tiles_k_, group_, streamed_;
  int row_in_cluster_ = 0, col_in_cluster_ = 0, cluster_ = 0, clusters_ = 1, whole_ = 0;
  long long next_ = 0, share_end_ = 0;
  int index_ = 0, row_ = 0, col_ = 0, first_ = 0, end_ = 0;
};

// The CTAs of the cluster that get what this one loads: A all that lie beside it, B all below and above.
template <class C>
struct Peers {
  int rank;
  __device__ int beside(int i) const { return rank % C::cluster_m + i * C::cluster_m; }
  __device__ int below(int i) const { return rank / C::cluster_m * C::cluster_m + i; }
  __device__ unsigned short all_beside() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_n; ++i) ctas |= 1 << beside(i);
    return ctas;
  }
  __device__ unsigned short all_below() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_m; ++i) ctas |= 1 << below(i);
    return ctas;
  }
  // The i-th CTA that loads into this one's stages, for i < C::fillers: each once, this one among them.
  __device__ int filler(int i) const {
    const int other = i - C::cluster_m;
    return other < 0 ? below(i) : beside(other + (other >= rank / C::cluster_m));
  }
};

template <class C>
__device__ void produce(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank) {
  const Peers<C> peers{rank};
  const unsigned short beside = peers.all_beside(), below = peers.all_below();
  const int place = rank / C::cluster_m, from_a = C::groups * place / C::cluster_n * 8;
  const bool less = C::groups * (place + 1) / C::cluster_n * 8 - from_a < C::share_a;
  const int from_b = rank % C::cluster_m * C::share_b;
  Stage<C> stage;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = tiles.first(); t < tiles.end(); ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[stage.index]);
      const SharedAddress to_a = ptx::shared_address(shared.buffer[stage.index]), to_b = to_a + C::tile_a;
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[stage.index]), stage.parity ^ 1);
      if (ptx::elect_one()) {
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);
#pragma unroll
        for (int i = 0; i < C::share_b; i += C::load_b) {
          const int from = from_b + i;  // of the rows of all boxes
          const int x = tiles.col() + from / C::block_k * mma_m, y = t * C::block_k + from % C::block_k;
          if constexpr (C::cluster_m == 1) {
            ptx::tma_load(to_b + from * C::row, p.b, x, y, full);
          } else {
            ptx::tma_load_multicast(to_b + from * C::row, p.b, x, y, full, below);
          }
        }
        if constexpr (C::cluster_n == 1) {
          ptx::tma_load(to_a, p.a, t * C::block_k, tiles.row(), full);
        } else {
          ptx::tma_load_multicast(to_a + from_a * C::row, less ? p.less_of_a : p.a, t * C::block_k,
                                  tiles.row() + from_a, full, beside);
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
using Accumulator = float[C::design.blocks][C::groups][4];

// By a warpgroup: its columns of B, from block `block` on, and all rows of A. last_issued() is called when the last
// MMAs still run.
template <class C, class LastIssued>
__device__ void multiply(Accumulator<C>& accumulator, typename C::Shared& shared, Peers<C> peers, int block,
                         int first, int end, Stage<C>& stage, const LastIssued& last_issued) {
  const int lane = threadIdx.x % warp_size;
  auto release = [&](int read) {
    const SharedAddress empty = ptx::shared_address(&shared.empty[read]);
    if constexpr (C::sharers == 1) {
      if (lane == 0) ptx::mbarrier_arrive(empty);
    } else {
      if (lane < C::fillers) ptx::mbarrier_arrive(empty, peers.filler(lane));
    }
  };
  if constexpr (C::design.split) {  // a part may have no k-tile
#pragma unroll
    for (int i = 0; i < C::groups * 4; ++i) (&accumulator[0][0][0])[i] = 0;
  }
  int before = 0;
  for (int t = first; t < end; ++t) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.full[stage.index]), stage.parity);
    const SharedAddress from_a = ptx::shared_address(shared.buffer[stage.index]);
    const SharedAddress from_b = from_a + C::tile_a + block * C::box_b;
    const MatrixDescriptor columns(from_b, C::box_b, 8 * C::row, Swizzle::bytes128);
    const MatrixDescriptor rows(from_a, 0, 8 * C::row, Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k) {
#pragma unroll
      for (int i = 0; i < C::design.blocks; ++i)
        ptx::wgmma_m64k16_transposed(accumulator[i], columns + i * C::box_b + k0 * C::row, rows + k0 * element,
                                     t > first || k0 > 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
    if (t > first) release(before);
    before = stage.index;
    stage.advance();
  }
  last_issued();
  ptx::wgmma_wait_group<0>();
#pragma unroll
  for (int i = 0; i < C::design.blocks; ++i) ptx::keep_accumulators(accumulator[i]);
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
__device__ void combine(float (&accumulator)[C::groups][4], typename C::Shared& shared, int part, int parts) {
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
    return (peer * most + group - first_group<C>(to, parts)) * C::tile_threads + int(threadIdx.x);
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
      const float4 one =
          from == part ? make_float4(own[0], own[1], own[2], own[3]) : received[slot(from, part, g)];
      sum = {sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w};
    }
    own[0] = sum.x, own[1] = sum.y, own[2] = sum.z, own[3] = sum.w;
  }
}

// This CTA's part of a tile that another began -> memory, by a warp: the `warp`-th of the tile's.
template <class C>
__device__ void hand_over(const Accumulator<C>& accumulator, const Operands& p, int warp) {
  const int lane = threadIdx.x % warp_size;
  float4* to = p.partials + std::size_t(blockIdx.x) * C::partial + warp * warp_size + lane;
#pragma unroll
  for (int i = 0; i < C::design.blocks; ++i) {
#pragma unroll
    for (int g = 0; g < C::groups; ++g, to += C::tile_threads) {
      const float(&one)[4] = accumulator[i][g];
      *to = make_float4(one[0], one[1], one[2], one[3]);
    }
  }
  __syncwarp();
  if (lane == 0) ptx::signal_release(&p.ready[blockIdx.x * C::consumer_warps + warp], 1);
}

// accumulator of a tile's first k-tiles -> of all. Those who have the others began with them, and the one with the
// last k-tiles waits for nobody: so nobody waits in a circle, and as a rule not at all.
template <class C>
__device__ void finish(Accumulator<C>& accumulator, const Operands& p, const Tiles<C>& tiles, int rank, int warp) {
  const int lane = threadIdx.x % warp_size;
  for (int cluster = tiles.cluster() + 1; tiles.goes_on_in(cluster); ++cluster) {
    const int cta = cluster * C::sharers + rank;
    unsigned* const ready = &p.ready[cta * C::consumer_warps + warp];
    if (lane == 0) {
      while (ptx::load_acquire(ready) == 0) {
      }
      *ready = 0;  // for the next launch
    }
    __syncwarp();
    const float4* from = p.partials + std::size_t(cta) * C::partial + warp * warp_size + lane;
#pragma unroll
    for (int i = 0; i < C::design.blocks; ++i) {
#pragma unroll
      for (int g = 0; g < C::groups; ++g, from += C::tile_threads) {
        const float4 one = *from;
        float(&sum)[4] = accumulator[i][g];
        sum[0] += one.x, sum[1] += one.y, sum[2] += one.z, sum[3] += one.w;
      }
    }
  }
}

// An 8x8 block of C for each half of a warp's 16 columns, and of bf16 -> shared. An accumulator's row is a column of
// C, so stmatrix transposes.
__device__ inline void store_group(const float (&from)[4], SharedAddress to) {
  const __nv_bfloat162 left = __floats2bfloat162_rn(from[0], from[1]);
  const __nv_bfloat162 right = __floats2bfloat162_rn(from[2], from[3]);
  const unsigned both[2] = {reinterpret_cast<const unsigned&>(left), reinterpret_cast<const unsigned&>(right)};
  ptx::stmatrix_x2_trans(to, both);
}

// Accumulators -> C, by a warpgroup: its 64 columns and all rows, through two boxes of shared memory in turn. TMA does
// not store what lies past the edges of C.
template <class C>
__device__ void store(const float (&accumulator)[C::groups][4], unsigned char (&boxes)[C::box_c], int& next_box,
                      const CUtensorMap& c, int row, int col, int warpgroup) {
  constexpr int box_groups = C::box_rows / 8;
  const int thread = threadIdx.x % warpgroup_size, lane = threadIdx.x % warp_size;
  const int row_of_lane = lane % 8, chunk = thread / warp_size * 2 + lane / 8 % 2;  // of 16 bytes
#pragma unroll
  for (int i = 0; i < ceil_div(C::groups, box_groups); ++i) {
    // The last box lies within the tile, too: what it has in common with the one before is stored twice.
    const int g0 = min(i * box_groups, C::groups - box_groups);
    const SharedAddress box = ptx::shared_address(&boxes[next_box * C::box_rows * C::row]);
    if (thread == 0) ptx::bulk_wait_group_read<1>();  // all copies but the newest, which is the other box's
    ptx::barrier_sync(1 + warpgroup, warpgroup_size);
#pragma unroll
    for (int g = 0; g < box_groups; ++g)
      store_group(accumulator[g0 + g], box + (g * 8 + row_of_lane) * C::row + (chunk ^ row_of_lane) * 16);
    ptx::fence_proxy_async();
    ptx::barrier_sync(1 + warpgroup, warpgroup_size);
    if (thread == 0) {
      ptx::tma_store(c, col, row + g0 * 8, box);
      ptx::bulk_commit_group();
    }
    next_box ^= 1;
  }
}

// The same by a warp with stores of its own: its 16 columns, and the rows of groups `first` up to `end`.
template <class C>
__device__ void store_by_threads(const float (&accumulator)[C::groups][4], unsigned char (&boxes)[C::box_c],
                                 const Operands& p, int row, int col, int first, int end) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % 4;
  unsigned char* const box = &boxes[warp * C::block_m * 32];  // swizzled over 32 bytes
  auto place = [](int row, int half) { return row * 32 + (half ^ row / 4 % 2) * 16; };
#pragma unroll
  for (int g = 0; g < C::groups; ++g)
    if (g >= first && g < end)
      store_group(accumulator[g], ptx::shared_address(&box[place(g * 8 + lane % 8, lane / 8 % 2)]));
  __syncwarp();
  const int half = lane % 2;
  const int rows = col + half * 8 < p.n ? min(end * 8, p.m - row) : 0;
  for (int r = first * 8 + lane / 2; r < rows; r += warp_size / 2)
    *reinterpret_cast<uint4*>(p.to + std::size_t(row + r) * p.n + col + half * 8) =
        *reinterpret_cast<const uint4*>(&box[place(r, half)]);
  __syncwarp();  // the box may be written again
}

template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Tiles<C> tiles, int rank, int warp) {
  constexpr bool ping_pong = C::design.ping_pong;
  const int self = warp / 4, warp_in_tile = ping_pong ? warp % 4 : warp;
  const int block = warp_in_tile / 4 * C::design.blocks;
  const Peers<C> peers{rank};
  Stage<C> stage;
  int next_box = 0, turn = 0, parity = self == 0;  // parity 1: it is the first one's turn
  for (; tiles.valid(); tiles.advance()) {
    if constexpr (ping_pong) {
      if (turn++ % 2 != self) {  // the other one's
        const int on = stage.index + tiles.end() - tiles.first();
        stage.parity ^= on / C::stages & 1;
        stage.index = on % C::stages;
        continue;
      }
      // Not only for order: a wait names the parity of a phase alone, so no consumer may fall two phases behind.
      ptx::mbarrier_wait(ptx::shared_address(&shared.turn[self]), parity);
      parity ^= 1;
    }
    Accumulator<C> accumulator;
    multiply<C>(accumulator, shared, peers, block, tiles.first(), tiles.end(), stage, [&] {
      if (ping_pong && threadIdx.x % warp_size == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.turn[self ^ 1]));
    });
    const int col = tiles.col() + block * mma_m;
    if constexpr (C::design.split) {
      if (p.parts > 1) {
        combine<C>(accumulator[0], shared, rank, p.parts);
        store_by_threads<C>(accumulator[0], shared.boxes[self], p, tiles.row(), col + warp % 4 * 16,
                            first_group<C>(rank, p.parts), first_group<C>(rank + 1, p.parts));
        continue;
      }
    } else {
      if (!tiles.begins()) {
        hand_over<C>(accumulator, p, warp_in_tile);
        continue;
      }
      if (!tiles.ends()) finish<C>(accumulator, p, tiles, rank, warp_in_tile);
    }
#pragma unroll
    for (int i = 0; i < C::design.blocks; ++i) {
      if constexpr (C::threads_store) {
        store_by_threads<C>(accumulator[i], shared.boxes[self], p, tiles.row(), col + i * mma_m + warp % 4 * 16, 0,
                            C::groups);
      } else {
        store<C>(accumulator[i], shared.boxes[self], next_box, p.c, tiles.row(), col + i * mma_m, self);
      }
    }
  }
  if (!C::threads_store && threadIdx.x % warpgroup_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory must outlive the reads
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
    const int used = C::design.split ? min(C::stages, tiles.end() - tiles.first()) : C::stages;
    for (int s = 0; s < used; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::fillers * C::readers * 4);
    }
    if constexpr (C::design.ping_pong)
      for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::shared_address(&turn), 4);
    if constexpr (C::design.split) {
      ptx::mbarrier_init(ptx::shared_address(&shared.multiplied), p.parts * C::consumer_warps);
      ptx::mbarrier_init(ptx::shared_address(&shared.combined), 1);
      const int own = first_group<C>(rank + 1, p.parts) - first_group<C>(rank, p.parts);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&shared.combined),
                                        (p.parts - 1) * own * C::tile_threads * int(sizeof(float4)));
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

  if (warp >= C::consumer_warps) {
    if constexpr (C::move_registers) ptx::give_back_registers<24>();
    if (warp == C::consumer_warps) produce<C>(shared, p, tiles, rank);
  } else {
    if constexpr (C::move_registers) ptx::take_registers<240>();
    consume<C>(shared, p, tiles, rank, warp);
  }
}

constexpr std::size_t flags_bytes = 16384;

// parts: of a design that splits. `waves`: of one that streams, how many last waves of tiles are shared out by k-tiles, 0
// for none.
template <Design d>
cudaError_t launch(const Gemm& gemm, int parts, int waves, void* workspace, cudaStream_t stream, bool early_start) {
  using C = Config<d>;
  if (!C::takes(parts)) return cudaErrorInvalidValue;
  Operands p{};
  p.to = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  p.k = gemm.k;
  p.parts = parts;
  p.ready = static_cast<unsigned*>(workspace);
  p.partials = reinterpret_cast<float4*>(static_cast<char*>(workspace) + flags_bytes);
  auto* kernel = gemm_kernel<C>;
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  static_assert((shared_bytes + 1024) * d.per_sm <= 228 * 1024, "what an SM has");
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.a, gemm.a, p.m, p.k, C::share_a, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess && C::block_m != C::share_a * C::cluster_n)
    error = ptx::make_tensor_map(&p.less_of_a, gemm.a, p.m, p.k, C::share_a - 8, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.b, gemm.b, p.k, p.n, C::load_b, mma_m, Swizzle::bytes128);
  if (error == cudaSuccess && !C::threads_store)
    error = ptx::make_tensor_map(&p.c, gemm.c, p.m, p.n, C::box_rows, mma_m, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  const int cluster = d.split ? parts : C::sharers;
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
  const int clusters_m = ceil_div(p.m, C::block_m * C::cluster_m);
  const long long tiles = 1ll * clusters_m * ceil_div(p.n, C::block_n * C::cluster_n);
  long long clusters = tiles;
  p.group = 1;
  if (!d.split) {
    int at_once = 0;  // not always SMs / cluster: the CTAs of a cluster share a GPC
    error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
    if (error != cudaSuccess) return error;
    clusters = std::min<long long>(at_once, tiles);
    // What runs at once is about a square of C.
    const double square = std::sqrt(double(at_once) * C::block_n * C::cluster_n / (C::block_m * C::cluster_m));
    p.group = std::clamp(int(square + 0.5), 1, clusters_m);
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
