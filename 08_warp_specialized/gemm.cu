// Warps with different work. One warp of the CTA does nothing but ask TMA for boxes, one or two warpgroups do
// nothing but multiply and store, and each has the registers that its work needs. CTAs stay for many tiles:
// while one is stored, the next is on its way. Two CTAs form a cluster, whose tiles lie below each other, and
// share what they read of B.
//
// From top to bottom: Design, what there is to choose; produce(), global -> shared; multiply(), shared ->
// sums; store(), sums -> C; the kernel, which hands its warps out to them; launch(); the choice by shape.
// Which tiles a CTA works on is tiles.cuh.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "08_warp_specialized/tiles.cuh"
#include "08_warp_specialized/variants.h"
#include "common/ptx/cluster.cuh"
#include "common/ptx/dependent_launch.cuh"
#include "common/ptx/elect.cuh"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"
#include "common/ptx/wgmma.cuh"

namespace ladder::rung_08 {
namespace {

using ptx::MatrixDescriptor;
using ptx::SharedAddress;
using ptx::Swizzle;

constexpr int warp_size = 32, warpgroup_size = 128, warps_per_group = 4;
constexpr int mma_m = 64, mma_k = 16;  // of a wgmma; its n is the CTA tile's
constexpr int element = sizeof(__nv_bfloat16);
constexpr int row = 128;  // bytes of a box's row, and of the swizzle

// What there is to choose. As it stands it is the rung at large sizes; every ablation changes one line.
struct Design {
  int consumers = 2;  // warpgroups that multiply
  int rows_each = 1;  // of 64 rows that a consumer multiplies at once
  int block_n = 256;  // columns of a CTA's tile
  int stages = 4;     // of the ring
  int cluster_m = 2;  // CTAs of a cluster that lie below each other and share B
  int cluster_n = 1;  // and beside each other, and share A
  Order order = Order::supertile;
  int group = 8;                // clusters
  bool ping_pong = false;       // a tile for each consumer, in turn, instead of one for all
  bool persistent = true;       // as many CTAs as run at once, instead of one for each tile
  bool move_registers = true;   // from the producer's warps to the consumers'
  bool first_mma_sets = true;   // instead of adding to zeros
  bool tma_store = true;        // instead of 16 bytes by each thread
  bool early_start = true;      // while the grid before still runs
  bool relaxed_cluster = true;  // no more order between a cluster's CTAs than the ring needs
};

template <Design d>
struct Config {
  static constexpr Design design = d;
  static constexpr int consumers = d.consumers, rows_each = d.rows_each, stages = d.stages, group = d.group;
  static constexpr int block_m = (d.ping_pong ? 1 : consumers) * rows_each * mma_m, block_n = d.block_n;
  static constexpr int block_k = row / element;
  static constexpr int cluster_m = d.cluster_m, cluster_n = d.cluster_n, cluster = cluster_m * cluster_n;
  static constexpr Order order = d.order;
  static constexpr int threads = (1 + consumers) * warpgroup_size;
  static constexpr int boxes_b = block_n * element / row, box_b = block_k * row;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int box_c = 16 * row;  // what a warp stores at once: 16 rows of 64 columns
  // CTAs share evenly: rows of A's box, and B's boxes, or if these are too few, their rows.
  static constexpr int share_a = block_m / cluster_n;
  static constexpr bool boxes_shared = boxes_b % cluster_m == 0;
  static constexpr int share_boxes = boxes_shared ? boxes_b / cluster_m : boxes_b;
  static constexpr int share_k = boxes_shared ? block_k : block_k / cluster_m;
  // Those who have to know that a slot is free: all that fill it. In a cluster a CTA's row and column.
  static constexpr int fillers = cluster_m + cluster_n - 1;
  static constexpr int readers = d.ping_pong ? 1 : consumers;  // warpgroups that use a slot
  // Registers of a thread: 168 for each of 384 threads, or 40 and 232.
  static constexpr bool move_registers = d.move_registers && consumers == 2;
  static constexpr int producer_registers = 40, consumer_registers = 232;

