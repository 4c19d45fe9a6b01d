// Two things that Blackwell adds for a kernel that only moves memory. A thread loads and stores 32 bytes at
// once, a whole sector, so that half as many instructions keep the same bytes in flight. And y can be stored
// in 8 or 4 bits with block scales, in the layout that this rung's gemm multiplies: what follows the norm
// reads a half or a quarter, and nobody repacks.
#include "09_tcgen05/norm_vectors.cuh"
#include "09_tcgen05/quantise.cuh"

namespace ladder::rung_09 {
namespace {

// The sum over the threads of a row: a warp, or all of the CTA, up to 32 warps. Once per kernel.
__device__ float row_sum(float value, int threads) {
  __shared__ float partial[warp_size];
  value = warp_sum(value);
  if (threads == warp_size) return value;
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = value;
  __syncthreads();  // partial[] is complete
  return warp_sum(lane < threads / warp_size ? partial[lane] : 0.0f);
}

// Stores y of a thread's vector, the `col`th of the row; `there`: before the row's end. By all lanes of a
// warp, whose vectors are neighbours, the first a multiple of 32: lanes share blocks, and tiles of scales.
template <Precision precision, int n>
__device__ void store_y(const FusedNorm& p, int row, int col, bool there, const unsigned (&h)[n],
                        const unsigned (&gamma)[n], float scale) {
  float y[2 * n];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    y[2 * i] = there ? low_half(h[i]) * scale * low_half(gamma[i]) : 0;
    y[2 * i + 1] = there ? high_half(h[i]) * scale * high_half(gamma[i]) : 0;
  }
  if constexpr (precision == Precision::bf16) {
    unsigned pairs[n];
#pragma unroll
    for (int i = 0; i < n; ++i) pairs[i] = pack(y[2 * i], y[2 * i + 1]);
    if (there) store(p.y + std::size_t(row) * p.cols + col * 2 * n, pairs);
  } else {
    constexpr int sharers = block<precision> / (2 * n);  // lanes of a block
    static_assert(sharers == 1 || sharers == 2);
    float largest = largest_of(y);
    if constexpr (sharers == 2) largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, 1));
    const unsigned byte = scale_byte<precision>(largest);
    const QuantisedLayout layout(precision, p.rows, p.cols);
    unsigned rounded[2 * n * bits<precision> / 32];
    round_elements<precision>(y, byte, rounded);
    if (there) store_words(p.y_elements + row * layout.pitch() + col * sizeof rounded, rounded);
    // Four blocks' scales are a word of a tile. Those past the row's end are 0, as the layout asks: the
    // largest there is 0.
    unsigned word = byte << 8 * (col / sharers % 4);
    word |= __shfl_xor_sync(all_lanes, word, sharers);
    word |= __shfl_xor_sync(all_lanes, word, 2 * sharers);
    if (there && col % (4 * sharers) == 0)
      *reinterpret_cast<unsigned*>(p.y_scales + layout.scale_at(row, col / sharers)) = word;
  }
}

// A row is `threads` threads, whole warps, with up to `vectors` vectors of 2n elements each; more than one
// row shares a CTA where a row is one warp's. cols is a multiple of 2n. vectors 0: any number of them, and h
// is read back, from L2.
template <Precision precision, int n, int vectors, int most_threads>
__global__ void __launch_bounds__(most_threads) rows_in_registers(FusedNorm p, int threads) {
  const int row = int(blockIdx.x) * (blockDim.x / threads) + threadIdx.x / threads;
  if (row >= p.rows) return;  // whole warps
  const int thread = threadIdx.x % threads, row_vectors = p.cols / (2 * n);
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) { return v * threads + thread; };
  auto there = [&](int v) { return column(v) < row_vectors; };
  auto at = [&](int v) { return start + column(v) * 2 * n; };
  float squares = 0;

  if constexpr (vectors > 0) {
    unsigned h[vectors][n], gamma[vectors][n];
    {
      unsigned residual[vectors][n];
#pragma unroll
      for (int v = 0; v < vectors; ++v) {  // all reads before anything waits for one
        if (!there(v)) continue;
        load(h[v], p.x + at(v));
        load(residual[v], p.residual + at(v));
      }
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        if (there(v)) load(gamma[v], p.gamma + column(v) * 2 * n);
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        if (!there(v)) continue;
        add(h[v], residual[v], squares);
        store(p.h + at(v), h[v]);
      }
    }
    const float scale = rsqrtf(row_sum(squares, threads) / float(p.cols) + p.eps);
