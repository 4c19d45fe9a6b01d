// What fusing the residual add with the norm buys: the same in two kernels, and in one that adds a second
// time instead of keeping h in registers. Rows, clusters and the exchange are those of rung 08.
#include "common/every_shape/hopper/rows/row_in_cluster.cuh"

namespace ladder::every_shape {
namespace {

constexpr int most_vectors = 16;  // of a thread

// h = x + residual, of the matrix as one row: two matrices read, one written.
constexpr int add_threads = 256;
__global__ void __launch_bounds__(add_threads) add_kernel(FusedNorm p) {
  const std::size_t vectors = std::size_t(p.rows) * p.cols / vector,
                    step = std::size_t(gridDim.x) * add_threads;
  for (std::size_t i = std::size_t(blockIdx.x) * add_threads + threadIdx.x; i < vectors; i += step)
    store(p.h + i * vector, add_vector(load(p.x + i * vector), load(p.residual + i * vector)));
}

// Up to four vectors of a thread's part of h at a time, so that their loads are in flight together; each goes
// through use(vector of h, its column).
template <class C, bool added, class Use>
__device__ void for_part(const FusedNorm& p, const rows::Part<C>& part, const Use& use) {
  constexpr int batch = C::vectors < 4 ? C::vectors : 4;
#pragma unroll
  for (int first = 0; first < C::vectors; first += batch) {
    uint4 h[batch], residual[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (!part.has(first + i)) break;
      const std::size_t at = part.start + part.column(first + i);
      h[i] = load((added ? p.x : p.h) + at);
      if (added) residual[i] = load(p.residual + at);
    }
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (!part.has(first + i)) break;
      use(added ? add_vector(h[i], residual[i]) : h[i], first + i);
    }
  }
}

// y from h, which stays in registers; or, `recomputed`, from x and residual, which are read and added twice.
template <bool recomputed, class C>
__global__ void __launch_bounds__(C::most_threads) norm_in_cluster(FusedNorm p) {
  __shared__ rows::Reduction<C, float> of_squares;
  rows::init<C>(of_squares);
  const rows::Part<C> part(p.rows, p.cols);

  constexpr bool gamma_early = C::vectors <= 4;  // as in rung 08
  uint4 h[C::vectors], gamma[C::vectors];
  if constexpr (gamma_early) {
#pragma unroll
    for (int v = 0; v < C::vectors; ++v)
      if (part.has(v)) gamma[v] = load(p.gamma + part.column(v));
  }
  float squares = 0;
  for_part<C, recomputed>(p, part, [&](uint4 bits, int v) {
    h[v] = bits;
    for_vector(bits, [&](float one, int) { squares += one * one; });
  });
  rows::wait_for_peers<C>();
  const float scale = rsqrtf(rows::sum(squares, of_squares) / float(p.cols) + p.eps);

  auto write = [&](uint4 bits, int v) {
    if constexpr (!gamma_early) gamma[v] = load(p.gamma + part.column(v));
    if (recomputed) store(p.h + part.start + part.column(v), bits);
    store(p.y + part.start + part.column(v), scale_vector(bits, gamma[v], scale));
  };
  if constexpr (recomputed) {
    asm volatile("" ::: "memory");  // for all the compiler knows x has changed
    for_part<C, recomputed>(p, part, write);
  } else {
#pragma unroll
    for (int v = 0; v < C::vectors; ++v)
      if (part.has(v)) write(h[v], v);
  }
}

// Rung 08's configurations.
template <class Launch>
cudaError_t by_width(int cols, const Launch& launch) {
  using rows::Config;
  if (cols <= 2048) return launch(Config<1, 1, 256>());
  if (cols <= 4096) return launch(Config<2, 1, 256>());
  if (cols <= 8192) return launch(Config<1, 2, 512>());
  if (cols <= 16384) return launch(Config<4, 2, 256>());
  if (cols <= 32768) return launch(Config<4, 4, 256>());
  if (cols <= 262144) return launch(Config<4, 16, 512>());
  return launch(Config<most_vectors, 16, 512>());
}

template <bool recomputed>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  if (!recomputed) {
    constexpr std::size_t most_ctas = 1 << 20;
    const std::size_t ctas = std::size_t(p.rows) * p.cols / vector / add_threads + 1;
    add_kernel<<<unsigned(ctas < most_ctas ? ctas : most_ctas), add_threads, 0, stream>>>(p);
  }
  return by_width(p.cols, [&](auto config) {
    using C = decltype(config);
    return rows::launch<C>(norm_in_cluster<recomputed, C>, p, stream);
  });
}

Text unsupported(const FusedNorm& p) {
  if (rows::in_registers<most_vectors>(p.cols)) return {};
  return "compares rows held in registers: cols must be a multiple of 8, and at most 1048576";
}

}  // namespace

Variants<FusedNorm> fusing() {
  return {{.name = "unfused",
           .what = "two kernels, the first writes h, the second reads it: 5 matrix passes, fused 4",
           .unsupported = unsupported,
           .launch = launch<false>},
          {.name = "recomputed",
           .what = "x and residual read and added again for y: 6 matrix passes, fused 4",
           .unsupported = unsupported,
           .launch = launch<true>}};
}

}  // namespace ladder::every_shape