  struct Shared {
    alignas(1024) unsigned char ring[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    alignas(1024) unsigned char c[consumers * warps_per_group][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
    ptx::Mbarrier turn[2];  // to multiply, of two consumers in ping-pong
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
  static_assert(share_a % 8 == 0 && share_k % 8 == 0, "the swizzle's pattern has 8 rows");
  static_assert(!d.ping_pong || consumers == 2, "ping and pong");
  static_assert(producer_registers + 2 * consumer_registers <= 3 * 168, "no more than there are");
};

// Where everything is. c, m and n are for the stores without TMA.
struct Operands {
  CUtensorMap map_a, map_b, map_c;
  __nv_bfloat16* c;
  int m, n, k;
};

// A place in the ring, and how often it went round.
template <class C>
struct Slot {
  int stage = 0, parity = 0;
  __device__ void advance() {
    if (++stage == C::stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ void skip(int slots) {
    parity ^= (stage + slots) / C::stages & 1;
    stage = (stage + slots) % C::stages;
  }
};

// Which CTAs of the cluster get what this one loads: A all of its row, B all of its column.
template <class C>
struct Peers {
  int rank;
  __device__ int in_row(int i) const { return rank % C::cluster_m + i * C::cluster_m; }
  __device__ int in_column(int i) const { return rank / C::cluster_m * C::cluster_m + i; }
  __device__ unsigned short row() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_n; ++i) ctas |= 1 << in_row(i);
    return ctas;
  }
  __device__ unsigned short column() const {
    unsigned short ctas = 0;
    for (int i = 0; i < C::cluster_m; ++i) ctas |= 1 << in_column(i);
    return ctas;
  }
};

// Global -> shared, by one warp. It runs ahead of the consumers, also from tile to tile, as far as the ring
// allows.
template <class C>
__device__ void produce(typename C::Shared& shared, const Operands& p, Peers<C> peers, Tiles<C> tiles) {
  const int tiles_k = ceil_div(p.k, C::block_k);
  const int from_row = peers.rank / C::cluster_m * C::share_a;  // of A's tile: this CTA's share
  const int from_box = C::boxes_shared ? peers.rank % C::cluster_m * C::share_boxes : 0;
  const int from_k = C::boxes_shared ? 0 : peers.rank % C::cluster_m * C::share_k;
  const unsigned short row_ctas = peers.row(), column_ctas = peers.column();
  Slot<C> slot;
  for (; tiles.valid(); tiles.advance()) {
    for (int t = 0; t < tiles_k; ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[slot.stage]);
      const SharedAddress to_a = ptx::shared_address(shared.ring[slot.stage]), to_b = to_a + C::tile_a;
      // Parity 1 first: the phase before the first is complete, the slots are free.
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[slot.stage]), slot.parity ^ 1);
      if (ptx::elect_one()) {
        const int k = t * C::block_k;
        ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);  // what the peers send included
        if constexpr (C::cluster_n == 1) {
          ptx::tma_load(to_a, p.map_a, k, tiles.row(), full);
        } else {
          ptx::tma_load_multicast(to_a + from_row * row, p.map_a, k, tiles.row() + from_row, full, row_ctas);
        }
#pragma unroll
        for (int i = 0; i < C::share_boxes; ++i) {
          const int box = from_box + i, x = tiles.col() + box * row / element;
          const SharedAddress to = to_b + box * C::box_b + from_k * row;
          if constexpr (C::cluster_m == 1) {
            ptx::tma_load(to, p.map_b, x, k, full);
          } else {
            ptx::tma_load_multicast(to, p.map_b, x, k + from_k, full, column_ctas);
          }
        }
      }
      __syncwarp();
      slot.advance();
    }
  }
  // A CTA's barriers must stay until its peers have arrived at them for the last time: until all slots are
  // free.
  if constexpr (C::cluster > 1) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[slot.stage]), slot.parity ^ 1);
      slot.advance();
    }
  }
}

