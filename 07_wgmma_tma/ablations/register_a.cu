// The rung with A in registers: TMA fills the stages as before, a warpgroup loads its fragments of A from the
// swizzled stage with ldmatrix, and wgmma reads only B from shared memory. A kernel needs this form where A
// is not what lies in memory: converted, scaled, or the result of another product. Threads touch the operand
// again, and while the MMAs of one k-tile run, the next k-tile's fragments need registers of their own.
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"
#include "common/ptx/wgmma_register_a.cuh"
#include "common/rung.h"

namespace ladder::rung_07 {
namespace {

constexpr int block_m = 128, block_n = 256, block_k = 64, mma_k = 16, stages = 4, threads = 256;
constexpr int element = sizeof(__nv_bfloat16), row_bytes = 128, box_cols = row_bytes / element;
constexpr int box_b = block_k * row_bytes, tile_a = block_m * row_bytes, tile_b = block_n / box_cols * box_b;
constexpr int stage_bytes = tile_a + tile_b, shared_bytes = stages * stage_bytes + 1024;  // 1024 to align it
constexpr int steps = block_k / mma_k;
constexpr int group_m = 8;  // rows of CTA tiles that neighbouring CTAs share

__global__ void __launch_bounds__(threads, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, Gemm p,
                int tiles_m, int tiles_n) {
  extern __shared__ unsigned char unaligned[];
  __shared__ ptx::Mbarrier full_barriers[stages], empty_barriers[stages];
  const ptx::SharedAddress buffer = (ptx::shared_address(unaligned) + 1023) / 1024 * 1024;
  const int per_group = group_m * tiles_n, first = blockIdx.x / per_group * group_m;  // as in gemm.cu
  const int rows = min(tiles_m - first, group_m), i = blockIdx.x % per_group;
  const int row0 = (first + i % rows) * block_m, col0 = i / rows * block_n;
  const int tiles_k = 2 * ceil_div(p.k, 2 * block_k);  // even: TMA reads zeros past the edge
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  auto full = [&](int k_tile) { return ptx::shared_address(&full_barriers[k_tile % stages]); };
  auto empty = [&](int k_tile) { return ptx::shared_address(&empty_barriers[k_tile % stages]); };
  auto load = [&](int t) {  // global -> shared, by one thread
    const ptx::SharedAddress to = buffer + t % stages * stage_bytes;
    ptx::mbarrier_arrive_expect_bytes(full(t), stage_bytes);
    ptx::tma_load(to, map_a, t * block_k, row0, full(t));
    for (int box = 0; box < block_n / box_cols; ++box)
      ptx::tma_load(to + tile_a + box * box_b, map_b, col0 + box * box_cols, t * block_k, full(t));
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(full(s), 1);
      ptx::mbarrier_init(empty(s), threads / 32);
    }
    ptx::fence_mbarrier_init();
    for (int t = 0; t < min(stages, tiles_k); ++t) load(t);
  }
  __syncthreads();

  float accumulator[block_n / 8][4] = {};
  auto k_tile = [&](int t, unsigned(&a)[steps][4]) {
    const ptx::SharedAddress from = buffer + t % stages * stage_bytes;
    ptx::mbarrier_wait(full(t), t / stages % 2);
    // Shared -> registers, while the MMAs of k-tile t - 1 run on the other fragments. A warp has 16 rows; a
    // lane's row address is swizzled as TMA has written it: chunk c of row r lies at c ^ r % 8.
    const int row = warp * 16 + lane % 16;
#pragma unroll
    for (int step = 0; step < steps; ++step)
      ptx::ldmatrix_x4(a[step], from + row * row_bytes + ((2 * step + lane / 16) ^ row % 8) * 16);
    // Registers and shared -> tensor cores. The fence orders the ldmatrix before the MMAs that read its
    // registers; until their group has been waited for, nothing may write these.
    ptx::wgmma_fence();
    const ptx::MatrixDescriptor b(from + tile_a, box_b, 8 * row_bytes, ptx::Swizzle::bytes128);
#pragma unroll
    for (int step = 0; step < steps; ++step)
      ptx::wgmma_m64k16<ptx::Major::mn>(accumulator, a[step], b + step * mma_k * row_bytes);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();  // the MMAs of k-tile t - 1: its stage and its fragments are free
    if (t == 0 || t - 1 + stages >= tiles_k) return;
    __syncwarp();  // every lane has loaded its fragments: one lane arrives for the warp
    if (lane == 0) ptx::mbarrier_arrive(empty(t - 1));
    if (threadIdx.x != 0) return;
    ptx::mbarrier_wait(empty(t - 1), (t - 1) / stages % 2);
    load(t - 1 + stages);
  };
  // Two sets of fragments, for k-tiles in turn. The number of k-tiles is even because ptxas serialises the
  // MMAs (C7513) where the second of the two is under a condition.
  unsigned even[steps][4], odd[steps][4];
  ptx::keep_accumulators(accumulator);
  for (int t = 0; t < tiles_k; t += 2) {
    k_tile(t, even);
    k_tile(t + 1, odd);
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);

  // Registers -> global, without a detour through shared memory: two neighbours of C in a store.
#pragma unroll
  for (int j = 0; j < block_n / 8; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warp * 16 + half * 8 + lane / 4, col = col0 + j * 8 + lane % 4 * 2;
      const float* const from = &accumulator[j][half * 2];
      const __nv_bfloat162 pair = __floats2bfloat162_rn(from[0], from[1]);
      if (row < p.m && col < p.n)
        *reinterpret_cast<__nv_bfloat162*>(p.c + std::size_t(row) * p.n + col) = pair;
    }
}

cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  constexpr auto swizzle = ptx::Swizzle::bytes128;
  CUtensorMap a, b;
  auto error = cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error == cudaSuccess) error = ptx::make_tensor_map(&a, p.a, p.m, p.k, block_m, box_cols, swizzle);
  if (error == cudaSuccess) error = ptx::make_tensor_map(&b, p.b, p.k, p.n, block_k, box_cols, swizzle);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, block_m), tiles_n = ceil_div(p.n, block_n);
  const unsigned ctas = unsigned(tiles_m) * unsigned(tiles_n);
  gemm_kernel<<<ctas, threads, shared_bytes, stream>>>(a, b, p, tiles_m, tiles_n);
  return cudaGetLastError();
}

Text rows_of_vectors(const Gemm& p) {
  if (p.n % 8 == 0 && p.k % 8 == 0) return {};
  return "n and k must be multiples of 8 (--variant any_n_k takes others)";
}

}  // namespace

Variants<Gemm> register_a() {
  return {{.name = "register_a",
           .what = "A from registers, loaded with ldmatrix",
           .unsupported = rows_of_vectors,
           .launch = launch}};
}

}  // namespace ladder::rung_07
