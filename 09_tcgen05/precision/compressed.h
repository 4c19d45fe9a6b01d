// What the sparse kernel multiplies, and the kernels that prepare it. (compress.cu)
#pragma once

#include "common/extension.h"

namespace ladder::rung_09 {

// In the workspace:
//   a         [m, pitch_a]: the stored elements of A, two of every four columns
//   metadata  of 128 rows and 128 columns of A 2 KiB, for every lane of tensor memory a word in each of four
//             columns (common/ptx/tcgen05_sparse.cuh). Those of 128 rows follow each other along k, and are
//             filled up to whole tiles
//   b         [k, n], rounded
struct Compressed {
  static constexpr int words = 128 * 4;  // for 128 rows and 128 columns
  int pitch_a, tiles_m, tiles_k;         // elements; metadata: down A, and along k
  __nv_bfloat16 *a, *b;
  unsigned* metadata;
  std::size_t bytes = 0;

  explicit Compressed(const Gemm& p)
      : pitch_a(ceil_div(p.k, 16) * 8), tiles_m(ceil_div(p.m, 128)), tiles_k(ceil_div(p.k, 128)) {
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
  __host__ __device__ std::size_t metadata_words() const { return std::size_t(tiles_m) * tiles_k * words; }
};

std::size_t compressed_bytes(const Gemm& p);
cudaError_t compress(const Gemm& p, cudaStream_t stream);  // fills the workspace

}  // namespace ladder::rung_09
