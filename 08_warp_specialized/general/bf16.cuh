// The policy of the general kernel: what it does in bf16. Another precision or problem derives from it and
// hides what it does differently.
#pragma once

#include "08_warp_specialized/general/epilogue.cuh"

namespace ladder::rung_08::general {

struct Bf16 {
  using Element = __nv_bfloat16;            // of A and B
  static constexpr bool b_k_major = false;  // B lies as [k, n], and wgmma transposes it
  static constexpr int producer_registers = 40, consumer_registers = 232;

  struct Parameters {};  // of the kernel, beside A, B and C
  template <int stages, int block_m>
  struct Shared {};                                                // beside the ring buffer's elements
  static constexpr int scale_bytes(int /*block_m*/) { return 0; }  // that come with a k-tile

  // A and B as TMA sees them.
  template <class C>
  static cudaError_t map_operands(typename C::Operands* p, const Gemm& gemm) {
    const cudaError_t error =
        ptx::make_tensor_map(&p->map_a, gemm.a, p->m, p->k, C::share_a, C::block_k, Swizzle::bytes128);
    if (error != cudaSuccess) return error;
    return ptx::make_tensor_map(&p->map_b, gemm.b, p->k, p->n, C::block_k, C::box_n, Swizzle::bytes128);
  }

  // Called by the producer warp before it loads A's rows from `row` on, columns from k on; and by the thread
  // that issues the loads of k-tile t.
  template <class C>
  __device__ static void wait_for_a(const typename C::Operands&, int /*row*/, int /*k*/) {}
  template <class C>
  __device__ static void load_scales(const typename C::Operands&, typename C::Shared&, int /*stage*/,
                                     int /*row*/, int /*t*/) {}
  // Called by all four warps of the producer's warpgroup when their part of the loads is done.
  template <class C>
  __device__ static void after_loads(const typename C::Operands&, int /*warp*/) {}

  // accumulator += a · b over 32 bytes of k, the step-th of a k-tile.
  template <int columns>
  __device__ static void multiply_step(float (&accumulator)[columns][4], MatrixDescriptor a,
                                       MatrixDescriptor b, int step, bool add) {
    constexpr int row = 128;
    ptx::wgmma_m64k16<ptx::Major::mn>(accumulator, a + step * mma_bytes, b + step * mma_k * row, add);
  }
  // A tile's mainloop, by a warpgroup. The tile begins at column col0.
  template <class C, class Meanwhile>
  __device__ static void mainloop(Accumulator<C>& accumulator, typename C::Shared& shared,
                                  const typename C::Operands&, const Releases<C>& releases, int tiles_k,
                                  int first, int /*col0*/, Stage<C>& stage, const Meanwhile& meanwhile) {
    general::multiply<C>(accumulator, shared, releases, tiles_k, first, stage, meanwhile);
  }

  // What a thread's accumulators are multiplied by, if anything.
  template <class C>
  struct Scales {
    __device__ void load(const typename C::Operands&) {}                          // once
    __device__ void load_of_rows(const typename C::Operands&, int /*row*/) {}     // for each tile,
    __device__ void load_of_columns(const typename C::Operands&, int /*col*/) {}  // while its last MMAs run
    // An element of the i-th 64 rows; half: of the thread's two rows, 8 apart.
    __device__ float scaled(float x, int /*i*/, int /*half*/) const { return x; }
  };

  // C as TMA sees it, where the epilogue stores through TMA.
  template <class C>
  static cudaError_t map_output(typename C::Operands* p, const Gemm& gemm) {
    return ptx::make_tensor_map(&p->map_c, gemm.c, p->m, p->n, 16, 64, Swizzle::bytes128);
  }
  template <class C>
  __device__ static void epilogue(const Accumulator<C>& accumulator, const auto& scales,
                                  unsigned char (&boxes)[2][C::box_c], const typename C::Operands& p,
                                  int row0, int col0, int& next_box) {
    general::store<C>(accumulator, scales, boxes, p, row0, col0, next_box);
  }
};

}  // namespace ladder::rung_08::general