// Shared -> sums, by a warpgroup: 64 * rows_each rows of a tile, from row `first` on.
template <class C>
__device__ void multiply(float (&sum)[C::rows_each][C::block_n / 8][4], typename C::Shared& shared,
                         Peers<C> peers, int tiles_k, int first, Slot<C>& slot) {
  const int lane = threadIdx.x % warp_size;
  // Each lane tells one of those who fill the slot. The CTA itself is in its column.
  const int other = lane - C::cluster_m;
  const int peer =
      other < 0 ? peers.in_column(lane) : peers.in_row(other + (other >= peers.rank / C::cluster_m));
  auto release = [&](int stage) {
    const SharedAddress empty = ptx::shared_address(&shared.empty[stage]);
    if constexpr (C::cluster == 1) {
      if (lane == 0) ptx::mbarrier_arrive(empty);
    } else {
      if (lane < C::fillers) ptx::mbarrier_arrive(empty, peer);
    }
  };

  if constexpr (!C::design.first_mma_sets) {
#pragma unroll
    for (int i = 0; i < C::rows_each * C::block_n / 2; ++i) (&sum[0][0][0])[i] = 0;
  }
  int before = 0;
  for (int t = 0; t < tiles_k; ++t) {
    ptx::mbarrier_wait(ptx::shared_address(&shared.full[slot.stage]), slot.parity);
    const SharedAddress from_a = ptx::shared_address(shared.ring[slot.stage]), from_b = from_a + C::tile_a;
    const MatrixDescriptor b(from_b, C::box_b, 8 * row, Swizzle::bytes128);
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < C::block_k / mma_k; ++step) {
#pragma unroll
      for (int i = 0; i < C::rows_each; ++i) {
        const MatrixDescriptor a(from_a + (first + i * mma_m) * row, 0, 8 * row, Swizzle::bytes128);
        ptx::wgmma_m64k16<ptx::Major::mn>(sum[i], a + step * mma_k * element, b + step * mma_k * row,
                                          t > 0 || step > 0 || !C::design.first_mma_sets);
      }
    }
    ptx::wgmma_commit_group();
    // These products run on; those of the k-tile before are complete, and its slot is free.
    ptx::wgmma_wait_group<1>();
    if (t > 0) release(before);
    before = slot.stage;
    slot.advance();
  }
  // In ping-pong the other may begin: its products queue up behind these.
  if constexpr (C::design.ping_pong) {
    const int self = threadIdx.x / warpgroup_size - 1;
    if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&shared.turn[self ^ 1]));
    slot.skip(tiles_k);
  }
  ptx::wgmma_wait_group<0>();
#pragma unroll
  for (int i = 0; i < C::rows_each; ++i) ptx::keep_sums(sum[i]);
  release(before);
}

// Sums -> shared -> C. Each warp stores its own 16 rows, 64 columns at a time, through two buffers in turn:
// while TMA reads one, the other is filled. Nobody waits for the last ones before the next tile.
template <class C>
__device__ void store(const float (&sum)[C::rows_each][C::block_n / 8][4],
                      unsigned char (&buffers)[2][C::box_c], const Operands& p, int first_row, int first_col,
                      int& turn) {
  const int lane = threadIdx.x % warp_size;
  const int to = lane % 16;  // the row whose address this lane gives to stmatrix
#pragma unroll
  for (int i = 0; i < C::rows_each; ++i) {
#pragma unroll
    for (int box = 0; box < C::block_n * element / row; ++box) {
      const SharedAddress buffer = ptx::shared_address(buffers[turn]);
      const int at_row = first_row + i * mma_m, at_col = first_col + box * row / element;
      if (C::design.tma_store && lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();  // the buffer is free
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        unsigned both[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const float(&from)[4] = sum[i][box * 8 + j + q / 2];
          const __nv_bfloat162 pair = __floats2bfloat162_rn(from[q % 2 * 2], from[q % 2 * 2 + 1]);
          both[q] = reinterpret_cast<const unsigned&>(pair);
        }
        ptx::stmatrix_x4(buffer + to * row + (j + lane / 16 ^ to % 8) * 16, both);
      }
      if constexpr (C::design.tma_store) {
        ptx::fence_proxy_async();
        __syncwarp();  // the box is complete
        if (lane == 0) {
          ptx::tma_store(p.map_c, at_col, at_row, buffer);
          ptx::bulk_commit_group();
        }
      } else {
        __syncwarp();  // the box is complete
#pragma unroll
        for (int r = lane / 8; r < 16; r += warp_size / 8) {
          const int chunk = lane % 8, col = at_col + chunk * 8;
          const uint4 bits = *reinterpret_cast<const uint4*>(&buffers[turn][r * row + (chunk ^ r % 8) * 16]);
          if (at_row + r < p.m && col < p.n)
            *reinterpret_cast<uint4*>(p.c + std::size_t(at_row + r) * p.n + col) = bits;
        }
      }
      turn ^= 1;
    }
  }
}

