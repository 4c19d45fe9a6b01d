// What the sparse kernel multiplies, and the kernels that prepare it. (compress.cu)
#pragma once

#include "common/extension.h"

namespace ladder::rung_07 {

// In the workspace:
//   a         [m, pitch_a]: the stored elements of A, two of every four columns
//   metadata  a word for every lane of a warpgroup, of 64 rows and 64 columns of A as two wgmma.sp take it
//             (common/ptx/wgmma_sparse.cuh): 512 bytes. Those of 64 rows follow each other along k. Rows and
//             columns are filled up to whole tiles of a CTA, 256 by 128 at most
//   b         [k, n], rounded
struct Compressed {
  static constexpr int words = 128;  // for 64 rows and 64 columns
  int pitch_a, strips, blocks;       // elements; metadata: down A, and along k
  __nv_bfloat16 *a, *b;
  unsigned* metadata;
  std::size_t bytes = 0;

  explicit Compressed(const Gemm& p)
      : pitch_a(ceil_div(p.k, 16) * 8), strips(ceil_div(p.m, 256) * 4), blocks(ceil_div(p.k, 128) * 2) {
    auto* const start = p.typed ? static_cast<unsigned char*>(p.typed->workspace) : nullptr;
    auto take = [&](std::size_t size) {
      unsigned char* const part = start + bytes;
      bytes += (size + 255) / 256 * 256;
      return part;
    };
    a = reinterpret_cast<__nv_bfloat16*>(take(std::size_t(p.m) * pitch_a * sizeof *a));
    metadata = reinterpret_cast<unsigned*>(take(metadata_words() * sizeof *metadata));
    b = reinterpret_cast<__nv_bfloat16*>(take(std::size_t(p.k) * p.n * sizeof *b));
  }
  __host__ __device__ std::size_t metadata_words() const { return std::size_t(strips) * blocks * words; }
};

std::size_t compressed_bytes(const Gemm& p);
cudaError_t compress(const Gemm& p, cudaStream_t stream);  // fills the workspace

}  // namespace ladder::rung_07
