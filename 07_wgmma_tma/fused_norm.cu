// Bulk copies: one thread issues the copy of a whole row, and the SM's TMA unit writes it into a ring buffer
// in shared memory while the threads reduce and store the rows before. A CTA stays for many rows and reads
// gamma once, into registers. Each stage has an mbarrier; a phase of it completes when a row has landed.
#include <algorithm>

#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_07 {
namespace {

// A row is blockDim.x threads with up to `vectors` vectors each; blockDim.y rows share a CTA where a row is
// one warp's, each with a ring buffer of its own. cols is a multiple of 8 and at most blockDim.x · vectors ·
// 8. Copies of `stages` rows are in flight.
template <int vectors, int stages, int most_threads>
__global__ void __launch_bounds__(most_threads) rows_through_ring_buffer(FusedNorm p) {
  constexpr bool gamma_stays = most_threads < 1024;  // 1024 threads have only 64 registers each
  extern __shared__ uint4 buffers[];                 // [row of the CTA][stage][x, residual][column]
  __shared__ ptx::Mbarrier barriers[stages * (most_threads / warp_size)];
  __shared__ float partial[2][warp_size];
  const int row_vectors = p.cols / vector;
  const uint4* buffer = buffers + std::size_t(threadIdx.y) * stages * 2 * row_vectors;
  auto full = [&](int stage) { return ptx::shared_address(&barriers[threadIdx.y * stages + stage]); };
  auto column = [&](int v) { return v * int(blockDim.x) + int(threadIdx.x); };  // in vectors

  // Issues the copies of a row's x and residual. By one thread of the row.
  auto copy = [&](unsigned row, int stage) {
    const std::size_t start = std::size_t(row) * p.cols;
    const uint4* to = buffer + stage * 2 * row_vectors;
    ptx::mbarrier_arrive_expect_bytes(full(stage), 2 * row_vectors * 16);
    ptx::bulk_load(ptx::shared_address(to), p.x + start, row_vectors * 16, full(stage));
    ptx::bulk_load(ptx::shared_address(to + row_vectors), p.residual + start, row_vectors * 16, full(stage));
  };

  const unsigned row_step = gridDim.x * blockDim.y;  // unsigned, as the row after the last may pass 2^31
  unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) ptx::mbarrier_init(full(stage), 1);
    ptx::fence_mbarrier_init();
    for (int stage = 0; stage < stages; ++stage)
      if (row + stage * row_step < unsigned(p.rows)) copy(row + stage * row_step, stage);
  }
  __syncthreads();  // the barriers are initialised

  uint4 h[vectors], gamma[vectors];
  if constexpr (gamma_stays) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < row_vectors) gamma[v] = load(p.gamma + column(v) * vector);
  }

  int stage = 0, parity = 0, turn = 0;
  for (; row < unsigned(p.rows); row += row_step) {  // all threads of a row together
    const std::size_t start = std::size_t(row) * p.cols;
    float squares = 0;
    ptx::mbarrier_wait(full(stage), parity);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      h[v] = make_uint4(0, 0, 0, 0);
      if (column(v) >= row_vectors) continue;
      const uint4* x = buffer + stage * 2 * row_vectors + column(v);
      h[v] = add_vector(x[0], x[row_vectors], squares);
    }

    const float scale = rsqrtf(row_sum(squares, partial[turn]) / float(p.cols) + p.eps);
    turn ^= 1;  // slower warps may still read these partial sums
    // The stage can be refilled once every thread of the row has read it: they have all passed the barrier in
    // row_sum(), or, where the row is one warp's, this one.
    if (blockDim.x == warp_size) __syncwarp();
    if (threadIdx.x == 0 && row + stages * row_step < unsigned(p.rows)) copy(row + stages * row_step, stage);
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (column(v) >= row_vectors) break;
      if constexpr (!gamma_stays) gamma[v] = load(p.gamma + column(v) * vector);
      store(p.h + start + column(v) * vector, h[v]);
      store(p.y + start + column(v) * vector, scale_vector(h[v], gamma[v], scale));
    }
  }
}

// Without a ring buffer: the row's threads load it themselves, as on rung 03.
template <int vectors, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_registers(FusedNorm p) {
  __shared__ float partial[warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return (v * int(blockDim.x) + int(threadIdx.x)) * vector; };

  uint4 x[vectors], residual[vectors], h[vectors];
  float squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    x[v] = residual[v] = make_uint4(0, 0, 0, 0);
    if (column(v) >= p.cols) continue;
    x[v] = load(p.x + start + column(v));
    residual[v] = load(p.residual + start + column(v));
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v) h[v] = add_vector(x[v], residual[v], squares);
  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    const uint4 gamma = load(p.gamma + column(v));
    store(p.h + start + column(v), h[v]);
    store(p.y + start + column(v), scale_vector(h[v], gamma, scale));
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp; as many CTAs as run at once, or fewer where there are fewer rows.
template <int vectors, int stages, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  const int ctas = ceil_div(p.rows, rows_per_cta);
  if constexpr (stages == 0) {
    row_in_registers<vectors, most_threads><<<ctas, dim3(threads, rows_per_cta), 0, stream>>>(p);
  } else {
    auto* kernel = rows_through_ring_buffer<vectors, stages, most_threads>;
    const int buffer_bytes = stages * 2 * p.cols * rows_per_cta * int(sizeof(__nv_bfloat16));
    int device, limit, sms, ctas_per_sm;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    if (buffer_bytes + 1024 > limit)  // the barriers and partial[], too, are shared memory
      return launch<vectors, stages - 1, most_threads>(p, stream);
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, buffer_bytes);
    if (error == cudaSuccess)
      error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas_per_sm, kernel, threads * rows_per_cta,
                                                            buffer_bytes);
    if (error != cudaSuccess) return error;
    kernel<<<std::min(ctas, sms * ctas_per_sm), dim3(threads, rows_per_cta), buffer_bytes, stream>>>(p);
  }
  return cudaGetLastError();
}

template <int stages>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector != 0 || p.cols > 1024 * 8 * vector) return launch_any_width(p, stream);
  if (p.cols <= warp_size * 1 * vector) return launch<1, stages, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, stages, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, stages, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, stages, 512>(p, stream);
  if (p.cols <= 1024 * 4 * vector) return launch<4, stages, 1024>(p, stream);
  return launch<8, 0, 1024>(p, stream);  // 256 KiB of x and residual: more than an SM's shared memory
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {{.name = "no_ring", .what = "a row per CTA, loaded as on rung 03", .launch = launch_by_width<0>},
          {.name = "1_stage", .what = "persistent CTAs, one row in flight", .launch = launch_by_width<1>},
          {.name = "2_stages", .what = "persistent CTAs, two rows in flight", .launch = launch_by_width<2>},
          {.name = "wgmma_tma",
           .what = "persistent CTAs, whole rows by bulk copies, three in flight",
           .launch = launch_by_width<3>}};
}

}  // namespace ladder::rung_07
