// Persistent CTAs: while one row is reduced and written, cp.async copies the next ones into the stages of a
// ring buffer in shared memory. gamma is read once per CTA, into registers. A thread reads only what it
// copied itself, so the ring buffer needs no barrier: waiting for its own copies is enough.
#include "common/ptx/cp_async.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_04 {
namespace {

// A row is blockDim.x threads with up to `vectors` vectors each; blockDim.y rows share a CTA where a row is
// one warp's. cols is a multiple of 8 and at most blockDim.x · vectors · 8. `stages` rows are in flight; with
// 0 there is no ring buffer, and a CTA loads its only row as 03_vectorized does.
template <int vectors, int stages, int most_threads>
__global__ void __launch_bounds__(most_threads) rows_through_ring(FusedNorm p) {
  // gamma stays in registers for all rows of the CTA; 1024 threads have only 64 each, too few for that.
  constexpr bool gamma_stays = stages > 0 && most_threads < 1024;
  // [stage][x, residual][vector][thread]: neighbouring threads, neighbouring banks.
  extern __shared__ uint4 ring[];
  __shared__ float partial[2][warp_size];
  const int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
  auto share = [&](int stage, int input, int v) {  // this thread's v-th vector
    return ring + ((stage * 2 + input) * vectors + v) * threads + thread;
  };
  auto column = [&](int v) { return (v * int(blockDim.x) + int(threadIdx.x)) * vector; };  // in the row

  // Global -> ring buffer: this thread's share of a row. Past the row's end 0 of 16 bytes are present: zeros
  // are written, whose squares change nothing. The group is committed even where there is no row any more,
  // since wait_group counts groups.
  auto issue = [&](unsigned row, int stage) {
    if (row < unsigned(p.rows)) {
      const std::size_t start = std::size_t(row) * p.cols;
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        const int present = column(v) < p.cols ? 16 : 0;
        ptx::cp_async_16(ptx::shared_address(share(stage, 0, v)), p.x + start + column(v), present);
        ptx::cp_async_16(ptx::shared_address(share(stage, 1, v)), p.residual + start + column(v), present);
      }
    }
    ptx::cp_async_commit_group();
  };

  const unsigned row_step = gridDim.x * blockDim.y;  // unsigned, as the row after the last may pass 2^31
  unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
#pragma unroll
  for (int stage = 0; stage < stages; ++stage) issue(row + stage * row_step, stage);

  uint4 h[vectors], gamma[vectors];
  if constexpr (gamma_stays) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
  }

  int stage = 0, buffer = 0;
  for (; row < unsigned(p.rows); row += row_step) {  // all threads of a row together
    const std::size_t start = std::size_t(row) * p.cols;
    float squares = 0;
    if constexpr (stages > 0) {
      ptx::cp_async_wait_group<stages - 1>();  // the oldest group, this row's, has landed
#pragma unroll
      for (int v = 0; v < vectors; ++v) h[v] = add_vector(*share(stage, 0, v), *share(stage, 1, v), squares);
      // No other thread reads this one's share of the stage, so the stage can be refilled at once.
      issue(row + stages * row_step, stage);
      stage = stage + 1 == stages ? 0 : stage + 1;
    } else {
      uint4 x[vectors], residual[vectors];
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        x[v] = residual[v] = make_uint4(0, 0, 0, 0);
        if (column(v) >= p.cols) continue;
        x[v] = load(p.x + start + column(v));
        residual[v] = load(p.residual + start + column(v));
      }
#pragma unroll
      for (int v = 0; v < vectors; ++v) h[v] = add_vector(x[v], residual[v], squares);
    }

    const float scale = rsqrtf(row_sum(squares, partial[buffer]) / float(p.cols) + p.eps);
    buffer ^= 1;  // slower warps may still read these partial sums during the next row
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (column(v) >= p.cols) break;
      if constexpr (!gamma_stays) gamma[v] = load(p.gamma + column(v));
      store(p.h + start + column(v), h[v]);
      store(p.y + start + column(v), scale_vector(h[v], gamma[v], scale));
    }
    if constexpr (stages == 0) return;
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp; as many CTAs as are resident on the device at once, or fewer rows. A ring buffer that
// does not fit into shared memory gets a stage less.
template <int vectors, int stages, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  int ctas = ceil_div(p.rows, rows_per_cta), ring_bytes = 0;
  auto* kernel = rows_through_ring<vectors, stages, most_threads>;
  if constexpr (stages > 0) {
    ring_bytes = stages * 2 * vectors * threads * rows_per_cta * int(sizeof(uint4));
    int device, limit, sms, ctas_per_sm;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    if (ring_bytes + int(2 * warp_size * sizeof(float)) > limit)  // partial[], too, is shared memory
      return launch<vectors, stages - 1, most_threads>(p, stream);
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ring_bytes);
    if (error == cudaSuccess)
      error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas_per_sm, kernel, threads * rows_per_cta,
                                                            ring_bytes);
    if (error != cudaSuccess) return error;
    ctas = ctas < sms * ctas_per_sm ? ctas : sms * ctas_per_sm;
  }
  kernel<<<ctas, dim3(threads, rows_per_cta), ring_bytes, stream>>>(p);
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
  return launch<8, 0, 1024>(p, stream);  // 256 KiB of x and residual do not fit into shared memory
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {
      {.name = "no_ring", .what = "one row per CTA, loaded into registers", .launch = launch_by_width<0>},
      {.name = "1_stage", .what = "persistent CTAs, one row in flight", .launch = launch_by_width<1>},
      {.name = "2_stages", .what = "persistent CTAs, two rows in flight", .launch = launch_by_width<2>},
      {.name = "cp_async", .what = "persistent CTAs, three rows in flight", .launch = launch_by_width<3>}};
}

}  // namespace ladder::rung_04
