// Two units that work by themselves: TMA fetches whole boxes of A and B into a ring in shared memory, and
// wgmma multiplies them from there, with no fragment in a register. What is left for threads to do is to say
// when: a full and an empty mbarrier for every stage of the ring.
#include <algorithm>

#include "07_wgmma_tma/variants.h"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/timeline.cuh"
#include "common/ptx/tma.cuh"
#include "common/ptx/wgmma.cuh"

namespace ladder::rung_07 {
namespace {

using ptx::MatrixDescriptor;
using ptx::SharedAddress;
using ptx::Swizzle;

constexpr int warpgroup_size = 128;
constexpr int mma_m = 64, mma_k = 16;  // of a wgmma; its n is the CTA tile's
constexpr int element = sizeof(__nv_bfloat16);

// Shared memory of a CTA: 227 KiB at most.
template <int block_m_, int block_n_, int stages_, Swizzle swizzle_ = Swizzle::bytes128>
struct Config {
  static constexpr int block_m = block_m_, block_n = block_n_, block_k = 64, stages = stages_;
  static constexpr Swizzle swizzle = swizzle_;
  static constexpr int warpgroups = block_m / mma_m, threads = warpgroups * warpgroup_size;
  static constexpr int row = int(swizzle);                            // bytes of a box's row
  static constexpr int box_a = block_m * row, box_b = block_k * row;  // A's boxes go across k, B's across n
  static constexpr int boxes_a = block_k * element / row, boxes_b = block_n * element / row;
  static constexpr int tile_a = boxes_a * box_a, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int group_m = 8;  // rows of CTA tiles that neighbouring CTAs share

