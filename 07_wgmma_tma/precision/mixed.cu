// Weights of 8 bits, activations in bf16. The tensor cores multiply no two types with each other, so the
// weights are converted on the way: TMA copies them as they are, a lane converts its fragments, and wgmma
// takes that operand from registers. Only its A can come from there, so the kernel computes the transposed
// product, Cᵀ = Bᵀ · Aᵀ, and exchanges rows and columns again when it stores.
#include "07_wgmma_tma/precision/mixed_tile.cuh"
#include "07_wgmma_tma/precision/prepare.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/wgmma_register_a.cuh"

namespace ladder::rung_07 {
namespace {

struct Maps {
  CUtensorMap a, weights, c;
};

template <class Weight, class T>
__global__ void __launch_bounds__(T::threads, T::ctas)
    gemm_kernel(const __grid_constant__ Maps maps, const float* scales, int n, int k, int tiles_m,
                int tiles_n) {
  extern __shared__ unsigned char unaligned[];
  __shared__ ptx::Mbarrier full_barriers[T::stages], empty_barriers[T::stages];
  const SharedAddress buffer = (ptx::shared_address(unaligned) + 1023) / 1024 * 1024;
  const int per_group = group_m * tiles_n, first = blockIdx.x / per_group * group_m;  // as in gemm.cu
  const int rows = min(tiles_m - first, group_m), in_group = blockIdx.x % per_group;
  const int row0 = (first + in_group % rows) * T::block_m, col0 = in_group / rows * T::block_n;
  const int tiles_k = 2 * ceil_div(k, 2 * T::block_k);  // even: TMA reads zeros past the edge
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warpgroup = warp / 4;

  auto full = [&](int k_tile) { return ptx::shared_address(&full_barriers[k_tile % T::stages]); };
  auto empty = [&](int k_tile) { return ptx::shared_address(&empty_barriers[k_tile % T::stages]); };
  auto load = [&](int t) {  // global -> shared, by one thread
    const SharedAddress to = buffer + t % T::stages * T::stage_bytes;
    ptx::mbarrier_arrive_expect_bytes(full(t), T::stage_bytes);
    ptx::tma_load(to, maps.weights, t * T::block_k, col0, full(t));
    for (int box = 0; box < T::boxes_a; ++box)
      ptx::tma_load(to + T::tile_b + box * T::box_a, maps.a, t * T::block_k + box * box_cols, row0, full(t));
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::stages; ++s) {
      ptx::mbarrier_init(full(s), 1);
      ptx::mbarrier_init(empty(s), T::threads / 32);
    }
    ptx::fence_mbarrier_init();
    for (int t = 0; t < min(T::stages, tiles_k); ++t) load(t);
  }
  __syncthreads();

  float accumulator[T::block_m / 8][4] = {};
  auto k_tile = [&](int t, unsigned(&a)[T::steps][4]) {
    const SharedAddress from = buffer + t % T::stages * T::stage_bytes;
    ptx::mbarrier_wait(full(t), t / T::stages % 2);
    // While the MMAs of k-tile t - 1 run on the other fragments: the tensor cores pay nothing for the
    // conversion as long as it takes less time than they do.
    load_fragments<Weight>(a, from, warp * 16 + lane % 16, lane);
    // The fence orders the conversions before the MMAs that read their results; until their group has been
    // waited for, nothing may write these registers.
    ptx::wgmma_fence();
#pragma unroll
    for (int step = 0; step < T::steps; ++step) {
      const ptx::MatrixDescriptor activations(from + T::tile_b + step / 4 * T::box_a, 0, 8 * box_row,
                                              ptx::Swizzle::bytes128);
      ptx::wgmma_m64k16<ptx::Major::k>(accumulator, a[step], activations + step % 4 * mma_k * element);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();  // the MMAs of k-tile t - 1: its stage and its fragments are free
    if (t == 0 || t - 1 + T::stages >= tiles_k) return;
    __syncwarp();  // every lane has loaded its fragments: one lane arrives for the warp
    if (lane == 0) ptx::mbarrier_arrive(empty(t - 1));
    if (threadIdx.x != 0) return;
    ptx::mbarrier_wait(empty(t - 1), (t - 1) / T::stages % 2);
    load(t - 1 + T::stages);
  };
  unsigned even[T::steps][4], odd[T::steps][4];  // two sets, for k-tiles in turn: see register_a.cu
  ptx::keep_accumulators(accumulator);
  for (int t = 0; t < tiles_k; t += 2) {
    k_tile(t, even);
    k_tile(t + 1, odd);
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_accumulators(accumulator);

  const int col = col0 + warp * 16 + lane / 4;  // of the lane's first row; the second is 8 further on
  const float scale[2] = {col < n ? scales[col] : 0, col + 8 < n ? scales[col + 8] : 0};
  __syncthreads();  // no warpgroup's MMAs read the buffer any more
  store<T>(accumulator, scale, buffer + warpgroup * T::tile_c, maps.c, row0, col0 + warpgroup * mma_n);
}

template <class Weight, class T>
cudaError_t launch_tile(const Gemm& p, cudaStream_t stream) {
  constexpr auto of_weights = T::block_k == 64 ? ptx::Swizzle::bytes64 : ptx::Swizzle::bytes128;
  const Workspace w(p);
  Maps maps;
  auto* const kernel = gemm_kernel<Weight, T>;
  auto error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::shared_bytes);
  if (error == cudaSuccess)
    error =
        ptx::make_tensor_map(&maps.a, w.a, p.m, p.k, T::block_m, box_cols, ptx::Swizzle::bytes128, w.pitch_a);
  if (error == cudaSuccess)
    error =
        ptx::make_tensor_map(&maps.weights, w.weights, p.n, w.pitch_b, T::block_n, T::block_k, of_weights);
  if (error == cudaSuccess)
    error = ptx::make_tensor_map(&maps.c, p.c, p.m, p.n, T::block_m, box_cols, ptx::Swizzle::bytes128);
  if (error != cudaSuccess) return error;
  const int tiles_m = ceil_div(p.m, T::block_m), tiles_n = ceil_div(p.n, T::block_n);
  kernel<<<unsigned(tiles_m) * unsigned(tiles_n), T::threads, T::shared_bytes, stream>>>(
      maps, w.scales, p.n, p.k, tiles_m, tiles_n);
  return cudaGetLastError();
}

template <class Weight>
cudaError_t launch(const Gemm& p, cudaStream_t stream) {
  return p.m <= most_rows_of_narrow ? launch_tile<Weight, Narrow>(p, stream)
                                    : launch_tile<Weight, Wide>(p, stream);
}

Text rows_of_c(const Gemm& p) {
  if (p.n % 8 == 0) return {};
  return "n must be a multiple of 8: TMA stores rows of C that are multiples of 16 bytes";
}

template <class Weight, Precision precision>
constexpr Extension<Gemm> mixed_operands{
    .precision = precision, .workspace_bytes = workspace_bytes, .prepare = prepare<Weight>};

}  // namespace

Variants<Gemm> mixed() {
  return {{.name = "bf16_s8",
           .what = "weights in 8-bit integers, converted to bf16 in registers",
           .unsupported = rows_of_c,
           .launch = launch<S8>,
           .extension = &mixed_operands<S8, Precision::bf16_s8>},
          {.name = "bf16_e4m3",
           .what = "the same with weights in e4m3",
           .unsupported = rows_of_c,
           .launch = launch<E4m3>,
           .extension = &mixed_operands<E4m3, Precision::bf16_e4m3>}};
}

}  // namespace ladder::rung_07
