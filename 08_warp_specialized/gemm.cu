// Warps with different work. One warp of the CTA does nothing but ask TMA for boxes, two warpgroups do
// nothing but multiply and store, and each has the registers that its work needs. CTAs stay for many tiles:
// while one is stored, the next is on its way. Two CTAs form a cluster, whose tiles lie below each other, and
// share what they read of B.
#include <algorithm>

#include "08_warp_specialized/variants.h"
#include "common/ptx/cluster.cuh"
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

template <int block_n_, int stages_, int cluster_, int group_>
struct Config {
  static constexpr int block_m = 128, block_n = block_n_, block_k = row / element, stages = stages_;
  static constexpr int cluster = cluster_;  // CTAs, one tile below the other
  static constexpr int group = group_;      // rows of tiles that CTAs which run at the same time share
  static constexpr int consumers = block_m / mma_m, threads = (1 + consumers) * warpgroup_size;
  static constexpr int boxes_b = block_n * element / row, box_b = block_k * row;
  static constexpr int tile_a = block_m * row, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int box_c = 16 * row;  // what a warp stores at once: 16 rows of 64 columns
  // Registers of a thread: 168 for each of 384 threads, handed from the producer's warps to the consumers'.
  static constexpr int producer_registers = 40, consumer_registers = 232;

  struct Shared {
    alignas(1024) unsigned char ring[stages][stage_bytes];  // 1024: where the swizzle's pattern repeats
    unsigned char c[consumers * warps_per_group][2][box_c];
    ptx::Mbarrier full[stages], empty[stages];
  };
  static constexpr int shared_bytes = sizeof(Shared) + 1024;  // to align it
  static_assert(shared_bytes <= 227 * 1024, "what a CTA may have");
  static_assert(boxes_b % cluster == 0 && group % cluster == 0, "CTAs of a cluster share evenly");
  static_assert(producer_registers + consumers * consumer_registers <= (1 + consumers) * 168,
                "no more than there are");
};

struct Maps {
  CUtensorMap a, b, c;
};

// What a CTA works on, in order. Clusters take pairs of tiles in turn: down `group` rows of tiles, then on to
// the next column.
template <class C>
struct Tiles {
  int tiles_m, tiles_n, rank;
  int next = int(blockIdx.x) / C::cluster;
  int row0 = 0, col0 = 0;

  __device__ bool advance() {
    const int pairs_m = ceil_div(tiles_m, C::cluster);
    if (next >= pairs_m * tiles_n) return false;
    constexpr int group = C::group / C::cluster;
    const int per_group = group * tiles_n, first = next / per_group * group, i = next % per_group;
    const int rows = min(pairs_m - first, group);
    row0 = ((first + i % rows) * C::cluster + rank) * C::block_m;
    col0 = i / rows * C::block_n;
    next += int(gridDim.x) / C::cluster;
    return true;
  }
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
};

// Global -> shared, by one thread. It runs ahead of the consumers, also from tile to tile, as far as the ring
// allows.
template <class C>
__device__ void produce(typename C::Shared& shared, const Maps& maps, int tiles_k, Tiles<C> tiles) {
  Slot<C> slot;
  while (tiles.advance()) {
    for (int t = 0; t < tiles_k; ++t) {
      const SharedAddress full = ptx::shared_address(&shared.full[slot.stage]);
      const SharedAddress to_a = ptx::shared_address(shared.ring[slot.stage]), to_b = to_a + C::tile_a;
      // Parity 1 first: the phase before the first is complete, the slots are free.
      ptx::mbarrier_wait(ptx::shared_address(&shared.empty[slot.stage]), slot.parity ^ 1);
      ptx::mbarrier_arrive_expect_bytes(full, C::stage_bytes);  // the peer's half of B included
      ptx::tma_load(to_a, maps.a, t * C::block_k, tiles.row0, full);
      constexpr int share = C::boxes_b / C::cluster;
#pragma unroll
      for (int i = 0; i < share; ++i) {
        const int box = tiles.rank * share + i, x = tiles.col0 + box * row / element;
        if constexpr (C::cluster == 1) {
          ptx::tma_load(to_b + box * C::box_b, maps.b, x, t * C::block_k, full);
        } else {
          ptx::tma_load_multicast(to_b + box * C::box_b, maps.b, x, t * C::block_k, full,
                                  (1 << C::cluster) - 1);
        }
      }
      slot.advance();
    }
  }
}

