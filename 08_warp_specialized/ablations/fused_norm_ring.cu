// The norm warp-specialised as the gemm is: a producer warp issues bulk copies of whole rows, as far ahead as
// the ring buffer allows, and all other warps wait for them, reduce and store. Each stage has a full and an
// empty mbarrier. gamma is read once per CTA, into registers.
#include <algorithm>

#include "common/ptx/barrier.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_08 {
namespace {

// row_sum() of the consumers alone, over the threads of a row, a warp or up to 16 of them: the producer warp
// is not at their barrier.
__device__ float consumers_sum(float value, float (&partial)[warp_size], int threads) {
  value = warp_sum(value);
  if (threads == warp_size) return value;
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = value;
  ptx::barrier_sync(1, threads);  // partial[] is complete
  return warp_sum(lane < threads / warp_size ? partial[lane] : 0.0f);
}

// The CTA takes `rows_per_cta` neighbouring rows at a time; all CTAs together take a batch. A row is
// `threads` threads, whole warps, with up to `vectors` vectors each; more than one row shares a CTA where a
// row is one warp's. The last warp is the producer. cols is a multiple of 8 and at most threads · vectors ·
// 8.
template <int vectors, int stages, int most_threads>
__global__ void __launch_bounds__(most_threads + warp_size)
    rows_through_ring_buffer(FusedNorm p, int threads, int rows_per_cta) {
  extern __shared__ uint4 buffer[];  // [stage][x, residual][row][column]
  __shared__ ptx::Mbarrier full_barriers[stages], empty_barriers[stages];
  __shared__ float partial[2][warp_size];
  const int row_vectors = p.cols / vector, input_vectors = rows_per_cta * row_vectors;
  auto full = [&](int stage) { return ptx::shared_address(&full_barriers[stage]); };
  auto empty = [&](int stage) { return ptx::shared_address(&empty_barriers[stage]); };
  const int consumers = threads * rows_per_cta;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      ptx::mbarrier_init(full(s), 1);
      ptx::mbarrier_init(empty(s), consumers / warp_size);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are initialised

  const unsigned row_step = gridDim.x * rows_per_cta;  // unsigned, as the row after the last may pass 2^31
  unsigned first = blockIdx.x * rows_per_cta;          // of the rows that are next
  int stage = 0, parity = 0;
  auto advance = [&] {
    first += row_step;
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  };

  if (int(threadIdx.x) >= consumers) {
    if (int(threadIdx.x) > consumers) return;
    for (; first < unsigned(p.rows); advance()) {
      ptx::mbarrier_wait(empty(stage), parity ^ 1);  // parity 1 first: before the first phase all are empty
      const int bytes = int(min(unsigned(rows_per_cta), p.rows - first)) * row_vectors * 16;
      const std::size_t start = std::size_t(first) * p.cols;
      const uint4* to = buffer + stage * 2 * input_vectors;
      ptx::mbarrier_arrive_expect_bytes(full(stage), 2 * bytes);
      ptx::bulk_load(ptx::shared_address(to), p.x + start, bytes, full(stage));
      ptx::bulk_load(ptx::shared_address(to + input_vectors), p.residual + start, bytes, full(stage));
    }
    return;
  }

  const int row_of_cta = threadIdx.x / threads, thread_of_row = threadIdx.x % threads;
  auto column = [&](int v) { return v * threads + thread_of_row; };  // in vectors
  // Where a thread has many vectors, gamma is read again for every row, from L1.
  constexpr bool gamma_stays = vectors < 4;
  uint4 h[vectors], gamma[vectors];
  if constexpr (gamma_stays) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < row_vectors) gamma[v] = load(p.gamma + column(v) * vector);
  }
  int turn = 0;
  for (; first < unsigned(p.rows); advance()) {
    const unsigned row = first + row_of_cta;
    const bool there = row < unsigned(p.rows);  // the same for all threads of a row
    float squares = 0;
    ptx::mbarrier_wait(full(stage), parity);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (!there || column(v) >= row_vectors) continue;
      const uint4* x = buffer + stage * 2 * input_vectors + row_of_cta * row_vectors + column(v);
      h[v] = add_vector(x[0], x[input_vectors], squares);
    }
    __syncwarp();  // the whole warp has read its part
    if (threadIdx.x % warp_size == 0) ptx::mbarrier_arrive(empty(stage));

    const float scale = rsqrtf(consumers_sum(squares, partial[turn], threads) / float(p.cols) + p.eps);
    turn ^= 1;  // slower warps may still read these partial sums
    const std::size_t start = std::size_t(row) * p.cols;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (!there || column(v) >= row_vectors) break;
      if constexpr (!gamma_stays) gamma[v] = load(p.gamma + column(v) * vector);
      store(p.h + start + column(v) * vector, h[v]);
      store(p.y + start + column(v) * vector, scale_vector(h[v], gamma[v], scale));
    }
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp; as many stages as fit; as many CTAs as run at once, or fewer where there are fewer rows.
template <int vectors, int stages, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  const int buffer_bytes = stages * 2 * p.cols * rows_per_cta * int(sizeof(__nv_bfloat16));
  const int all_threads = threads * rows_per_cta + warp_size;
  auto* kernel = rows_through_ring_buffer<vectors, stages, most_threads>;
  int device, limit, sms, ctas_per_sm;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  if constexpr (stages > 1) {
    if (buffer_bytes + 1024 > limit)  // the barriers and partial[], too, are shared memory
      return launch<vectors, stages - 1, most_threads>(p, stream);
  }
  error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, buffer_bytes);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas_per_sm, kernel, all_threads, buffer_bytes);
  if (error != cudaSuccess) return error;
  const int ctas = std::min(ceil_div(p.rows, rows_per_cta), sms * ctas_per_sm);
  kernel<<<ctas, all_threads, buffer_bytes, stream>>>(p, threads, rows_per_cta);
  return cudaGetLastError();
}

template <int stages>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols <= warp_size * 1 * vector) return launch<1, stages, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, stages, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, stages, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, stages, 512>(p, stream);
  return launch<8, stages, 512>(p, stream);
}

Text rows_in_registers(const FusedNorm& p) {
  if (p.cols % vector == 0 && p.cols <= 512 * 8 * vector) return {};
  return "cols must be a multiple of 8, for bulk copies move 16 bytes, and at most 32768, what registers "
         "hold";
}

}  // namespace

Variants<FusedNorm> fused_norm_ring() {
  return {{.name = "ring_1_stage",
           .what = "rows fetched by a producer warp's bulk copies, one batch ahead",
           .unsupported = rows_in_registers,
           .launch = launch_by_width<1>},
          {.name = "ring",
           .what = "rows fetched by a producer warp's bulk copies, two batches ahead",
           .unsupported = rows_in_registers,
           .launch = launch_by_width<2>},
          {.name = "ring_3_stages",
           .what = "rows fetched by a producer warp's bulk copies, three batches ahead",
           .unsupported = rows_in_registers,
           .launch = launch_by_width<3>}};
}

}  // namespace ladder::rung_08
