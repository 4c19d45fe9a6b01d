// The row sum on tensor cores: the sum of squares of a matrix H is the trace of H·Hᵀ. Everything else is as
// in 03_vectorized. The sum moves to another pipe; the kernel, which is bound by memory, does not get faster.
#include "common/ptx/mma.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_05 {
namespace {

// Two ways to sum h² over a warp's part of a row. add() takes 8 elements from every lane, share() is what a
// lane contributes to the sum.
struct FmaSum {
  float squares = 0;
  __device__ void add(uint4 h) {
    for (const unsigned pair : {h.x, h.y, h.z, h.w})
      squares += low_half(pair) * low_half(pair) + high_half(pair) * high_half(pair);
  }
  __device__ float share() const { return squares; }
};

// A warp's 256 elements are a 16 x 16 matrix H. Which element is where does not matter, so H is what the
// registers hold already, read as a fragment of A: lane 4g + t has x and z in row g, y and w in row g+8. The
// sum of squares is the trace of H·Hᵀ. The registers hold Hᵀ, too: read as a fragment of B, x and z are
// column g, at the same positions along k as in A. So the diagonal of one mma has the squares of rows 0 to 7,
// and that of a second one, with the halves of A exchanged, those of rows 8 to 15. Products of bf16 are
// exact, and accumulated in fp32. Of 128 results 8 are used.
struct MmaSum {
  float gram[4] = {};  // row g, columns 2t and 2t+1; row g+8, which is not used
  __device__ void add(uint4 h) {
    ptx::mma_m16n8k16(gram, {h.x, h.y, h.z, h.w}, {h.x, h.z});
    ptx::mma_m16n8k16(gram, {h.y, h.x, h.w, h.z}, {h.y, h.w});
  }
  __device__ float share() const {
    const int lane = threadIdx.x % warp_size, g = lane / 4, t = lane % 4;
    if (g == 2 * t) return gram[0];
    if (g == 2 * t + 1) return gram[1];
    return 0;
  }
};

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of 8 and at most blockDim.x · vectors · 8. Where there are registers for it, gamma is loaded
// ahead of the reduction.
template <int vectors, class Sum, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_registers(FusedNorm p) {
  constexpr bool gamma_early = most_threads <= 512;
  __shared__ float partial[warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (vectors < 8 && row >= p.rows) return;  // all threads of the row together; 8 vectors: a CTA per row
  const std::size_t start = std::size_t(row) * p.cols;
  // The column of this thread's v-th vector.
  auto column = [&](int v) { return (v * int(blockDim.x) + int(threadIdx.x)) * vector; };

  uint4 h[vectors], gamma[vectors];
  if constexpr (gamma_early) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
  }
  Sum sum;  // all lanes take part in it, those past the row's end with zeros
  constexpr int batch = vectors < 8 ? vectors : 2;  // 1024 threads have no registers for more of x, residual
#pragma unroll
  for (int first = 0; first < vectors; first += batch) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int v = 0; v < batch; ++v) {
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);
      if (column(first + v) >= p.cols) continue;
      x[v] = load(p.x + start + column(first + v));
      residual[v] = load(p.residual + start + column(first + v));
    }
#pragma unroll
    for (int v = 0; v < batch; ++v) h[first + v] = add_vector(x[v], residual[v]);
#pragma unroll
    for (int v = 0; v < batch; ++v) sum.add(h[first + v]);
  }

  const float scale = rsqrtf(row_sum(sum.share(), partial) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if constexpr (!gamma_early) gamma[v] = load(p.gamma + column(v));
    store(p.h + start + column(v), h[v]);
    store(p.y + start + column(v), scale_vector(h[v], gamma[v], scale));
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp.
template <int vectors, class Sum, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, vector * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? most_threads / warp_size : 1;
  row_in_registers<vectors, Sum, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

// Few vectors per thread, so that several CTAs fit on an SM and one reads while another reduces; up to 1024
// threads.
template <class Sum>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % vector != 0 || p.cols > 1024 * 8 * vector) return launch_any_width(p, stream);
  if (p.cols <= warp_size * 1 * vector) return launch<1, Sum, 256>(p, stream);
  if (p.cols <= warp_size * 2 * vector) return launch<2, Sum, 256>(p, stream);
  if (p.cols <= warp_size * 4 * vector) return launch<4, Sum, 256>(p, stream);
  if (p.cols <= 512 * 2 * vector) return launch<2, Sum, 512>(p, stream);
  if (p.cols <= 1024 * 4 * vector) return launch<4, Sum, 1024>(p, stream);
  return launch<8, Sum, 1024>(p, stream);
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {{.name = "fma_sum", .what = "the row sum by FMAs and shuffles", .launch = launch_by_width<FmaSum>},
          {.name = "mma_sync", .what = "the row sum by tensor cores", .launch = launch_by_width<MmaSum>}};
}

}  // namespace ladder::rung_05
