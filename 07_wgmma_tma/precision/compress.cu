// Rounds A and B to bf16, prunes A to two of every four neighbours along k, and lays out what is kept, and
// the metadata, as the sparse kernel reads them.
#include "07_wgmma_tma/precision/compressed.h"

namespace ladder::rung_07 {
namespace {

constexpr int threads = 256, most_ctas = 4096;

// Of four neighbours in bf16 the two largest are kept, of equal ones the first; a NaN is larger than any
// number. `stored`: the two, the first one in the lower half. Returns where they were: two bits each, again
// the first one's lower.
__device__ unsigned prune(const unsigned (&x)[4], unsigned& stored) {
  constexpr unsigned size = 0x7FFF;  // all but the sign: in this order numbers are ordered by |x|
  unsigned code = 0;
  int kept = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int before = 0;  // how many of the others are kept before this one
#pragma unroll
    for (int j = 0; j < 4; ++j)
      before += j < i ? (x[j] & size) >= (x[i] & size) : (x[j] & size) > (x[i] & size);
    if (before >= 2) continue;
    stored = kept == 0 ? x[i] : stored | x[i] << 16;
    code |= unsigned(i) << 2 * kept++;
  }
  return code;
}

// A thread for every word of metadata: 16 columns of rows g and g + 8 of the 16 that a warp supplies. Columns
// past k are zeros, also where they are stored; rows past m have metadata, but no elements.
__global__ void __launch_bounds__(threads) compress_a(const float* from, Compressed to, int m, int k) {
  const std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x;
  if (i >= to.metadata_words()) return;
  const int in_block = i % to.words, lane = in_block % 32;
  const std::size_t block = i / to.words;
  const int row0 = int(block / to.blocks) * 64 + in_block / 32 * 16 + lane / 4;
  const int col0 = int(block % to.blocks) * 64 + lane % 4 * 16;
  unsigned word = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row0 + half * 8;
    unsigned stored[4];
#pragma unroll
    for (int four = 0; four < 4; ++four) {
      unsigned x[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int col = col0 + four * 4 + j;
        const float value = row < m && col < k ? from[std::size_t(row) * k + col] : 0;
        x[j] = __bfloat16_as_ushort(__float2bfloat16_rn(value));
      }
      word |= prune(x, stored[four]) << (half * 16 + four * 4);
    }
    if (row < m && col0 < k)
      *reinterpret_cast<uint4*>(to.a + std::size_t(row) * to.pitch_a + col0 / 2) =
          make_uint4(stored[0], stored[1], stored[2], stored[3]);
  }
  to.metadata[i] = word;
}

__global__ void __launch_bounds__(threads) round_b(const float* from, __nv_bfloat16* to, std::size_t count) {
  const std::size_t stride = std::size_t(gridDim.x) * threads;
  for (std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride)
    to[i] = __float2bfloat16_rn(from[i]);
}

}  // namespace

std::size_t compressed_bytes(const Gemm& p) {
  return Compressed(p).bytes;
}

cudaError_t compress(const Gemm& p, cudaStream_t stream) {
  const Compressed to(p);
  auto ctas = [](std::size_t count) { return unsigned((count + threads - 1) / threads); };
  compress_a<<<ctas(to.metadata_words()), threads, 0, stream>>>(p.typed->a, to, p.m, p.k);
  const std::size_t of_b = std::size_t(p.k) * p.n;
  const unsigned ctas_b = of_b > std::size_t(most_ctas) * threads ? most_ctas : ctas(of_b);
  round_b<<<ctas_b, threads, 0, stream>>>(p.typed->b, to.b, of_b);
  return cudaGetLastError();
}

}  // namespace ladder::rung_07