// Shared -> tensor cores -> C, by a warpgroup: 64 rows of each tile.
template <class C>
__device__ void consume(typename C::Shared& shared, const Maps& maps, int tiles_k, Tiles<C> tiles, int warp) {
  const int lane = threadIdx.x % warp_size, warpgroup = warp / warps_per_group;
  // A slot is filled by TMA of every CTA of the cluster, so all of them have to know that it is free.
  auto release = [&](int stage) {
    const SharedAddress empty = ptx::shared_address(&shared.empty[stage]);
    if constexpr (C::cluster == 1) {
      if (lane == 0) ptx::mbarrier_arrive(empty);
    } else {
      if (lane < C::cluster) ptx::mbarrier_arrive(empty, lane);
    }
  };

  Slot<C> slot;
  float sum[C::block_n / 8][4];
  while (tiles.advance()) {
    int before = 0;
    for (int t = 0; t < tiles_k; ++t) {
      ptx::mbarrier_wait(ptx::shared_address(&shared.full[slot.stage]), slot.parity);
      const SharedAddress from_a = ptx::shared_address(shared.ring[slot.stage]), from_b = from_a + C::tile_a;
      const MatrixDescriptor a(from_a + warpgroup * mma_m * row, 0, 8 * row, Swizzle::bytes128);
      const MatrixDescriptor b(from_b, C::box_b, 8 * row, Swizzle::bytes128);
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < C::block_k / mma_k; ++step)
        ptx::wgmma_m64k16<ptx::Major::mn>(sum, a + step * mma_k * element, b + step * mma_k * row,
                                          t > 0 || step > 0);
      ptx::wgmma_commit_group();
      // These products run on; those of the k-tile before are complete, and its slot is free.
      ptx::wgmma_wait_group<1>();
      if (t > 0) release(before);
      before = slot.stage;
      slot.advance();
    }
    ptx::wgmma_wait_group<0>();
    ptx::keep_sums(sum);
    release(before);

    // Each warp stores its own 16 rows, 64 columns at a time, through two buffers: while TMA reads one, the
    // other is filled. Nobody waits for the last ones before the next tile.
    const int to = lane % 16;  // the row whose address this lane gives to stmatrix
#pragma unroll
    for (int box = 0; box < C::block_n * element / row; ++box) {
      const SharedAddress buffer = ptx::shared_address(shared.c[warp][box % 2]);
      if (lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();  // the buffer is free
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        unsigned both[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float(&from)[4] = sum[box * 8 + j + i / 2];
          const __nv_bfloat162 pair = __floats2bfloat162_rn(from[i % 2 * 2], from[i % 2 * 2 + 1]);
          both[i] = reinterpret_cast<const unsigned&>(pair);
        }
        ptx::stmatrix_x4(buffer + to * row + (j + lane / 16 ^ to % 8) * 16, both);
      }
      ptx::fence_proxy_async();
      __syncwarp();  // the box is complete
      if (lane == 0) {
        ptx::tma_store(maps.c, tiles.col0 + box * row / element, tiles.row0 + warp * 16, buffer);
        ptx::bulk_commit_group();
      }
    }
  }
  if (lane == 0) ptx::bulk_wait_group_read<0>();  // shared memory lives until then
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(const __grid_constant__ Maps maps, int k, int tiles_m, int tiles_n) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int warp =
      __shfl_sync(~0u, int(threadIdx.x) / warp_size, 0);  // the compiler shall know it is the same for all
  const Tiles<C> tiles{tiles_m, tiles_n, C::cluster > 1 ? ptx::cluster_rank() : 0};
  const int tiles_k = ceil_div(k, C::block_k);

  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(ptx::shared_address(&shared.full[s]), 1);
      ptx::mbarrier_init(ptx::shared_address(&shared.empty[s]), C::cluster * C::consumers * warps_per_group);
    }
    ptx::fence_mbarrier_init();
  }
  // The peers' barriers are there, too, before anything is sent to them.
  if constexpr (C::cluster > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }

  if (warp < warps_per_group) {
    ptx::give_back_registers<C::producer_registers>();
    if (threadIdx.x == 0) produce<C>(shared, maps, tiles_k, tiles);
    __syncwarp();
  } else {
    ptx::take_registers<C::consumer_registers>();
    consume<C>(shared, maps, tiles_k, tiles, warp - warps_per_group);
  }
  if constexpr (C::cluster > 1)
    ptx::cluster_sync();  // no CTA leaves while a peer may still arrive at its barriers
}

template <class C>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  int device = 0, sms = 0;
  Maps maps;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error =
        cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.a, p.a, p.m, p.k, C::block_m, C::block_k, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.b, p.b, p.k, p.n, C::block_k, row / element, Swizzle::bytes128);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.c, p.c, p.m, p.n, 16, row / element, Swizzle::bytes128);
  if (error != cudaSuccess) return error;

  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  const long long clusters = 1ll * ceil_div(tiles_m, C::cluster) * tiles_n;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {C::cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(std::min<long long>(sms / C::cluster, clusters)) * C::cluster;
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, gemm_kernel<C>, maps, p.k, tiles_m, tiles_n);
}

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

cudaError_t gemm_no_cluster(const Gemm& p, cudaStream_t stream) {
  return launch<Config<256, 4, 1, 16>>(p, stream);
}
cudaError_t gemm_cluster_of_4(const Gemm& p, cudaStream_t stream) {
  return launch<Config<256, 4, 4, 16>>(p, stream);
}
cudaError_t gemm_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 6, 2, 16>>(p, stream);
}
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Config<256, 3, 2, 16>>(p, stream);
}
cudaError_t gemm_row_by_row(const Gemm& p, cudaStream_t stream) {
  return launch<Config<256, 4, 2, 2>>(p, stream);
}
cudaError_t gemm_warp_specialized(const Gemm& p, cudaStream_t stream) {
  return launch<Config<256, 4, 2, 16>>(p, stream);
}

}  // namespace ladder::rung_08
