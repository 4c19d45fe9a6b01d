// The kernel in fp8: the conversions need sm_89, so it is compiled for that, and the rung's other kernels are
// not.
#include "06_swizzle_ldmatrix/precision/typed.cuh"

namespace ladder::rung_06 {
namespace {

struct E4m3 {
  using Element = unsigned char;
  static __device__ Element round(float x) { return static_cast<Element>(ptx::e4m3x2(x, 0)); }
};
struct E5m2 {
  using Element = unsigned char;
  static __device__ Element round(float x) { return static_cast<Element>(ptx::e5m2x2(x, 0)); }
};

// What is stored and copied is fp8; what is multiplied is f16, which holds every e4m3 and e5m2. GPUs for data
// centres from sm_89 on have no mma.sync for fp8: ptxas makes one from these very conversions, with more
// registers than a thread has (docs/deeper/precision.md). Here a fragment of A is converted once, and the
// CTA's tile is half as wide, which leaves registers for the converted fragments.
//
// Of four neighbours along k, two go to one MMA and two to the next: the same ones of A and of B.
__device__ void multiply_converted(float (&d)[4], const unsigned (&a_low)[4], const unsigned (&a_high)[4],
                                   const unsigned (&b)[2]) {
  const unsigned b_low[2] = {ptx::e4m3x2_to_f16x2(b[0]), ptx::e4m3x2_to_f16x2(b[1])};
  const unsigned b_high[2] = {ptx::e4m3x2_to_f16x2(b[0] >> 16), ptx::e4m3x2_to_f16x2(b[1] >> 16)};
  ptx::mma_m16n8k16_f16(d, a_low, b_low);
  ptx::mma_m16n8k16_f16(d, a_high, b_high);
}

struct OfE4m3 : OfBf16 {
  using A = E4m3;
  using B = E4m3;
  static constexpr bool k_major_b = true;
  static constexpr int block_n = 128, warp_m = 32;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    unsigned low[4], high[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      low[i] = ptx::e4m3x2_to_f16x2(a[i]);
      high[i] = ptx::e4m3x2_to_f16x2(a[i] >> 16);
    }
    multiply_converted(d, low, high, b);
  }
};

struct OfE5m2 : OfE4m3 {
  using A = E5m2;
  static __device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    unsigned low[4], high[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      low[i] = ptx::e5m2x2_to_f16x2(a[i]);
      high[i] = ptx::e5m2x2_to_f16x2(a[i] >> 16);
    }
    multiply_converted(d, low, high, b);
  }
};

template <class Type>
Text from_sm_89(const Gemm& p) {
  const int major = attribute(cudaDevAttrComputeCapabilityMajor),
            minor = attribute(cudaDevAttrComputeCapabilityMinor);
  if (major * 10 + minor >= 89) return whole_vectors<Type>(p);
  return {"fp8 needs compute capability 8.9; this GPU has ", major, ".", minor};
}

// C has few bytes, but is stored later all the same: otherwise ptxas adds 48 instructions that do nothing
// (UIADD3 of URZ) to the loop, beside those that convert.
constexpr Epilogue later{.stores_later = true};

}  // namespace

Variants<Gemm> fp8() {
  return {{.name = "fp8",
           .what = "e4m3, K-major B",
           .unsupported = from_sm_89<OfE4m3>,
           .launch = launch_typed<OfE4m3, later>,
           .extension = &typed<OfE4m3, Precision::fp8>},
          {.name = "fp8_e5m2",
           .what = "A in e5m2 (more range, less fraction), K-major B",
           .unsupported = from_sm_89<OfE5m2>,
           .launch = launch_typed<OfE5m2, later>,
           .extension = &typed<OfE5m2, Precision::fp8_e5m2>}};
}

}  // namespace ladder::rung_06
