// 16 bytes per load and store. A thread keeps its part of the row in registers from the first read to the
// last write: all reads are on their way before the first write, gamma included, and nothing is read twice.
// Narrow rows share a CTA.
#include "common/rows/norm.cuh"

namespace ladder::rung_03 {
namespace {

enum class Order {
  interleaved,  // h is written vector by vector, as soon as it is known, with loads of the row still to come
  gamma_late,   // x and residual are read before anything is written, gamma when it is needed
  reads_first,  // gamma, too: it arrives during the reduction, and costs vectors · 4 registers
};

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of 8 and at most blockDim.x · vectors · 8.
template <int vectors, Order order, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_registers(FusedNorm p) {
  __shared__ float partial[warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (vectors < 8 && row >= p.rows) return;  // all threads of the row together; 8 vectors: a CTA per row
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) {
    return (v * int(blockDim.x) + int(threadIdx.x)) * vector;
  };  // of this thread's v-th vector

  uint4 h[vectors], gamma[vectors];
  float squares = 0;
  if constexpr (order == Order::interleaved) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (column(v) >= p.cols) break;
      h[v] = add_vector(load(p.x + start + column(v)), load(p.residual + start + column(v)), squares);
      // No load of the next vector may pass this store: for all the compiler knows, it writes x.
      store(p.h + start + column(v), h[v]);
    }
  } else {
    uint4 x[vectors], residual[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);
      if (column(v) >= p.cols) continue;
      x[v] = load(p.x + start + column(v));
      residual[v] = load(p.residual + start + column(v));
    }
    if constexpr (order == Order::reads_first) {
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v) h[v] = add_vector(x[v], residual[v], squares);
  }

  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if constexpr (order != Order::reads_first) gamma[v] = load(p.gamma + column(v));
    if constexpr (order != Order::interleaved) store(p.h + start + column(v), h[v]);
    store(p.y + start + column(v), scale_vector(h[v], gamma[v], scale));
  }
}

// Any width, for what the kernel above does not take: rows too long for registers, and rows that do not start
// on a 16-byte boundary because cols is not a multiple of 8. x, residual, h and y share their alignment, so a
// few elements are done one by one up to the first boundary, then vectors, then the rest one by one. h is
// read back from L2.
constexpr int reread_threads = 512;
__global__ void __launch_bounds__(reread_threads) row_from_l2(FusedNorm p) {
  __shared__ float partial[warp_size];
  constexpr int threads = reread_threads;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int to_boundary = int((vector - start % vector) % vector);
  const int head = to_boundary < p.cols ? to_boundary : p.cols;
  const int body_end = head + (p.cols - head) / vector * vector;
  auto for_scalars = [&](auto&& body) {
    for (int col = threadIdx.x; col < head; col += threads) body(col);
    for (int col = body_end + threadIdx.x; col < p.cols; col += threads) body(col);
  };

  float squares = 0;
  for (int col = head + threadIdx.x * vector; col < body_end; col += threads * vector)
    store(p.h + start + col, add_vector(load(p.x + start + col), load(p.residual + start + col), squares));
  for_scalars([&](int col) {
    const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
    p.h[start + col] = __float2bfloat16_rn(sum);
    squares += __bfloat162float(p.h[start + col]) * __bfloat162float(p.h[start + col]);
  });

  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
  for (int col = head + threadIdx.x * vector; col < body_end; col += threads * vector) {
    __nv_bfloat16 gamma[vector];  // not aligned with the row: one by one, and from L1 after the first row
#pragma unroll
    for (int i = 0; i < vector; ++i) gamma[i] = p.gamma[col + i];
    const uint4 gamma_bits = make_uint4(pack(gamma[0], gamma[1]), pack(gamma[2], gamma[3]),
                                        pack(gamma[4], gamma[5]), pack(gamma[6], gamma[7]));
    store(p.y + start + col, scale_vector(load(p.h + start + col), gamma_bits, scale));
  }
  for_scalars([&](int col) {
    const float h = __bfloat162float(p.h[start + col]);
    p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
  });
}

cudaError_t launch_reread(const FusedNorm& p, cudaStream_t stream) {
  row_from_l2<<<p.rows, reread_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp.
template <int vectors, Order order, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  row_in_registers<vectors, order, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

// Few vectors per thread, so that several CTAs fit on an SM and one reads while another reduces; up to 1024
// threads.
template <Order order>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector != 0 || p.cols > 1024 * 8 * vector) return launch_reread(p, stream);
  if (p.cols <= warp_size * 1 * vector) return launch<1, order, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, order, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, order, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, order, 512>(p, stream);
  // Wider rows: 1024 threads have at most 64 registers each, too few to hold gamma as well.
  constexpr Order wide = order == Order::reads_first ? Order::gamma_late : order;
  if (p.cols <= 1024 * 4 * vector) return launch<4, wide, 1024>(p, stream);
  return launch<8, wide, 1024>(p, stream);
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {{.name = "reread", .what = "16-byte accesses, h is read back from L2", .launch = launch_reread},
          {.name = "interleaved",
           .what = "row in registers, read and written vector by vector",
           .launch = launch_by_width<Order::interleaved>},
          {.name = "gamma_late",
           .what = "x and residual loaded before any store, gamma after the reduction",
           .launch = launch_by_width<Order::gamma_late>},
          {.name = "vectorized",
           .what = "all loads before any store, gamma before the reduction",
           .launch = launch_by_width<Order::reads_first>}};
}

}  // namespace ladder::rung_03