// Shared -> C, by a warpgroup: its rows of every tile, or in ping-pong every second tile.
template <class C>
__device__ void consume(typename C::Shared& shared, const Operands& p, Peers<C> peers, Tiles<C> tiles,
                        int warp) {
  constexpr bool ping_pong = C::design.ping_pong;
  const int self = warp / warps_per_group, tiles_k = ceil_div(p.k, C::block_k);
  const int first = ping_pong ? 0 : self * C::rows_each * mma_m;
  Slot<C> slot;
  if (ping_pong && self == 1) {
    tiles.advance();
    slot.skip(tiles_k);
  }
  int buffer = 0, parity = self == 0;  // parity 1: it is the first one's turn
  while (tiles.valid()) {
    const int tile_row = tiles.row(), tile_col = tiles.col();
    float sum[C::rows_each][C::block_n / 8][4];
    // Not only for order: a barrier tells a phase from the next one only, so nobody may fall a round behind
    // the ring.
    if constexpr (ping_pong) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.turn[self]), parity);
      parity ^= 1;
    }
    multiply<C>(sum, shared, peers, tiles_k, first, slot);
    tiles.advance();
    if constexpr (ping_pong) tiles.advance();
    store<C>(sum, shared.c[warp], p, tile_row + first + warp % warps_per_group * 16, tile_col, buffer);
  }
  if (C::design.tma_store && threadIdx.x % warp_size == 0)
    ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) gemm_kernel(const __grid_constant__ Operands p) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp =
      __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);  // the compiler shall know it is the same for all
  const int rank = C::cluster > 1 ? ptx::cluster_rank() : 0;
  const Peers<C> peers{rank};
  const Tiles<C> tiles(p.m, p.n, rank);

  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(p.map_a);
    ptx::prefetch_tensor_map(p.map_b);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::fillers * C::readers * warps_per_group);
    }
    for (auto& turn : shared.turn) ptx::mbarrier_init(ptx::shared_address(&turn), warps_per_group);
    ptx::fence_mbarrier_init();
  }
  // The peers' barriers are there, too, before anything is sent to them.
  if constexpr (C::cluster == 1) {
    __syncthreads();
  } else if constexpr (C::design.relaxed_cluster) {
    ptx::cluster_sync_relaxed();
  } else {
    ptx::cluster_sync();
  }
  if constexpr (C::design.early_start) {
    ptx::let_next_grid_start();
    ptx::wait_for_previous_grid();  // it may have written A and B, and read C
  }

  if (warp < warps_per_group) {
    if constexpr (C::move_registers) ptx::give_back_registers<C::producer_registers>();
    if (warp == 0) produce<C>(shared, p, peers, tiles);
  } else {
    if constexpr (C::move_registers) ptx::take_registers<C::consumer_registers>();
    consume<C>(shared, p, peers, tiles, warp - warps_per_group);
  }
  if constexpr (C::cluster > 1 && !C::design.relaxed_cluster) ptx::cluster_sync();
}

// How many clusters of this kernel run at once. Not always SMs / cluster: a cluster lies within a GPC, whose
// SMs need not be a multiple of 4.
template <class C>
cudaError_t clusters_at_once(cudaLaunchConfig_t config, int* clusters) {
  config.gridDim = C::cluster;
  return cudaOccupancyMaxActiveClusters(clusters, gemm_kernel<C>, &config);
}

template <Design d>
cudaError_t launch(const Gemm& gemm, cudaStream_t stream) {
  using C = Config<d>;
  Operands p{};
  p.c = gemm.c;
  p.m = gemm.m;
  p.n = gemm.n;
  p.k = gemm.k;
  cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.map_a, gemm.a, p.m, p.k, C::share_a, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.map_b, gemm.b, p.k, p.n, C::share_k, row / element, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&p.map_c, gemm.c, p.m, p.n, 16, row / element, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {C::cluster, 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = d.early_start ? 2 : 1;
  const long long clusters =
      1ll * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, C::block_n * C::cluster_n);
  int at_once = 0;
  error = clusters_at_once<C>(config, &at_once);
  if (error != cudaSuccess) return error;
  config.gridDim = unsigned(d.persistent ? std::min<long long>(at_once, clusters) : clusters) * C::cluster;
  return cudaLaunchKernelEx(&config, gemm_kernel<C>, p);
}

