// Two asynchronous units do the work of the mainloop: TMA copies whole boxes of A and B into a multistage
// buffer in shared memory, and wgmma multiplies them from there, without a fragment in a register. The
// threads only synchronise the two: each stage has a full and an empty mbarrier.
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/timeline.cuh"
#include "common/ptx/tma.cuh"
#include "common/ptx/wgmma.cuh"
#include "common/rung.h"

namespace ladder::rung_07 {
namespace {

using ptx::MatrixDescriptor;
using ptx::SharedAddress;
using ptx::Swizzle;

constexpr int warp_size = 32, warpgroup_size = 128;
constexpr int mma_m = 64, mma_k = 16;  // of a wgmma; its n is the CTA tile's
constexpr int element = sizeof(__nv_bfloat16);

// The rung: a thread has 128 accumulators, and four stages of 48 KiB are in the buffer.
template <int block_n_ = 256, int stages_ = 4, Swizzle swizzle_ = Swizzle::bytes128>
struct Config {
  static constexpr int block_m = 128, block_n = block_n_, block_k = 64, stages = stages_;
  static constexpr Swizzle swizzle = swizzle_;
  static constexpr int warpgroups = block_m / mma_m, threads = warpgroups * warpgroup_size;
  static constexpr int row = int(swizzle), box_cols = row / element;  // bytes, elements of a box's row
  static constexpr int box_a = block_m * row, box_b = block_k * row;  // A's boxes go across k, B's across n
  static constexpr int boxes_a = block_k / box_cols, boxes_b = block_n / box_cols;
  static constexpr int tile_a = boxes_a * box_a, tile_b = boxes_b * box_b, stage_bytes = tile_a + tile_b;
  static constexpr int group_m = 8;  // rows of CTA tiles that neighbouring CTAs share

  struct Shared {                                             // 227 KiB at most
    alignas(1024) unsigned char buffer[stages][stage_bytes];  // the widest swizzle's pattern is 1024 bytes
    ptx::Mbarrier full[stages], empty[stages];
  };
  static_assert(block_m % mma_m == 0 && block_m <= 256, "a box has at most 256 rows");
  static_assert(box_a % 1024 == 0 && box_b % 1024 == 0, "every box starts where the swizzle's pattern does");
  static_assert(stages * stage_bytes >= block_m * block_n * element, "the epilogue reuses the buffer for C");
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

// The epilogue of a warpgroup: its 64 rows of accumulators, in bf16, to `row`, `col` of C. They pass through
// shared memory in boxes of 64 columns, swizzled so that stmatrix has no bank conflicts; TMA does not store
// what lies past the edges of C. All MMAs that read `buffer` are complete, in every warpgroup of the CTA.
template <int columns>
__device__ void store_accumulator(const float (&accumulator)[columns / 8][4], SharedAddress buffer,
                                  const CUtensorMap& c, int row, int col) {
  constexpr int box_row = 64 * element, box = mma_m * box_row;  // bytes
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size % 4;
  const int row_of_lane = warp * 16 + lane % 16;
#pragma unroll
  for (int j = 0; j < columns / 8; j += 2) {
    unsigned packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* const from = &accumulator[j + i / 2][i % 2 * 2];
      const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
      packed[i] = reinterpret_cast<const unsigned&>(pair);
    }
    const int chunk = j % 8 + lane / 16;  // of 16 bytes
    ptx::stmatrix_x4(buffer + j / 8 * box + row_of_lane * box_row + (chunk ^ row_of_lane % 8) * 16, packed);
  }
  // TMA reads through the async proxy: every thread fences what it wrote, then one issues the copies.
  ptx::fence_proxy_async();
  __syncthreads();
  if (threadIdx.x % warpgroup_size == 0) {
    for (int i = 0; i < columns / 64; ++i) ptx::tma_store(c, col + i * 64, row, buffer + i * box);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group_read<0>();  // the CTA's shared memory must outlive the copies' reads
  }
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
  const bool issues = threadIdx.x == 0;  // the CTA's TMA loads

  // A stage is full when its bytes have landed, and empty when every warp has arrived after its MMAs.
  auto full = [&](int stage) { return ptx::shared_address(&shared.full[stage]); };
  auto empty = [&](int stage) { return ptx::shared_address(&shared.empty[stage]); };
  if (issues) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(full(s), 1);
      ptx::mbarrier_init(empty(s), C::threads / warp_size);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  // Global -> shared. What lies past the edges of A and B arrives as zeros, which count as bytes, too.
  auto load = [&](int k_tile) {
    const int stage = k_tile % C::stages, k0 = k_tile * C::block_k;
    const SharedAddress to_a = ptx::shared_address(shared.buffer[stage]), to_b = to_a + C::tile_a;
    ptx::mbarrier_arrive_expect_bytes(full(stage), C::stage_bytes);
#pragma unroll
    for (int i = 0; i < C::boxes_a; ++i)
      ptx::tma_load(to_a + i * C::box_a, maps.a, k0 + i * C::box_cols, row0, full(stage));
#pragma unroll
    for (int i = 0; i < C::boxes_b; ++i)
      ptx::tma_load(to_b + i * C::box_b, maps.b, col0 + i * C::box_cols, k0, full(stage));
  };
  ptx::Track<Maps> track(maps, Role::all, threadIdx.x % warpgroup_size < 32);  // a warp of each warpgroup
  if (issues) {
    for (int t = 0; t < min(C::stages, tiles_k); ++t) load(t);
    track.mark(Doing::load);
  }

