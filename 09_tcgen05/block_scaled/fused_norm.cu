// The rung's norm, with y in 8 or 4 bits and block scales, in the layout that block_scaled/gemm.cu
// multiplies: what follows the norm reads a half or a quarter of the bytes, and no kernel repacks them.
#include "09_tcgen05/block_scaled/quantise.cuh"
#include "common/ptx/wide_access.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_09 {
namespace {

constexpr int words = 8, elements = 2 * words;  // of a vector of 32 bytes: words, each a pair of bf16
constexpr unsigned all_lanes = ~0u;

// x becomes h = x + residual.
__device__ void add(unsigned (&x)[words], const unsigned (&residual)[words], float& squares) {
#pragma unroll
  for (int i = 0; i < words; ++i) x[i] = add_pair(x[i], residual[i], squares);
}

// The scale of all of y, where the precision has one.
template <Precision precision>
__device__ float given_scale(const QuantisedRows& y) {
  if constexpr (precision == Precision::nvfp4) return *y.matrix_scale;
  return 1;
}

// Stores y of a thread's vector, the `at`-th of the row; `there`: before the row's end. By all lanes of a
// warp, whose vectors are neighbours, the first a multiple of 32: lanes share blocks, and tiles of scales.
template <Precision precision>
__device__ void store_y(const FusedNorm& p, QuantisedRows y_of_rows, int row, int at, bool there,
                        const unsigned (&h)[words], const unsigned (&gamma)[words], float scale,
                        float matrix_scale) {
  float y[elements];
#pragma unroll
  for (int i = 0; i < words; ++i) {
    y[2 * i] = there ? low_half(h[i]) * scale * low_half(gamma[i]) : 0;
    y[2 * i + 1] = there ? high_half(h[i]) * scale * high_half(gamma[i]) : 0;
  }
  constexpr int sharers = block<precision> / elements;  // lanes of a block
  static_assert(sharers == 1 || sharers == 2);
  float largest = largest_of(y);
  if constexpr (sharers == 2) largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, 1));
  const unsigned byte = scale_byte<precision>(largest, matrix_scale);
  const QuantisedLayout layout(precision, p.rows, p.cols);
  unsigned rounded[elements * bits<precision> / 32];
  round_elements<precision>(y, byte, matrix_scale, rounded);
  if (there) store_words(y_of_rows.elements + row * layout.pitch() + at * sizeof rounded, rounded);
  // Four blocks' scales are a word of a tile. Those past the row's end are 0, as the layout requires: the
  // largest there is 0.
  unsigned word = byte << 8 * (at / sharers % 4);
  word |= __shfl_xor_sync(all_lanes, word, sharers);
  word |= __shfl_xor_sync(all_lanes, word, 2 * sharers);
  if (there && at % (4 * sharers) == 0)
    *reinterpret_cast<unsigned*>(y_of_rows.scales + layout.scale_at(row, at / sharers)) = word;
}

// A row in the registers of blockDim.x threads; blockDim.y rows share a CTA where a row is one warp's. cols
// is a multiple of a vector's elements, and at most as many as `vectors` of each thread hold.
template <Precision precision, int vectors, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_registers(FusedNorm p, QuantisedRows y) {
  __shared__ float partial[warp_size];
  const int row = blockIdx.x * blockDim.y + threadIdx.y, row_vectors = p.cols / elements;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto vector_of_row = [&](int v) { return v * int(blockDim.x) + int(threadIdx.x); };
  auto there = [&](int v) { return vector_of_row(v) < row_vectors; };
  auto column = [&](int v) { return vector_of_row(v) * elements; };

  unsigned h[vectors][words], residual[vectors][words], gamma[vectors][words];
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (!there(v)) continue;
    ptx::load_32_bytes(h[v], p.x + start + column(v));
    ptx::load_32_bytes(residual[v], p.residual + start + column(v));
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    if (there(v)) ptx::load_32_bytes(gamma[v], p.gamma + column(v));

  float squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (!there(v)) continue;
    add(h[v], residual[v], squares);
    ptx::store_32_bytes(p.h + start + column(v), h[v]);
  }
  const float matrix_scale = given_scale<precision>(y);
  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    store_y<precision>(p, y, row, vector_of_row(v), there(v), h[v], gamma[v], scale, matrix_scale);
}

// A row too long for registers, by a CTA: h is read back from L2.
template <Precision precision, int threads>
__global__ void __launch_bounds__(threads) row_from_l2(FusedNorm p, QuantisedRows y) {
  __shared__ float partial[warp_size];
  const int row_vectors = p.cols / elements;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  float squares = 0;
  for (int at = threadIdx.x; at < row_vectors; at += threads) {
    unsigned h[words], residual[words];
    ptx::load_32_bytes(h, p.x + start + at * elements);
    ptx::load_32_bytes(residual, p.residual + start + at * elements);
    add(h, residual, squares);
    ptx::store_32_bytes(p.h + start + at * elements, h);
  }
  const float matrix_scale = given_scale<precision>(y);
  const float scale = rsqrtf(row_sum(squares, partial) / float(p.cols) + p.eps);
  for (int first = 0; first < row_vectors; first += threads) {  // the same for all lanes
    const int at = first + threadIdx.x;
    unsigned h[words], gamma[words];
    if (at < row_vectors) {
      ptx::load_32_bytes(h, p.h + start + at * elements);
      ptx::load_32_bytes(gamma, p.gamma + at * elements);
    }
    store_y<precision>(p, y, blockIdx.x, at, at < row_vectors, h, gamma, scale, matrix_scale);
  }
}

// As many threads per row as `vectors` vectors each need, in whole warps; eight rows to a CTA where that is
// one warp.
template <Precision precision, int vectors, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int threads = ceil_div(ceil_div(p.cols, elements * vectors), warp_size) * warp_size;
  const int rows_per_cta = threads == warp_size ? 8 : 1;
  row_in_registers<precision, vectors, most_threads>
      <<<ceil_div(p.rows, rows_per_cta), dim3(threads, rows_per_cta), 0, stream>>>(p, *p.quantised);
  return cudaGetLastError();
}

template <Precision precision>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  if (p.cols <= 256 * elements) return launch<precision, 1, 256>(p, stream);
  if (p.cols <= 512 * elements) return launch<precision, 1, 512>(p, stream);
  if (p.cols <= 512 * 2 * elements) return launch<precision, 2, 512>(p, stream);
  row_from_l2<precision, 512><<<p.rows, 512, 0, stream>>>(p, *p.quantised);
  return cudaGetLastError();
}

template <Precision precision>
Text whole_blocks(const FusedNorm& p) {
  if (p.cols % block<precision> == 0) return {};
  return {"cols must be a multiple of ", block<precision>, ": that many elements share a scale"};
}

template <Precision p>
constexpr Extension<FusedNorm> rounded{.precision = p};

}  // namespace

Variants<FusedNorm> block_scaled_norm() {
  return {{.name = "mxfp8",
           .what = "y in e4m3 with a scale for every 32 elements",
           .unsupported = whole_blocks<Precision::mxfp8>,
           .launch = launch_by_width<Precision::mxfp8>,
           .extension = &rounded<Precision::mxfp8>},
          {.name = "nvfp4",
           .what = "y in e2m1 with a scale for every 16, and one for all, which is given",
           .unsupported = whole_blocks<Precision::nvfp4>,
           .launch = launch_by_width<Precision::nvfp4>,
           .extension = &rounded<Precision::nvfp4>}};
}

}  // namespace ladder::rung_09