constexpr Design large{};
constexpr Design medium{.consumers = 1, .block_n = 128, .stages = 8, .cluster_m = 1};
constexpr Design medium_pairs{.consumers = 1, .block_n = 128, .stages = 8};
constexpr Design small{.consumers = 1, .block_n = 64, .stages = 8, .cluster_m = 1};

// Roughly how many cycles a design takes: whole waves of tiles; in each, k-tiles at the pace of the tensor
// cores or of L2, whichever is slower, and a constant for what lies before and after them. The chapter
// derives it.
template <Design d>
double estimate(const Gemm& p, int sms) {
  using C = Config<d>;
  constexpr double mma_per_cycle = 2048;  // multiplications and additions of an SM
  constexpr double l2_per_cycle = 5800;   // bytes, for all SMs
  constexpr double tile_cycles = 2500, cluster_cycles = 3000;
  const double ctas =
      1.0 * ceil_div(p.m, C::block_m * C::cluster_m) * ceil_div(p.n, C::block_n * C::cluster_n) * C::cluster;
  const double waves = std::ceil(ctas / sms), at_once = std::min<double>(ctas, sms);
  const double tensor = C::block_m * C::block_n * C::block_k / mma_per_cycle;
  const double l2 = at_once * (C::tile_a / C::cluster_n + C::tile_b / C::cluster_m) / l2_per_cycle;
  return waves * (ceil_div(p.k, C::block_k) * std::max(tensor, l2) + tile_cycles) +
         (C::cluster > 1 ? cluster_cycles : 0);
}

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

cudaError_t gemm_no_cluster(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_m = 1, .group = 16}>(p, stream);
}
cudaError_t gemm_shared_a(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_m = 1, .cluster_n = 2, .group = 16}>(p, stream);
}
cudaError_t gemm_cluster_of_4(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.cluster_n = 2}>(p, stream);
}
cudaError_t gemm_cluster_barriers(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.relaxed_cluster = false}>(p, stream);
}
cudaError_t gemm_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.block_n = 128, .stages = 6}>(p, stream);
}
cudaError_t gemm_ping_pong(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.rows_each = 2, .block_n = 128, .stages = 6, .ping_pong = true}>(p, stream);
}
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.stages = 2}>(p, stream);
}
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.stages = 3}>(p, stream);
}
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.order = Order::rows}>(p, stream);
}
cudaError_t gemm_hilbert(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.order = Order::hilbert}>(p, stream);
}
cudaError_t gemm_one_tile_each(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.persistent = false}>(p, stream);
}
cudaError_t gemm_even_registers(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.move_registers = false}>(p, stream);
}
cudaError_t gemm_add_to_zeros(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.first_mma_sets = false}>(p, stream);
}
cudaError_t gemm_threads_store(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.tma_store = false}>(p, stream);
}
cudaError_t gemm_late_start(const Gemm& p, cudaStream_t stream) {
  return launch<Design{.early_start = false}>(p, stream);
}
cudaError_t gemm_64x64(const Gemm& p, cudaStream_t stream) {
  return launch<small>(p, stream);
}
cudaError_t gemm_64x128(const Gemm& p, cudaStream_t stream) {
  return launch<medium>(p, stream);
}
cudaError_t gemm_64x128_pairs(const Gemm& p, cudaStream_t stream) {
  return launch<medium_pairs>(p, stream);
}
cudaError_t gemm_128x256(const Gemm& p, cudaStream_t stream) {
  return launch<large>(p, stream);
}

cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream) {
  int device = 0, sms = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const struct {
    double cycles;
    cudaError_t (*launch)(const Gemm&, cudaStream_t);
  } choices[] = {{estimate<large>(p, sms), launch<large>},
                 {estimate<medium>(p, sms), launch<medium>},
                 {estimate<medium_pairs>(p, sms), launch<medium_pairs>},
                 {estimate<small>(p, sms), launch<small>}};
  return std::min_element(std::begin(choices), std::end(choices),
                          [](const auto& a, const auto& b) { return a.cycles < b.cycles; })
      ->launch(p, stream);
}

}  // namespace ladder::rung_08
