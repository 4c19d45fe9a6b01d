// Rows that arrive by themselves: one thread asks for a whole row, and a unit of the SM copies it into a ring
// in shared memory while other rows are reduced and written. A CTA stays for many rows; gamma is read once
// per CTA, into registers. An mbarrier for every stage says that its row has landed.
#include "07_wgmma_tma/variants.h"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::rung_07 {
namespace {

constexpr int warp_size = 32;
constexpr int vector = 8;  // bf16 elements in 16 bytes

__device__ float warp_sum(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

// The sum over the threads of a row: blockDim.x of them, a warp or the whole CTA, which has up to 32 warps.
// `partial` is free again when every thread has passed the barrier of another call: callers take turns
// between two.
__device__ float row_sum(float value, float (&partial)[warp_size]) {
  value = warp_sum(value);
  if (blockDim.x == warp_size) return value;
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = value;
  __syncthreads();  // partial[] is complete
  return warp_sum(lane < int(blockDim.x) / warp_size ? partial[lane] : 0.0f);
}

// Two bf16 in 32 bits: the first is the lower half. Widening is a shift, since bf16 is the upper half of
// fp32.
__device__ float low_half(unsigned pair) {
  return __uint_as_float(pair << 16);
}
__device__ float high_half(unsigned pair) {
  return __uint_as_float(pair & 0xFFFF0000u);
}
__device__ unsigned pack(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const unsigned&>(pair);
}

__device__ uint4 load(const __nv_bfloat16* from) {
  return *reinterpret_cast<const uint4*>(from);
}
__device__ void store(__nv_bfloat16* to, uint4 bits) {
  *reinterpret_cast<uint4*>(to) = bits;
}

__device__ unsigned add_pair(unsigned x, unsigned residual, float& squares) {
  const unsigned h = pack(low_half(x) + low_half(residual), high_half(x) + high_half(residual));
  squares += low_half(h) * low_half(h) + high_half(h) * high_half(h);
  return h;
}
__device__ uint4 add_vector(uint4 x, uint4 residual, float& squares) {
  return make_uint4(add_pair(x.x, residual.x, squares), add_pair(x.y, residual.y, squares),
                    add_pair(x.z, residual.z, squares), add_pair(x.w, residual.w, squares));
}
__device__ unsigned scale_pair(unsigned h, unsigned gamma, float scale) {
  return pack(low_half(h) * scale * low_half(gamma), high_half(h) * scale * high_half(gamma));
}
__device__ uint4 scale_vector(uint4 h, uint4 gamma, float scale) {
  return make_uint4(scale_pair(h.x, gamma.x, scale), scale_pair(h.y, gamma.y, scale),
                    scale_pair(h.z, gamma.z, scale), scale_pair(h.w, gamma.w, scale));
}

// A row is blockDim.x threads with up to `vectors` vectors each; blockDim.y rows share a CTA where a row is
// one warp's, and have each their own ring. cols is a multiple of 8 and at most blockDim.x · vectors · 8.
// `stages` rows are on their way; with 0 there is no ring, a CTA has one row, and loads it as 03_vectorized
// does.
template <int vectors, int stages, int most_threads>
__global__ void __launch_bounds__(most_threads) rows_through_ring(FusedNorm p) {
  // For all rows of the CTA; but 1024 threads have only 64 registers each.
  constexpr bool gamma_stays = stages > 0 && most_threads < 1024;
  extern __shared__ uint4 rings[];  // [row of the CTA][stage][x, residual][column]
  __shared__ ptx::Mbarrier barriers[stages > 0 ? stages * (most_threads / warp_size) : 1];
  __shared__ float partial[2][warp_size];
  const int row_vectors = p.cols / vector;
  const uint4* ring = rings + std::size_t(threadIdx.y) * stages * 2 * row_vectors;
  auto landed = [&](int stage) { return ptx::shared_address(&barriers[threadIdx.y * stages + stage]); };
  auto column = [&](int v) { return v * int(blockDim.x) + int(threadIdx.x); };  // in vectors

  // Asks for a row's x and residual. By one thread of the row.
  auto copy = [&](unsigned row, int stage) {
    const std::size_t start = std::size_t(row) * p.cols;
    const uint4* to = ring + stage * 2 * row_vectors;
    ptx::mbarrier_arrive_expect_bytes(landed(stage), 2 * row_vectors * 16);
    ptx::bulk_load(ptx::shared_address(to), p.x + start, row_vectors * 16, landed(stage));
    ptx::bulk_load(ptx::shared_address(to + row_vectors), p.residual + start, row_vectors * 16,
                   landed(stage));
  };

  const unsigned row_step = gridDim.x * blockDim.y;  // unsigned, as the row after the last may pass 2^31
  unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  if constexpr (stages > 0) {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) ptx::mbarrier_init(landed(stage), 1);
      ptx::fence_mbarrier_init();
      for (int stage = 0; stage < stages; ++stage)
        if (row + stage * row_step < unsigned(p.rows)) copy(row + stage * row_step, stage);
    }
    __syncthreads();  // the barriers are there
  }

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
    if constexpr (stages > 0) ptx::mbarrier_wait(landed(stage), parity);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      h[v] = make_uint4(0, 0, 0, 0);
      if (column(v) >= row_vectors) continue;
      if constexpr (stages > 0) {
        const uint4* x = ring + stage * 2 * row_vectors + column(v);
        h[v] = add_vector(x[0], x[row_vectors], squares);
      } else {
        h[v] = add_vector(load(p.x + start + column(v) * vector),
                          load(p.residual + start + column(v) * vector), squares);
      }
    }

    const float scale = rsqrtf(row_sum(squares, partial[turn]) / float(p.cols) + p.eps);
    turn ^= 1;  // slower warps may still read these partial sums
    if constexpr (stages > 0) {
      // Every thread of the row has read its part: in row_sum they have met, and where the row is one warp's,
      // here.
      if (blockDim.x == warp_size) __syncwarp();
      if (threadIdx.x == 0 && row + stages * row_step < unsigned(p.rows))
        copy(row + stages * row_step, stage);
      if (++stage == stages) {
        stage = 0;
        parity ^= 1;
      }
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (column(v) >= row_vectors) break;
      if constexpr (!gamma_stays) gamma[v] = load(p.gamma + column(v) * vector);
      store(p.h + start + column(v) * vector, h[v]);
      store(p.y + start + column(v) * vector, scale_vector(h[v], gamma[v], scale));
    }
    if constexpr (stages == 0) return;
  }
}