  struct Shared {
    alignas(1024) unsigned char ring[stages][stage_bytes];  // where the pattern of the widest swizzle repeats
    ptx::Mbarrier full[stages], empty[stages];
  };
  static_assert(block_m % mma_m == 0 && block_m <= 256, "a box has at most 256 rows");
  static_assert(box_a % 1024 == 0 && box_b % 1024 == 0, "every box starts where the swizzle's pattern does");
  static_assert(stages * stage_bytes >= block_m * block_n * element, "C's tile passes through the ring");
};

struct TensorMaps {
  CUtensorMap a, b, c;
};

// The order of CTA tiles, as on rung 06: down `group` rows of them, then on to the next column.
__device__ int2 tile_of_cta(int index, int tiles_m, int tiles_n, int group) {
  const int per_group = group * tiles_n, first = index / per_group * group;
  const int rows = min(tiles_m - first, group), i = index % per_group;
  return make_int2(first + i % rows, i / rows);
}

template <class C, class Maps>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(const __grid_constant__ Maps maps, int k, int tiles_m, int tiles_n) {
  extern __shared__ unsigned char unaligned[];
  auto& shared = *reinterpret_cast<typename C::Shared*>(
      unaligned + (1024 - ptx::shared_address(unaligned) % 1024) % 1024);
  const int2 tile = tile_of_cta(blockIdx.x, tiles_m, tiles_n, C::group_m);
  const int row0 = tile.x * C::block_m, col0 = tile.y * C::block_n, tiles_k = ceil_div(k, C::block_k);
  const int warpgroup = threadIdx.x / warpgroup_size;
  const bool issues = threadIdx.x == 0;  // the thread that speaks to TMA

  auto full = [&](int stage) { return ptx::shared_address(&shared.full[stage]); };
  auto empty = [&](int stage) { return ptx::shared_address(&shared.empty[stage]); };
  if (issues) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(full(s), 1);
      ptx::mbarrier_init(empty(s), C::threads / 32);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  // Global -> shared. What lies past the edges of A and B arrives as zeros, and as bytes.
  auto load = [&](int k_tile) {
    const int stage = k_tile % C::stages;
    const SharedAddress to_a = ptx::shared_address(shared.ring[stage]), to_b = to_a + C::tile_a;
    ptx::mbarrier_arrive_expect_bytes(full(stage), C::stage_bytes);
#pragma unroll
    for (int i = 0; i < C::boxes_a; ++i)
      ptx::tma_load(to_a + i * C::box_a, maps.a, k_tile * C::block_k + i * C::row / element, row0,
                    full(stage));
#pragma unroll
    for (int i = 0; i < C::boxes_b; ++i)
      ptx::tma_load(to_b + i * C::box_b, maps.b, col0 + i * C::row / element, k_tile * C::block_k,
                    full(stage));
  };
  ptx::Track<Maps> track(maps, Role::all, threadIdx.x % warpgroup_size < 32);  // a warp of each warpgroup
  if (issues) {
    for (int t = 0; t < min(C::stages, tiles_k); ++t) load(t);
    track.mark(Doing::load);
  }

  // Shared -> tensor cores. A is k-major: 8 rows make an atom, and k16 is 32 bytes, of a row or of the boxes'
  // next. B is n-major: 8 rows of k make an atom, the next n are another box, and k16 is two atoms.
  float sum[C::block_n / 8][4] = {};
  auto multiply = [&](int stage) {
    const SharedAddress from_a = ptx::shared_address(shared.ring[stage]), from_b = from_a + C::tile_a;
    const MatrixDescriptor a(from_a + warpgroup * mma_m * C::row, C::box_a, 8 * C::row, C::swizzle);
    const MatrixDescriptor b = C::swizzle == Swizzle::none
                                   ? MatrixDescriptor(from_b, 8 * C::row, C::box_b, C::swizzle)
                                   : MatrixDescriptor(from_b, C::box_b, 8 * C::row, C::swizzle);
#pragma unroll
    for (int step = 0; step < C::block_k / mma_k; ++step) {
      const int k_bytes = step * mma_k * element;
      ptx::wgmma_m64k16<ptx::Major::mn>(sum, a + (k_bytes / C::row * C::box_a + k_bytes % C::row),
                                        b + step * mma_k * C::row, true);
    }
    ptx::wgmma_commit_group();
  };

  ptx::keep_sums(sum);
  for (int t = 0; t < tiles_k; ++t) {
    const int stage = t % C::stages;
    ptx::mbarrier_wait(full(stage), t / C::stages % 2);
    track.mark(Doing::wait_for_data, t);
    ptx::wgmma_fence();
    multiply(stage);
    // While these products run, those of the k-tile before are complete, and its stage can be filled again as
    // soon as every warp says so.
    ptx::wgmma_wait_group<1>();
    track.mark(Doing::multiply, t);
    if (t > 0 && t - 1 + C::stages < tiles_k) {
      const int before = (t - 1) % C::stages;
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(empty(before));
      if (issues) {
        ptx::mbarrier_wait(empty(before), (t - 1) / C::stages % 2);
        track.mark(Doing::wait_for_slot, t - 1 + C::stages);
        load(t - 1 + C::stages);
        track.mark(Doing::load, t - 1 + C::stages);
      }
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_sums(sum);
  track.mark(Doing::multiply, tiles_k - 1);

  // C's tile, in bf16, through the ring: boxes of 64 columns, swizzled, which stmatrix fills without bank
  // conflicts and TMA stores, as far as they lie inside of C.
  __syncthreads();                    // everyone has left the ring
  constexpr int box_c = mma_m * 128;  // of a warpgroup
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const int row = warp * 16 + lane % 16;
  const SharedAddress mine = ptx::shared_address(shared.ring) + warpgroup * (C::block_n / 64) * box_c;
#pragma unroll
  for (int j = 0; j < C::block_n / 8; j += 2) {
    unsigned both[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const __nv_bfloat162 pair =
          __floats2bfloat162_rn(sum[j + i / 2][i % 2 * 2], sum[j + i / 2][i % 2 * 2 + 1]);
      both[i] = reinterpret_cast<const unsigned&>(pair);
    }
    const int chunk = j % 8 + lane / 16;
    ptx::stmatrix_x4(mine + j / 8 * box_c + row * 128 + (chunk ^ row % 8) * 16, both);
  }
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x % warpgroup_size == 0) {
    for (int i = 0; i < C::block_n / 64; ++i)
      ptx::tma_store(maps.c, col0 + i * 64, row0 + warpgroup * mma_m, mine + i * box_c);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group_read<0>();  // shared memory lives until then
  }
  track.mark(Doing::store);
  track.end();
}

template <class C, class Maps = TensorMaps>
cudaError_t launch(const Gemm& p, cudaStream_t stream, Maps maps = {}) {
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel<C, Maps>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.a, p.a, p.m, p.k, C::block_m, C::row / element, C::swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.b, p.b, p.k, p.n, C::block_k, C::row / element, C::swizzle);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.c, p.c, p.m, p.n, mma_m, 64, Swizzle::bytes128);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  gemm_kernel<C, Maps><<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, shared_bytes, stream>>>(
      maps, p.k, tiles_m, tiles_n);
  return cudaGetLastError();
}

}  // namespace

std::string rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8: a tensor map's rows are multiples of 16 bytes";
}

cudaError_t gemm_no_swizzle(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 256, 4, Swizzle::none>>(p, stream);
}
cudaError_t gemm_swizzle_32(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 256, 4, Swizzle::bytes32>>(p, stream);
}
cudaError_t gemm_swizzle_64(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 256, 4, Swizzle::bytes64>>(p, stream);
}
cudaError_t gemm_128x128(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 128, 4>>(p, stream);
}
cudaError_t gemm_2_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 256, 2>>(p, stream);
}
cudaError_t gemm_3_stages(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 256, 3>>(p, stream);
}
cudaError_t gemm_wgmma_tma(const Gemm& p, cudaStream_t stream) {
  return launch<Config<128, 256, 4>>(p, stream);
}
cudaError_t gemm_wgmma_tma_traced(const Gemm& p, const Timeline& timeline, cudaStream_t stream) {
  return launch<Config<128, 256, 4>>(p, stream, Traced<TensorMaps>{{}, timeline});
}

}  // namespace ladder::rung_07
