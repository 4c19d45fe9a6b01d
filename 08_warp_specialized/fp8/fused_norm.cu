// The rung's norm with y in e4m3 and a scale for every 128 neighbours, as the gemm after it reads its A: a
// row in the registers of a cluster, whose CTAs now take whole blocks. The largest |y| of a block is known
// when 16 lanes have compared theirs, so y is converted in registers and never stored in bf16.
#include <algorithm>

#include "common/extension.h"
#include "common/ptx/cluster.cuh"
#include "common/ptx/cvt.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_08 {
namespace {

constexpr int block_vectors = BlockScales::block / vector;  // lanes that share a block
constexpr int least_threads = 128;                          // of a CTA that shares no row

// Stores y of a thread's vector, the `col`th of the row; `there`: before the row's end, and else h is 0. By
// all lanes of a warp, whose vectors are neighbours, the first a multiple of 16.
__device__ void store_quantised(const QuantisedRows& to, const QuantisedLayout& layout, int row, int col,
                                bool there, uint4 h, uint4 gamma, float scale) {
  if (!there) gamma = make_uint4(0, 0, 0, 0);  // has not been loaded
  const unsigned hs[4] = {h.x, h.y, h.z, h.w}, gammas[4] = {gamma.x, gamma.y, gamma.z, gamma.w};
  float y[vector], largest = 0;
#pragma unroll
  for (int i = 0; i < vector; ++i) {
    y[i] = i % 2 == 0 ? low_half(hs[i / 2]) * scale * low_half(gammas[i / 2])
                      : high_half(hs[i / 2]) * scale * high_half(gammas[i / 2]);
    largest = fmaxf(largest, fabsf(y[i]));
  }
#pragma unroll
  for (int distance = block_vectors / 2; distance > 0; distance /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFFu, largest, distance));
  const float of_block = largest / 448, inverse = 448 / largest;  // 448: the largest e4m3
  if (largest >= 0x1p-100f) {
#pragma unroll
    for (float& value : y) value *= inverse;  // one division for eight
  } else {                                    // whose inverse may be too large for fp32
#pragma unroll
    for (float& value : y) value = of_block == 0 ? 0 : value / of_block;
  }
  if (!there) return;
  *reinterpret_cast<uint2*>(to.elements + row * layout.pitch() + col * vector) =
      make_uint2(ptx::e4m3x2(y[0], y[1]) | ptx::e4m3x2(y[2], y[3]) << 16,
                 ptx::e4m3x2(y[4], y[5]) | ptx::e4m3x2(y[6], y[7]) << 16);
  if (col % block_vectors == 0)
    *reinterpret_cast<float*>(to.scales + layout.scale_at(row, col / block_vectors)) = of_block;
}

// Vectors that each of a row's CTAs has at most: whole blocks.
__host__ __device__ constexpr int share_of_cta(int row_vectors, int cluster) {
  return ceil_div(ceil_div(row_vectors, cluster), block_vectors) * block_vectors;
}

// The sum over the cluster of `of_cta`, in all its threads, as in the rung's fused_norm.cu.
template <int cluster>
__device__ float cluster_sum(float of_cta, float (&sums)[cluster], ptx::SharedAddress barrier) {
  ptx::cluster_wait();  // every CTA has initialised its barrier
  if (threadIdx.x < cluster)
    ptx::store_async(ptx::shared_address(&sums[ptx::cluster_rank()]), of_cta, barrier, threadIdx.x);
  ptx::mbarrier_wait(barrier, 0);
  float sum = 0;
#pragma unroll
  for (float one : sums) sum += one;
  return sum;
}

