// What fusing the residual add with the norm buys: the same in two kernels, and in one that adds a second
// time instead of keeping h in registers. And what rsqrt buys beside a root and a division.
#include "common/rows/row_operators.cuh"

namespace ladder::rung_03 {
namespace {

enum class Form {
  unfused,     // h is there: another kernel has added it
  recomputed,  // x and residual are read and added twice
  divided,     // the rung's order, 1 / sqrt in place of rsqrt
};

// h = x + residual, of the matrix as one row: two matrices read, one written.
constexpr int add_threads = 256;
__global__ void __launch_bounds__(add_threads) add_kernel(FusedNorm p) {
  const std::size_t vectors = std::size_t(p.rows) * p.cols / vector,
                    step = std::size_t(gridDim.x) * add_threads;
  for (std::size_t i = std::size_t(blockIdx.x) * add_threads + threadIdx.x; i < vectors; i += step)
    store(p.h + i * vector, add_vector(load(p.x + i * vector), load(p.residual + i * vector)));
}

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of 8 and at most blockDim.x · vectors · 8.
template <int vectors, Form form, int most_threads>
__global__ void __launch_bounds__(most_threads) norm_in_registers(FusedNorm p) {
  __shared__ float partial[warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return (v * int(blockDim.x) + int(threadIdx.x)) * vector; };

  // All loads of the row before the first use: use(h, v).
  auto for_h = [&](auto&& use) {
    uint4 h[vectors], residual[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      h[v] = residual[v] = make_uint4(0, 0, 0, 0);
      if (column(v) >= p.cols) continue;
      h[v] = load((form == Form::unfused ? p.h : p.x) + start + column(v));
      if (form != Form::unfused) residual[v] = load(p.residual + start + column(v));
    }
#pragma unroll
    for (int v = 0; v < vectors; ++v) use(form == Form::unfused ? h[v] : add_vector(h[v], residual[v]), v);
  };

  constexpr bool gamma_early = most_threads < 1024;
  uint4 h[vectors], gamma[vectors];
  if constexpr (gamma_early) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
  }
  float squares = 0;
  for_h([&](uint4 bits, int v) {
    h[v] = bits;
    for_vector(bits, [&](float one, int) { squares += one * one; });
  });
  const float mean_square = row_sum(squares, partial) / float(p.cols) + p.eps;
  const float scale = form == Form::divided ? 1.0f / sqrtf(mean_square) : rsqrtf(mean_square);

  auto write = [&](uint4 bits, int v) {
    if (column(v) >= p.cols) return;
    if constexpr (!gamma_early) gamma[v] = load(p.gamma + column(v));
    if (form != Form::unfused) store(p.h + start + column(v), bits);
    store(p.y + start + column(v), scale_vector(bits, gamma[v], scale));
  };
  if constexpr (form == Form::recomputed) {
    asm volatile("" ::: "memory");  // for all the compiler knows x has changed
    for_h(write);
  } else {
#pragma unroll
    for (int v = 0; v < vectors; ++v) write(h[v], v);
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp.
template <int vectors, Form form, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  norm_in_registers<vectors, form, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

// The rung's widths, up to four vectors for each of 1024 threads.
template <Form form>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if constexpr (form == Form::unfused) {
    constexpr std::size_t most_ctas = 1 << 20;
    const std::size_t ctas = std::size_t(p.rows) * p.cols / vector / add_threads + 1;
    add_kernel<<<unsigned(ctas < most_ctas ? ctas : most_ctas), add_threads, 0, stream>>>(p);
  }
  if (p.cols <= warp_size * 1 * vector) return launch<1, form, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, form, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, form, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, form, 512>(p, stream);
  return launch<4, form, 1024>(p, stream);
}

Text unsupported(const FusedNorm& p) {
  if (p.cols % vector == 0 && p.cols <= 1024 * 4 * vector) return {};
  return "compares rows held in registers: cols must be a multiple of 8, and at most 32768";
}

}  // namespace

Variants<FusedNorm> fusing() {
  return {{.name = "unfused",
           .what = "two kernels, the first writes h, the second reads it: 5 matrix passes, fused 4",
           .unsupported = unsupported,
           .launch = launch_by_width<Form::unfused>},
          {.name = "recomputed",
           .what = "x and residual read and added again for y: 6 matrix passes, fused 4",
           .unsupported = unsupported,
           .launch = launch_by_width<Form::recomputed>},
          {.name = "divided",
           .what = "the rung with 1 / sqrt in place of rsqrt: 4 matrix passes",
           .unsupported = unsupported,
           .launch = launch_by_width<Form::divided>}};
}

}  // namespace ladder::rung_03
