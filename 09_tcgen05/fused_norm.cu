// Blackwell loads and stores 32 bytes per thread, a whole sector, so half as many instructions as on rung 03
// keep the same bytes in flight. The rest is rung 03's: a thread keeps its part of the row in registers from
// the first read to the last write, and all reads are under way before the first write.
#include "common/ptx/wide_access.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_09 {
namespace {

// A vector is an array of words, each a pair of bf16: 16 bytes or 32.
__device__ void load(unsigned (&to)[4], const __nv_bfloat16* from) {
  const uint4 bits = ladder::load(from);
  to[0] = bits.x, to[1] = bits.y, to[2] = bits.z, to[3] = bits.w;
}
__device__ void load(unsigned (&to)[8], const __nv_bfloat16* from) {
  ptx::load_32_bytes(to, from);
}
__device__ void store(__nv_bfloat16* to, const unsigned (&from)[4]) {
  ladder::store(to, make_uint4(from[0], from[1], from[2], from[3]));
}
__device__ void store(__nv_bfloat16* to, const unsigned (&from)[8]) {
  ptx::store_32_bytes(to, from);
}

// x becomes h = x + residual.
template <int words>
__device__ void add(unsigned (&x)[words], const unsigned (&residual)[words], float& squares) {
#pragma unroll
  for (int i = 0; i < words; ++i) x[i] = add_pair(x[i], residual[i], squares);
}

// y = h · scale · gamma.
template <int words>
__device__ void store_y(__nv_bfloat16* to, const unsigned (&h)[words], const unsigned (&gamma)[words],
                        float scale) {
  unsigned y[words];
#pragma unroll
  for (int i = 0; i < words; ++i) y[i] = scale_pair(h[i], gamma[i], scale);
  store(to, y);
}

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of a vector's elements, and at most as many as `vectors` of each thread hold.
template <int words, int vectors, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_registers(FusedNorm p) {
  __shared__ float partial[warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) {  // of this thread's v-th vector
    return (v * int(blockDim.x) + int(threadIdx.x)) * 2 * words;
  };

  unsigned h[vectors][words], residual[vectors][words], gamma[vectors][words];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) continue;
    load(h[v], p.x + start + column(v));
    load(residual[v], p.residual + start + column(v));
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    if (column(v) < p.cols) load(gamma[v], p.gamma + column(v));

  float squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) continue;
    add(h[v], residual[v], squares);
    store(p.h + start + column(v), h[v]);
  }
  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    if (column(v) < p.cols) store_y(p.y + start + column(v), h[v], gamma[v], scale);
}

// A row too long for registers, by a CTA: h is read back from L2.
template <int words, int threads>
__global__ void __launch_bounds__(threads) row_from_l2(FusedNorm p) {
  __shared__ float partial[warp_size];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int first = threadIdx.x * 2 * words, stride = threads * 2 * words;
  unsigned h[words], residual[words], gamma[words];
  float squares = 0;
  for (int col = first; col < p.cols; col += stride) {
    load(h, p.x + start + col);
    load(residual, p.residual + start + col);
    add(h, residual, squares);
    store(p.h + start + col, h);
  }
  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
  for (int col = first; col < p.cols; col += stride) {
    load(h, p.h + start + col);
    load(gamma, p.gamma + col);
    store_y(p.y + start + col, h, gamma, scale);
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp.
template <int words, int vectors, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, 2 * words * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? 8 : 1;
  row_in_registers<words, vectors, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p);
  return cudaGetLastError();
}

template <int words>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  constexpr int sixteen = 8 / words;  // vectors that hold 16 elements
  if (p.cols % (2 * words) != 0) return launch_any_width(p, stream);
  if (p.cols <= 256 * 16) return launch<words, sixteen, 256>(p, stream);
  if (p.cols <= 512 * 16) return launch<words, sixteen, 512>(p, stream);
  if (p.cols <= 512 * 32) return launch<words, 2 * sixteen, 512>(p, stream);
  row_from_l2<words, 512><<<p.rows, 512, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {{.name = "16_bytes", .what = "16 bytes per access", .launch = launch_by_width<4>},
          {.name = "32_bytes", .what = "32 bytes per access", .launch = launch_by_width<8>}};
}

}  // namespace ladder::rung_09
