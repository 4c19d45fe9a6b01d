// The general kernel with operands of 8 bits.
#pragma once

#include "08_warp_specialized/fp8/workspace.h"
#include "08_warp_specialized/general/kernel.cuh"
#include "common/ptx/wgmma_fp8.cuh"

namespace ladder::rung_08 {

using general::Accumulator, general::Config, general::Design, general::Releases;

constexpr ptx::Fp8 fp8_of(Number number) {
  return number == Number::e5m2 ? ptx::Fp8::e5m2 : ptx::Fp8::e4m3;
}

// A tile's epilogue weighs twice what it does in bf16: here the other consumer's tile hides it.
constexpr Design fp8_ping_pong{.rows_each = 2,
                               .block_n = 128,
                               .stages = 6,
                               .cluster_m = 1,
                               .cluster_n = 2,
                               .group = 16,
                               .ping_pong = true};

// Without scales. A and B are k-major, both: wgmma transposes only operands of 16 bits. B lies as [n, k].
template <Precision precision>
struct Fp8 : general::Bf16 {
  using Element = unsigned char;
  static constexpr bool b_k_major = true;
  static constexpr bool block_scales = false;
  static constexpr ptx::Fp8 type_a = fp8_of(format_of(precision).a);
  static constexpr ptx::Fp8 type_b = fp8_of(format_of(precision).b);

  template <class C>
  static cudaError_t map_operands(typename C::Operands* p, const Gemm& gemm) {
    const Workspace w(precision, gemm, gemm.typed->workspace);
    const cudaError_t error = ptx::make_tensor_map(&p->map_a, w.a_elements, p->m, p->k, C::share_a,
                                                   C::block_k, Swizzle::bytes128, w.a.pitch());
    if (error != cudaSuccess) return error;
    return ptx::make_tensor_map(&p->map_b, w.b_elements, p->n, p->k, C::box_n, C::block_k, Swizzle::bytes128,
                                w.b.pitch());
  }

  template <int columns>
  __device__ static void multiply_step(float (&accumulator)[columns][4], MatrixDescriptor a,
                                       MatrixDescriptor b, int step, bool add) {
    using general::mma_bytes;
    ptx::wgmma_m64k32<type_a, type_b>(accumulator, a + step * mma_bytes, b + step * mma_bytes, add);
  }
};

// A scale for A and one for B.
struct Fp8Tensor : Fp8<Precision::fp8_tensor> {
  struct Parameters {
    const float *scale_a, *scale_b;
  };
  template <class C>
  static cudaError_t map_operands(typename C::Operands* p, const Gemm& gemm) {
    const Workspace w(Precision::fp8_tensor, gemm, gemm.typed->workspace);
    p->extra = {w.a_scales, w.b_scales};
    return Fp8<Precision::fp8_tensor>::map_operands<C>(p, gemm);
  }

  // The smaller one first: an accumulator times both leaves fp32's range on the way only if it does in the
  // end. Their product might be infinite, and 0 times that is NaN.
  template <class C>
  struct Scales {
    __device__ void load(const typename C::Operands& p) {
      smaller = fminf(*p.extra.scale_a, *p.extra.scale_b);
      larger = fmaxf(*p.extra.scale_a, *p.extra.scale_b);
    }
    __device__ void load_of_rows(const typename C::Operands&, int) {}
    __device__ void load_of_columns(const typename C::Operands&, int) {}
    __device__ float scaled(float x, int, int) const { return x * smaller * larger; }

    float smaller, larger;
  };
};

// A scale for each row of A and each k-tile, which TMA loads with the k-tile, and for each k-tile of 128
// columns of B. A row of map_scales_a is a k-tile's scales for all rows of A.
struct Fp8Block : Fp8<Precision::fp8_block> {
  static constexpr bool block_scales = true;
  struct Parameters {
    CUtensorMap map_scales_a;
    const float* scales_b;
  };
  template <int stages, int block_m>
  struct Shared {
    float scales[stages][block_m];
  };
  static constexpr int scale_bytes(int block_m) { return block_m * int(sizeof(float)); }

  template <class C>
  static cudaError_t map_operands(typename C::Operands* p, const Gemm& gemm) {
    const Workspace w(Precision::fp8_block, gemm, gemm.typed->workspace);
    p->extra.scales_b = w.b_scales;
    const cudaError_t error = ptx::make_tensor_map(&p->extra.map_scales_a, w.a_scales, w.scales_a.blocks,
                                                   p->m, 1, C::block_m, Swizzle::none, w.scales_a.pitch());
    if (error != cudaSuccess) return error;
    return Fp8<Precision::fp8_block>::map_operands<C>(p, gemm);
  }
  template <class C>
  __device__ static void load_scales(const typename C::Operands& p, typename C::Shared& shared, int stage,
                                     int row, int t) {
    ptx::tma_load(ptx::shared_address(shared.extra.scales[stage]), p.extra.map_scales_a, row, t,
                  ptx::shared_address(&shared.full[stage]));
  }
};

}  // namespace ladder::rung_08
