// The contract between a rung and everything else. Read this first.
//
// A rung is one step of the course: a folder such as 01_coalesced that solves the same two problems as every
// other rung, and some rungs a third, which is made of both. It includes this header, common/ptx/* (from rung
// 04 on) and its own files, and nothing else. The harness knows this header and no rung by name.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include "common/precision.h"
#include "common/timeline.h"

namespace ladder {

// The largest size of any dimension. Half of what an int holds: a loop may step past the end without
// overflow.
constexpr int max_dimension = 1 << 30;

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

  // Instead of a and b where the variant's precision is not bf16: the numbers before they are rounded.
  const float* a_fp32 = nullptr;
  const float* b_fp32 = nullptr;
  void* c_typed = nullptr;  // instead of c where the precision stores C as another type, see format_of()
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

// A linear layer behind a residual add and an RMSNorm:
//   h = bf16(x + residual)
//   W' = bf16(gamma · W), each row of W by its element of gamma
//   C = bf16(scale · (h · W')), scale = rsqrt(mean over the row of h² + eps), the product accumulated in fp32
// x, residual and h are [rows, cols], w is [cols, n], c is [rows, n], gamma is [cols]; all row-major, bf16.
// 1 <= rows, cols, n <= max_dimension.
//
// What FusedNorm multiplies into y is split up: gamma belongs to the weights and is folded into them once, by
// prepare(), and a row's scale is a factor of its row of C. So no normalised matrix is ever stored. Either
// way each term of a sum along cols is rounded once before it is added: there y, here W'.
struct NormGemm {
  int rows, cols, n;
  const __nv_bfloat16* x;
  const __nv_bfloat16* residual;
  const __nv_bfloat16* gamma;
  const __nv_bfloat16* w;
  __nv_bfloat16* h;
  __nv_bfloat16* c;
  float eps;
  void* workspace = nullptr;  // of the variant, see Variant
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
  // norm stores it as QuantisedLayout says. A gemm is given fp32 (bf16 where that is its precision), and
  // brings its own kernels that round: prepare() enqueues them, they fill `workspace`, of workspace_bytes()
  // and aligned to 256, and launch() reads it. They are not timed: in a chain of layers it is the layer
  // before that rounds A, and B is rounded once. Null where there is nothing to prepare.
  //
  // A norm_gemm keeps W' there, and what its kernels tell each other. launch() finds the workspace as
  // prepare() or the launch before has left it.
  Precision precision = Precision::bf16;
  std::size_t (*workspace_bytes)(const Problem&) = nullptr;
  cudaError_t (*prepare)(const Problem&, cudaStream_t) = nullptr;

  // launch(), by a kernel that notes on the timeline what its warps do and is the same otherwise. Null where
  // there is none.
  cudaError_t (*traced)(const Problem&, const Timeline&, cudaStream_t) = nullptr;
};

// unsupported() of a variant that takes every shape.
template <class Problem>
std::string any_shape(const Problem&) {
  return {};
}

// Which GPUs run code that is made for a compute capability.
enum class Compatibility {
  newer,   // it and every newer one: portable code, that the driver compiles again
  family,  // it and newer ones of the same major number: family-specific code (sm_100f)
  exact,   // it and no other: architecture-specific code (sm_90a)
};

struct ComputeCapability {
  int major, minor;
  Compatibility compatibility;
};

// The last variant of a list is the rung itself; those before it are its ablations, in the order the chapter
// tells.
struct Rung {
  const char* name;   // the folder's name
  const char* title;  // the one new idea, in a few words
  ComputeCapability needs;
  std::vector<Variant<Gemm>> gemm;
  std::vector<Variant<FusedNorm>> fused_norm;
  std::vector<Variant<NormGemm>> norm_gemm = {};  // some rungs' alone
};

// Defined once by each rung, in its rung.cc.
const Rung& rung();

}  // namespace ladder
