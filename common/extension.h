// What excursions of some rungs need beyond common/rung.h: another precision, operands that are rounded into
// a workspace first, and the problems of some rungs alone.
#pragma once

#include "common/precision.h"
#include "common/rung.h"

namespace ladder {

// The operands of a gemm whose precision is not bf16. Gemm's a and b are null then, and c, where C is not
// stored as bf16. Device pointers, aligned to 256 bytes. A bf16 variant that prepares something has only the
// workspace.
struct TypedOperands {
  const float* a;   // [m, k], before it is rounded
  const float* b;   // [k, n], the same
  void* c;          // [m, n], of the type that format_of() says; Gemm's c where that is bf16
  void* workspace;  // of Extension::workspace_bytes(), what prepare() fills
};

// y of a norm whose precision is not bf16, as QuantisedLayout lays it out. FusedNorm's y is null then.
//
// The scale of nvfp4 that all of y share is read: the largest |y| is known only when the last row is, and
// then all rows would have to be read again. So the caller of the norm estimates it, from the layer's y on
// other inputs. It should be at least the largest |y| / 2688: block scales saturate at 448.
struct QuantisedRows {
  unsigned char* elements;
  unsigned char* scales;
  const float* matrix_scale = nullptr;  // of nvfp4, else null
};

// A linear layer after a residual add and an RMSNorm:
//   h = bf16(x + residual)
//   W' = bf16(gamma · W), each row of W by its element of gamma
//   C = bf16(scale · (h · W')), scale = rsqrt(mean over the row of h² + eps), the product accumulated in fp32
// x, residual and h are [rows, cols], w is [cols, n], c is [rows, n], gamma is [cols]; all row-major, bf16.
// 1 <= rows, cols, n <= max_dimension.
//
// What FusedNorm multiplies into y is split up: gamma belongs to the weights and is folded into them once, by
// prepare(), and a row's scale is a factor of its row of C. So no normalised matrix is ever stored. Either
// way each term of a dot product along cols is rounded once before it is accumulated: there y, here W'.
struct NormGemm {
  int rows, cols, n;
  const __nv_bfloat16* x;
  const __nv_bfloat16* residual;
  const __nv_bfloat16* gamma;
  const __nv_bfloat16* w;
  __nv_bfloat16* h;
  __nv_bfloat16* c;
  float eps;
  // W', and whatever else the variant's kernels keep there. launch() finds it as prepare() or the launch
  // before has left it.
  void* workspace = nullptr;
};

// Several products in one launch, which share n and k and differ in how many rows they have: the experts of a
// mixture-of-experts layer, of which a router gives each some of the tokens. For every group g
//   C[rows of g] = A[rows of g] · B[g], rows of g: offsets[g] up to offsets[g + 1]
// A is [m, k], the groups' rows one group after the other; B is [groups, k, n], C [m, n]; all row-major,
// bf16, accumulated in fp32. A group may have no rows. 1 <= groups, m, n, k <= max_dimension.
struct GroupedGemm {
  int groups, m, n, k;
  const __nv_bfloat16* a;
  const __nv_bfloat16* b;
  __nv_bfloat16* c;
  const int* offsets;  // [groups + 1], from 0 to m. On the device, as a router leaves them: launch() cannot
                       // read them
};

// A linear layer with what usually follows it. Extension::epilogue says which function a variant computes; in
// fp32, of the accumulators, rounded once to bf16:
//   bias            C = A · B + bias
//   gelu, silu      C = act(A · B + bias)
//   swiglu, geglu   C = silu(A · Gate) ⊙ (A · B), gelu(A · Gate) ⊙ (A · B), ⊙ element by element; no bias
// silu(x) = x / (1 + exp(-x)); gelu is the tanh form, x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))).
// A is [m, k], B and Gate are [k, n], C is [m, n], bias is [n]; all row-major, bf16. 1 <= m, n, k <=
// max_dimension.
struct Linear {
  int m, n, k;
  const __nv_bfloat16* a;
  const __nv_bfloat16* b;
  const __nv_bfloat16* gate;
  const __nv_bfloat16* bias;
  __nv_bfloat16* c;
};

enum class Epilogue { none, bias, gelu, silu, swiglu, geglu };

// Two products, of which one gates the other.
constexpr bool is_gated(Epilogue epilogue) {
  return epilogue == Epilogue::swiglu || epilogue == Epilogue::geglu;
}

// A row operator: each row by itself. Extension::operation says which one a variant computes; in fp32,
// rounded once to bf16:
//   layer_norm   y = (x - mean) · rsqrt(variance + eps) · gamma + beta, variance = mean of (x - mean)²
//   softmax      y = exp(x - max) / sum of exp(x - max); neither gamma nor beta
// x and y are [rows, cols], gamma and beta are [cols]; row-major, bf16. 1 <= rows, cols <= max_dimension.
// No thread accumulates more than a 32nd of a row: the check's bound counts on it.
struct RowOperator {
  int rows, cols;
  const __nv_bfloat16* x;
  const __nv_bfloat16* gamma;
  const __nv_bfloat16* beta;
  __nv_bfloat16* y;
  float eps;
};

enum class RowOperation { none, layer_norm, softmax };

// What a variant has beyond a launch in bf16.
template <class Problem>
struct Extension {
  // What A and B are rounded to before they are multiplied, along k, or y when it is stored, along cols.
  Precision precision = Precision::bf16;

  // A gemm in another precision brings its own kernels that round: prepare() enqueues them, they fill the
  // workspace of workspace_bytes(), aligned to 256, and launch() reads it. They are not timed: in a chain of
  // layers the layer before rounds A, and B is rounded once. A gemm in bf16 may use it for another layout of
  // B. prepare() is null where launch() alone uses the workspace, and workspace_bytes() where there is none.
  std::size_t (*workspace_bytes)(const Problem&) = nullptr;
  cudaError_t (*prepare)(const Problem&, cudaStream_t) = nullptr;

  // Of a variant that chooses among kernels: which one launch() takes, in a few words; reads the sizes alone.
  // Null where there is only one.
  Text (*kernel)(const Problem&) = nullptr;

  // Of a linear: what it computes.
  Epilogue epilogue = Epilogue::none;
  // Of a row_operator: what it computes.
  RowOperation operation = RowOperation::none;

  // Of one that estimates which of its launches is fastest: the one with this rank in the estimate, where
  // rank 0 is launch()'s. A sweep over models times the fastest of the first ranks beside it.
  cudaError_t (*ranked)(const Problem&, int rank, cudaStream_t) = nullptr;
};

// A variant's extension; of one without, an empty one.
template <class Problem>
const Extension<Problem>& extension_of(const Variant<Problem>& variant) {
  static const Extension<Problem> none;
  return variant.extension ? *variant.extension : none;
}

}  // namespace ladder
