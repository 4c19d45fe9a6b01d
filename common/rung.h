// The contract between a rung and everything else. Read this first.
//
// A rung is one step of the course: a folder such as 01_coalesced that solves the same two problems as every
// other. It includes this header, common/rows/norm.cuh (from 03 on), common/ptx/* (from 04 on), on 06
// common/tile_order.cuh, and its own files, and nothing else. What its excursions need beyond that is in
// common/extension.h and the rest of common/rows. The harness knows this header and no rung by name.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <initializer_list>
#include <vector>

#include "common/text.h"

namespace ladder {

// The largest size of any dimension: half of what an int holds, so a loop may step past the end.
constexpr int max_dimension = 1 << 30;

// How many tiles of y cover x; 0 <= x, 0 < y.
__host__ __device__ constexpr int ceil_div(int x, int y) {
  return x / y + (x % y != 0);
}

// C[m,n] = A[m,k] · B[k,n]. Row-major, bf16, accumulated in fp32, rounded once to bf16.
// 1 <= m, n, k <= max_dimension; a product of two may pass 2^31, so elements are indexed with 64 bits. Device
// pointers are aligned to 256 bytes, so 16-byte accesses are aligned wherever the row length allows.
struct Gemm {
  int m, n, k;
  const __nv_bfloat16* a;
  const __nv_bfloat16* b;
  __nv_bfloat16* c;
  const struct TypedOperands* typed = nullptr;  // of a variant in another precision, or with a workspace
};

// h = bf16(x + residual); y = bf16(h · rsqrt(mean over the row of h² + eps) · gamma), in fp32 on the rounded
// h. bf16, row-major: x, residual, h, y [rows, cols], gamma [cols]. 1 <= rows, cols <= max_dimension.
struct FusedNorm {
  int rows, cols;
  const __nv_bfloat16* x;
  const __nv_bfloat16* residual;
  const __nv_bfloat16* gamma;
  __nv_bfloat16 *h, *y;
  float eps;
  const struct QuantisedRows* quantised = nullptr;  // of a variant that stores y in another precision
  void* workspace = nullptr;  // of a variant that has one; as prepare() or the launch before has left it
};

template <class Problem>
struct Extension;  // see common/extension.h

template <class Problem>
struct Variant {
  const char* name;  // as typed after --variant
  const char* what;  // one line: what it shows, or which trick is left out

  // Why this shape cannot be run, in one line; empty where it can. Reads the sizes, never the pointers.
  Text (*unsupported)(const Problem&) = [](const Problem&) { return Text(); };

  // Enqueues the work on the stream. Allocates nothing, synchronises nothing, keeps nothing between calls.
  // Returns the first error of the runtime. Only called with shapes that are supported.
  cudaError_t (*launch)(const Problem&, cudaStream_t);
  bool dependent_launch = false;  // launch()'s first grid may start while the one before still runs

  // The same, by a kernel that records a timeline of its warps. Null where there is none.
  cudaError_t (*traced)(const Problem&, const struct Timeline&, cudaStream_t) = nullptr;

  const Extension<Problem>* extension = nullptr;  // another precision, a workspace
};

template <class Problem>
using Variants = std::vector<Variant<Problem>>;

// The tables of several files as one.
template <class Problem>
Variants<Problem> join(std::initializer_list<Variants<Problem>> tables) {
  Variants<Problem> all;
  for (const Variants<Problem>& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

// A rung's own table, with those of its excursions before the last entry, which is the rung itself.
template <class Problem>
Variants<Problem> with_excursions(Variants<Problem> own, std::initializer_list<Variants<Problem>> tables) {
  const Variants<Problem> excursions = join(tables);
  own.insert(own.end() - 1, excursions.begin(), excursions.end());
  return own;
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

// The last variant of a list is the rung itself; before it stand its ablations and excursions.
struct Rung {
  const char* name;   // the folder's name
  const char* title;  // the one new idea, in a few words
  ComputeCapability needs;
  Variants<Gemm> gemm;
  Variants<FusedNorm> fused_norm;
  Variants<struct NormGemm> norm_gemm = {};  // this and the rest: problems of some rungs, common/extension.h
  Variants<struct GroupedGemm> grouped_gemm = {};
  Variants<struct Linear> linear = {};
  Variants<struct RowOperator> row_operator = {};
};

// Defined once by each rung, in its rung.cc.
const Rung& rung();

}  // namespace ladder
