// The second step of the chains that a linear is timed beside: an epilogue as a kernel of its own.
#pragma once

#include "common/extension.h"

namespace ladder {

// c[m,n] = f(product + bias), or act(gate) ⊙ product, of products in bf16 whose rows are `pitch` elements
// apart; gate only where the epilogue is gated, bias only where it is not. n is a multiple of 8, and so is
// pitch. A thread has 8 columns: it loads and stores 16 bytes at a time.
struct Pointwise {
  int m, n, pitch;
  const __nv_bfloat16* product;
  const __nv_bfloat16* gate;
  const __nv_bfloat16* bias;
  __nv_bfloat16* c;
};
cudaError_t launch_pointwise(const Pointwise& p, Epilogue epilogue, cudaStream_t stream);

}  // namespace ladder
