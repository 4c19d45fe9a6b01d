// The contract between a rung and everything else. Read this first.
//
// A rung is one step of the course: a folder such as 01_coalesced that solves the same two problems as every
// other rung. It includes this header, common/ptx/* (from rung 04 on) and its own files, and nothing else.
// The harness knows this header and no rung by name.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ladder {

// The largest size of any dimension. Half of what an int holds: a loop may step past the end without
// overflow.
constexpr int max_dimension = 1 << 30;

// What the factors of a product are rounded to. Most rungs know bf16 alone.
//
// Element x of a row becomes s · q(x / s), computed in fp32 and rounded to nearest even: q has the
// precision's type, and s is the scale that a block of neighbours along the row shares.
//   fp8    q is e4m3, at most ±448; there are no scales
//   mxfp8  q is e4m3; a block is 32 elements; s is the smallest power of two, from 2^-127 on, with which
//          none exceeds 448
//   nvfp4  q is e2m1, at most ±6; a block is 16; s is the e4m3 nearest to the largest |x| / 6, and where it
//   is
//          0, so are they
enum class Precision { bf16, fp8, mxfp8, nvfp4 };

// A matrix [rows, cols] of such a precision in memory: `elements`, row-major, and `scales`, a byte for each
// block, both aligned to 256 bytes. cols is a multiple of the block.
//
// Scales lie in tiles of 512 bytes: 128 rows by 4 blocks, as the tensor cores of rung 09 want them. From row
// r to r + 1 of a tile it is 16 bytes, but the tile is folded: rows 32 to 63 lie 4 bytes on from rows 0 to
// 31, and so on. Tiles follow each other along the row. What of a row's last tile is past cols is 0; what is
// past the last row may be anything.
struct QuantisedLayout {
  int rows, cols;
  int bits, block;  // of an element; elements that share a scale, 0: none do

  __host__ __device__ constexpr QuantisedLayout(Precision precision, int rows_, int cols_)
      : rows(rows_),
        cols(cols_),
        bits(precision == Precision::bf16    ? 16
             : precision == Precision::nvfp4 ? 4
                                             : 8),
        block(precision == Precision::nvfp4   ? 16
              : precision == Precision::mxfp8 ? 32
                                              : 0) {}

  // Bytes from a row to the next: 16-byte accesses are aligned. Two 4-bit elements are a byte, the first in
  // its lower half.
  __host__ __device__ constexpr std::size_t pitch() const {
    return (std::size_t(cols) * bits / 8 + 15) / 16 * 16;
  }
  __host__ __device__ constexpr std::size_t element_bytes() const { return rows * pitch(); }
  // Tiles of scales along a row and down a column.
  __host__ __device__ constexpr int tiles_across() const { return block ? (cols / block + 3) / 4 : 0; }
  __host__ __device__ constexpr int tiles_down() const { return (rows - 1) / 128 + 1; }
  __host__ __device__ constexpr std::size_t scale_bytes() const {
    return std::size_t(tiles_down()) * tiles_across() * 512;
  }
  // Where the scale of a row's block is.
  __host__ __device__ constexpr std::size_t scale_at(int row, int of_block) const {
    return (std::size_t(row / 128) * tiles_across() + of_block / 4) * 512 + row % 32 * 16 +
           row % 128 / 32 * 4 + of_block % 4;
  }
};

// C[m,n] = A[m,k] · B[k,n]. Row-major, bf16, accumulated in fp32, rounded once to bf16.
// 1 <= m, n, k <= max_dimension; the product of two of them may pass 2^31, so elements are indexed with 64
// bits. Device pointers are aligned to 256 bytes, so 16-byte accesses are aligned wherever the row length
// allows.
struct Gemm {
  int m, n, k;
  const __nv_bfloat16* a;
  const __nv_bfloat16* b;
  __nv_bfloat16* c;
  void* workspace = nullptr;  // of the variant, see Variant
};

// h = bf16(x + residual); y = bf16(h · rsqrt(mean over the row of h² + eps) · gamma), in fp32 on the rounded
// h. x, residual, h and y are [rows, cols], row-major, bf16; gamma is [cols], bf16. 1 <= rows, cols <=
// max_dimension.
struct FusedNorm {
  int rows, cols;
  const __nv_bfloat16* x;
  const __nv_bfloat16* residual;
  const __nv_bfloat16* gamma;
  __nv_bfloat16* h;
  __nv_bfloat16* y;
  float eps;
  unsigned char* y_elements = nullptr;  // instead of y, where the variant's precision is not bf16
  unsigned char* y_scales = nullptr;    // and its scales
};

// One kernel, or one kernel with one trick left out.
template <class Problem>
struct Variant {
  const char* name;  // as typed after --variant
  const char* what;  // one line: what it shows

  // Why this shape cannot be run, in one line; empty where it can. Looks at the sizes only, never at the
  // pointers.
  std::string (*unsupported)(const Problem&);

  // Enqueues the work on the stream. Allocates nothing, synchronises nothing, keeps nothing between calls.
  // Returns the first error of the runtime. Only called with shapes that unsupported() lets pass.
  cudaError_t (*launch)(const Problem&, cudaStream_t);

  // What A and B are rounded to before they are multiplied, along k, or y when it is stored, along cols. A
  // norm stores it as QuantisedLayout says. A gemm is given bf16 all the same, and brings its own kernels
  // that round: prepare() enqueues them, they fill `workspace`, of workspace_bytes() and aligned to 256, and
  // launch() reads it. They are not timed: in a chain of layers it is the layer before that rounds A, and B
  // is rounded once. Null where there is nothing to prepare.
  Precision precision = Precision::bf16;
  std::size_t (*workspace_bytes)(const Problem&) = nullptr;
  cudaError_t (*prepare)(const Problem&, cudaStream_t) = nullptr;
};

// unsupported() of a variant that takes every shape.
template <class Problem>
std::string any_shape(const Problem&) {
  return {};
}

struct ComputeCapability {
  int major, minor;
  bool
      exact;  // true for architecture-specific code (sm_90a): it runs on this compute capability and no other
};

// The last variant of a list is the rung itself; those before it are its ablations, in the order the chapter
// tells.
struct Rung {
  const char* name;   // the folder's name
  const char* title;  // the one new idea, in a few words
  ComputeCapability needs;
  std::vector<Variant<Gemm>> gemm;
  std::vector<Variant<FusedNorm>> fused_norm;
};

// Defined once by each rung, in its rung.cc.
const Rung& rung();

}  // namespace ladder