#pragma unroll
    for (int v = 0; v < vectors; ++v) store_y<precision>(p, row, column(v), there(v), h[v], gamma[v], scale);
  } else {
    for (int v = 0; there(v); ++v) {
      unsigned h[n], residual[n];
      load(h, p.x + at(v));
      load(residual, p.residual + at(v));
      add(h, residual, squares);
      store(p.h + at(v), h);
    }
    const float scale = rsqrtf(row_sum(squares, threads) / float(p.cols) + p.eps);
    for (int v = 0; v * threads < row_vectors; ++v) {  // the same for all lanes
      unsigned h[n], gamma[n];
      if (there(v)) {
        load(h, p.h + at(v));
        load(gamma, p.gamma + column(v) * 2 * n);
      }
      store_y<precision>(p, row, column(v), there(v), h, gamma, scale);
    }
  }
}

// Rows of any width, element by element: for those that do not start at a multiple of 32 bytes.
constexpr int any_width_threads = 512;
__global__ void __launch_bounds__(any_width_threads) row_of_any_width(FusedNorm p) {
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  float squares = 0;
  for (int col = threadIdx.x; col < p.cols; col += any_width_threads) {
    const __nv_bfloat16 h =
        __float2bfloat16_rn(__bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]));
    p.h[start + col] = h;
    squares += __bfloat162float(h) * __bfloat162float(h);
  }
  const float scale = rsqrtf(row_sum(squares, any_width_threads) / float(p.cols) + p.eps);
  for (int col = threadIdx.x; col < p.cols; col += any_width_threads)
    p.y[start + col] =
        __float2bfloat16_rn(__bfloat162float(p.h[start + col]) * scale * __bfloat162float(p.gamma[col]));
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp.
template <Precision precision, int n, int vectors, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int row_vectors = p.cols / (2 * n);
  const int threads =
      vectors > 0 ? ceil_div(ceil_div(row_vectors, vectors), warp_size) * warp_size : most_threads;
  const int rows_per_cta = threads == warp_size ? 8 : 1;
  rows_in_registers<precision, n, vectors, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), threads * rows_per_cta, 0, stream>>>(p, threads);
  return cudaGetLastError();
}

template <Precision precision, int n>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  constexpr int each = 16 / n;  // vectors of 16 elements or 8
  if (p.cols <= 256 * 16) return launch<precision, n, each / 2, 256>(p, stream);
  if (p.cols <= 512 * 16) return launch<precision, n, each / 2, 512>(p, stream);
  if (p.cols <= 512 * 32) return launch<precision, n, each, 512>(p, stream);
  return launch<precision, n, 0, 512>(p, stream);
}

template <int n>
cudaError_t launch_bf16(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols % (2 * n) == 0) return launch_by_width<Precision::bf16, n>(p, stream);
  row_of_any_width<<<p.rows, any_width_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

template <Precision precision>
std::string whole_blocks(const FusedNorm& p) {
  if (p.cols % block<precision> == 0) return {};
  return "cols must be a multiple of " + std::to_string(block<precision>) +
         ": so many elements share a scale";
}
template std::string whole_blocks<Precision::mxfp8>(const FusedNorm&);
template std::string whole_blocks<Precision::nvfp4>(const FusedNorm&);

cudaError_t fused_norm_16_bytes(const FusedNorm& p, cudaStream_t stream) {
  return launch_bf16<4>(p, stream);
}
cudaError_t fused_norm_32_bytes(const FusedNorm& p, cudaStream_t stream) {
  return launch_bf16<8>(p, stream);
}
cudaError_t fused_norm_mxfp8(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<Precision::mxfp8, 8>(p, stream);
}
cudaError_t fused_norm_nvfp4(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<Precision::nvfp4, 8>(p, stream);
}

}  // namespace ladder::rung_09