// Any width, one row per CTA: for rows too long for registers, and for rows that do not start on a 16-byte
// boundary because cols is no multiple of 8. x, residual, h and y share their alignment: the row is cut at
// the boundaries, and only its first and last vector may lie half outside. h is read back from L2.
constexpr int any_width_threads = 512;
__global__ void __launch_bounds__(any_width_threads) row_of_any_width(FusedNorm p) {
  __shared__ float partial[warp_size];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int before_start = start % vector;  // elements from the boundary to the start of the row
  auto for_row = [&](auto&& whole, auto&& single) {
    for (int col = threadIdx.x * vector - before_start; col < p.cols; col += any_width_threads * vector) {
      if (col >= 0 && col + vector <= p.cols) {
        whole(col);
      } else {
        for (int i = 0; i < vector; ++i)
          if (col + i >= 0 && col + i < p.cols) single(col + i);
      }
    }
  };

  float squares = 0;
  for_row(
      [&](int col) {
        store(p.h + start + col,
              add_vector(load(p.x + start + col), load(p.residual + start + col), squares));
      },
      [&](int col) {
        const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
        p.h[start + col] = __float2bfloat16_rn(sum);
        squares += __bfloat162float(p.h[start + col]) * __bfloat162float(p.h[start + col]);
      });

  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
  for_row(
      [&](int col) {
        unsigned gamma[vector / 2];  // not aligned with the row: one by one, and from L1 after the first row
#pragma unroll
        for (int i = 0; i < vector / 2; ++i) gamma[i] = pack(p.gamma[col + 2 * i], p.gamma[col + 2 * i + 1]);
        store(p.y + start + col, scale_vector(load(p.h + start + col),
                                              make_uint4(gamma[0], gamma[1], gamma[2], gamma[3]), scale));
      },
      [&](int col) {
        const float h = __bfloat162float(p.h[start + col]);
        p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
      });
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp; as many CTAs as the device can hold at once, or fewer rows.
template <int vectors, int stages, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  int ctas = ceil_div(p.rows, rows_per_cta), ring_bytes = 0;
  auto* kernel = rows_through_ring<vectors, stages, most_threads>;
  if constexpr (stages > 0) {
    ring_bytes = stages * 2 * p.cols * rows_per_cta * int(sizeof(__nv_bfloat16));
    int device, limit, sms, ctas_per_sm;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    if (ring_bytes + 1024 > limit)  // the barriers and partial[], too, are shared memory
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
  if (p.cols % vector != 0 || p.cols > 1024 * 8 * vector) {
    row_of_any_width<<<p.rows, any_width_threads, 0, stream>>>(p);
    return cudaGetLastError();
  }
  if (p.cols <= warp_size * 1 * vector) return launch<1, stages, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, stages, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, stages, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, stages, 512>(p, stream);
  if (p.cols <= 1024 * 4 * vector) return launch<4, stages, 1024>(p, stream);
  return launch<8, 0, 1024>(p, stream);  // 256 KiB of x and residual: no ring holds that
}

}  // namespace

cudaError_t fused_norm_no_ring(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<0>(p, stream);
}
cudaError_t fused_norm_1_stage(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<1>(p, stream);
}
cudaError_t fused_norm_2_stages(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<2>(p, stream);
}
cudaError_t fused_norm_wgmma_tma(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<3>(p, stream);
}

}  // namespace ladder::rung_07
