// tcgen05.mma with a sparse A: as in tcgen05.cuh, but of every four neighbours in a row of A two are stored,
// and metadata in tensor memory say which. PTX ISA, "tcgen05.mma.sp"; "Sparse Matrices"; "Sparsity selector".
// sm_100a, sm_103a and the rest of their family sm_100f.
#pragma once

#include "common/ptx/tcgen05.cuh"

namespace ladder::ptx {

// MmaDescriptor::bits for a sparse A. K is 64 bytes of a row of b, and of a 32 bytes are stored. The metadata
// of an MMA are a column of tensor memory, and `selector` says which of two neighbours. (Bits 0 to 2)
template <class Mma>
__device__ constexpr std::uint32_t sparse(int selector) {
  return Mma::bits | 1u << 2 | unsigned(selector);
}

// Issues d = a * b, or d + a * b where `add`, in bf16: a[128, 32] of which 16 columns are stored, b[32, n].
// Executed by one thread. (tcgen05.mma.sp.cta_group::1.kind::f16)
//
// Metadata: lane 16q + r of the column, r below 8, has those of columns 0 to 15, and lane 16q + 8 + r of 16
// to 31: of row 16q + r in the lower half of the word, and of row 16q + 8 + r in the upper one. For each four
// columns, from the lowest bits: two bits with the column of the first stored element, and two with that of
// the second.
__device__ __forceinline__ void tcgen05_mma_sp(TensorAddress d, SharedMatrix a, SharedMatrix b,
                                               TensorAddress metadata, std::uint32_t what, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %5, 0;\n"
      "tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %2, [%3], %4, add;\n"
      "}\n" ::"r"(d),
      "l"(a.bits()), "l"(b.bits()), "r"(metadata), "r"(what), "r"(int(add))
      : "memory");
}

// Copies 2 KiB at `from` to 4 columns of tensor memory: 16 bytes to each of 128 lanes. Executed by the thread
// that issues the MMAs: they come after it. (tcgen05.cp.cta_group::1.128x128b)
__device__ __forceinline__ void tcgen05_copy_columns(TensorAddress to, SharedAddress from) {
  const SharedMatrix lanes(from, 0, 8 * 16, Swizzle::none);
  asm volatile("tcgen05.cp.cta_group::1.128x128b [%0], %1;" ::"r"(to), "l"(lanes.bits()) : "memory");
}

}  // namespace ladder::ptx