// As in the rung's fused_norm.cu: `cluster` CTAs have a row, or a CTA has blockDim.y rows.
template <int vectors, int cluster, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_cluster(FusedNorm p, QuantisedRows y) {
  __shared__ float partial[least_threads / warp_size][warp_size];
  __shared__ float sums[cluster];
  __shared__ ptx::Mbarrier arrived;
  if constexpr (cluster > 1) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_init(ptx::shared_address(&arrived), 1);
      ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof sums);
      ptx::fence_mbarrier_init();
    }
    ptx::cluster_arrive_relaxed();  // cluster_sum() waits
  }

  const int row = blockIdx.x / cluster * blockDim.y + threadIdx.y, row_vectors = p.cols / vector;
  const int share = share_of_cta(row_vectors, cluster), begin = cluster > 1 ? ptx::cluster_rank() * share : 0;
  const int end = row < p.rows ? min(begin + share, row_vectors) : 0;
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return begin + v * int(blockDim.x) + int(threadIdx.x); };  // in vectors

  constexpr bool gamma_early = vectors <= 4;
  constexpr int batch = vectors <= 4 ? vectors : 4;
  uint4 h[vectors], gamma[vectors];
  float squares = 0;
#pragma unroll
  for (int first = 0; first < vectors; first += batch) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      x[i] = residual[i] = make_uint4(0, 0, 0, 0);
      if (column(first + i) >= end) continue;
      x[i] = load(p.x + start + column(first + i) * vector);
      residual[i] = load(p.residual + start + column(first + i) * vector);
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (gamma_early && first == 0 && column(v) < end) gamma[v] = load(p.gamma + column(v) * vector);
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      h[first + i] = add_vector(x[i], residual[i], squares);
      if (column(first + i) < end) store(p.h + start + column(first + i) * vector, h[first + i]);
    }
  }

  float sum = row_sum(squares, partial[threadIdx.y]);
  if constexpr (cluster > 1) sum = cluster_sum(sum, sums, ptx::shared_address(&arrived));
  const float scale = rsqrtf(sum / float(p.cols) + p.eps);
  const QuantisedLayout layout(Precision::fp8_block, p.rows, p.cols);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const bool there = column(v) < end;
    if (!gamma_early && there) gamma[v] = load(p.gamma + column(v) * vector);
    store_quantised(y, layout, row, column(v), there, h[v], gamma[v], scale);  // by all lanes
  }
}

template <int vectors, int cluster, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  auto* kernel = row_in_cluster<vectors, cluster, most_threads>;
  const int share = share_of_cta(p.cols / vector, cluster);
  const int threads = ceil_div(ceil_div(share, vectors), warp_size) * warp_size;
  const int rows_per_cta = cluster == 1 ? std::max(1, least_threads / threads) : 1;
  cudaLaunchAttribute of_cluster{};
  of_cluster.id = cudaLaunchAttributeClusterDimension;
  of_cluster.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(ceil_div(p.rows, rows_per_cta)) * cluster;
  config.blockDim = dim3(threads, rows_per_cta);
  config.stream = stream;
  config.attrs = &of_cluster;
  config.numAttrs = cluster > 1 ? 1 : 0;
  if (cluster > 8) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  return cudaLaunchKernelEx(&config, kernel, p, *p.quantised);
}

cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols <= 2048) return launch<1, 1, 256>(p, stream);
  if (p.cols <= 4096) return launch<2, 1, 256>(p, stream);
  if (p.cols <= 8192) return launch<1, 2, 512>(p, stream);
  if (p.cols <= 16384) return launch<4, 2, 256>(p, stream);
  if (p.cols <= 32768) return launch<4, 4, 256>(p, stream);
  if (p.cols <= 262144) return launch<4, 16, 512>(p, stream);
  return launch<16, 16, 512>(p, stream);
}

Text rows_in_registers(const FusedNorm& p) {
  if (p.cols % vector == 0 && p.cols <= 1048576) return {};
  return "cols must be a multiple of 8, and at most 1048576: a row is in registers of a cluster";
}

constexpr Extension<FusedNorm> block_scales{.precision = Precision::fp8_block};

}  // namespace

Variants<FusedNorm> fused_norm_fp8() {
  return {{.name = "fp8_block",
           .what = "y in e4m3 with a scale for every 128 elements",
           .unsupported = rows_in_registers,
           .launch = launch_by_width,
           .extension = &block_scales}};
}

}  // namespace ladder::rung_08