  // Shared -> tensor cores. A is k-major: 8 rows make an atom, and the next 16 of k are 32 bytes further on
  // in its rows, or in the next box. B is n-major: 8 rows of k make an atom, the next 16 of k are two atoms
  // further on, and the next columns are another box.
  float accumulator[C::block_n / 8][4] = {};
  auto multiply = [&](int stage) {
    const SharedAddress from_a = ptx::shared_address(shared.buffer[stage]), from_b = from_a + C::tile_a;
    const MatrixDescriptor a(from_a + warpgroup * mma_m * C::row, C::box_a, 8 * C::row, C::swizzle);
    const MatrixDescriptor b = C::swizzle == Swizzle::none
                                   ? MatrixDescriptor(from_b, 8 * C::row, C::box_b, C::swizzle)
                                   : MatrixDescriptor(from_b, C::box_b, 8 * C::row, C::swizzle);
#pragma unroll
    for (int k0 = 0; k0 < C::block_k; k0 += mma_k) {
      const int along_a = k0 * element / C::row * C::box_a + k0 * element % C::row, along_b = k0 * C::row;
      ptx::wgmma_m64k16<ptx::Major::mn>(accumulator, a + along_a, b + along_b, true);
    }
    ptx::wgmma_commit_group();
  };

  ptx::keep_accumulators(accumulator);
  for (int t = 0; t < tiles_k; ++t) {
    const int stage = t % C::stages;
    // No fence after this wait: TMA has written and wgmma reads through the same proxy, the async one.
    ptx::mbarrier_wait(full(stage), t / C::stages % 2);
    track.mark(Doing::wait_for_data, t);
    ptx::wgmma_fence();
    multiply(stage);
    // These MMAs run on while the warpgroup waits for those of the k-tile before. TMA can refill the stage
    // of that one once every warp has arrived.
    ptx::wgmma_wait_group<1>();
    track.mark(Doing::multiply, t);
    if (t > 0 && t - 1 + C::stages < tiles_k) {
      const int before = (t - 1) % C::stages;
      if (threadIdx.x % warp_size == 0) ptx::mbarrier_arrive(empty(before));
      if (issues) {
        ptx::mbarrier_wait(empty(before), (t - 1) / C::stages % 2);
        track.mark(Doing::wait_for_stage, t - 1 + C::stages);
        load(t - 1 + C::stages);
        track.mark(Doing::load, t - 1 + C::stages);
      }
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);
  track.mark(Doing::multiply, tiles_k - 1);

  __syncthreads();  // no warpgroup's MMAs read the buffer any more
  const int tile_c = mma_m * C::block_n * element;
  store_accumulator<C::block_n>(accumulator, ptx::shared_address(shared.buffer) + warpgroup * tile_c, maps.c,
                                row0 + warpgroup * mma_m, col0);
  track.mark(Doing::store);
  track.end();
}

template <class C, class Maps>
cudaError_t launch_kernel(const Gemm& p, Maps maps, cudaStream_t stream, int pitch_a = 0, int pitch_b = 0,
                          int pitch_c = 0) {
  constexpr int shared_bytes = sizeof(typename C::Shared) + 1024;  // to align it
  cudaError_t error =
      cudaFuncSetAttribute(gemm_kernel<C, Maps>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.a, p.a, p.m, p.k, C::block_m, C::box_cols, C::swizzle, pitch_a);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.b, p.b, p.k, p.n, C::block_k, C::box_cols, C::swizzle, pitch_b);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.c, p.c, p.m, p.n, mma_m, 64, Swizzle::bytes128, pitch_c);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, C::block_m), tiles_n = ceil_div(p.n, C::block_n);
  gemm_kernel<C, Maps><<<unsigned(tiles_m) * unsigned(tiles_n), C::threads, shared_bytes, stream>>>(
      maps, p.k, tiles_m, tiles_n);
  return cudaGetLastError();
}

template <class C>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  return launch_kernel<C>(p, TensorMaps{}, stream);
}

cudaError_t launch_traced(const Gemm& p, const Timeline& to, cudaStream_t stream) {
  return launch_kernel<Config<>>(p, Traced<TensorMaps>{{}, to}, stream);
}

Text rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

template <class C>
Variant<Gemm> ablation(const char* name, const char* what) {
  return {.name = name, .what = what, .unsupported = rows_of_vectors, .launch = launch<C>};
}

}  // namespace

// For shapes/any_n_k.cu.
cudaError_t launch_pitched(const Gemm& p, int pitch_a, int pitch_b, int pitch_c, cudaStream_t stream) {
  return launch_kernel<Config<>>(p, TensorMaps{}, stream, pitch_a, pitch_b, pitch_c);
}

Variants<Gemm> gemm() {
  return {ablation<Config<256, 4, Swizzle::none>>("no_swizzle",
                                                  "boxes of 16 bytes: core matrices one after the other"),
          ablation<Config<256, 4, Swizzle::bytes32>>("swizzle_32", "boxes of 32 bytes"),
          ablation<Config<256, 4, Swizzle::bytes64>>("swizzle_64", "boxes of 64 bytes"),
          ablation<Config<128>>("128x128", "128x128 tiles, four stages"),
          ablation<Config<256, 2>>("2_stages", "two stages"),
          ablation<Config<256, 3>>("3_stages", "three stages"),
          {.name = "wgmma_tma",
           .what = "128x256 tiles, four stages, boxes of 128 bytes",
           .unsupported = rows_of_vectors,
           .launch = launch<Config<>>,
           .traced = launch_traced}};
}

}  // namespace ladder::rung_07
