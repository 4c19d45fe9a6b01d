// wgmma with operands of 8 bits: the same instruction as in wgmma.cuh, at twice the products in the same
// time. What it asks for in return: both operands k-major, for only 16-bit types can be transposed on their
// way into the tensor core; and sums of less than fp32. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Operation using wgmma.mma_async instruction"; "Matrix Data-types". sm_90a and nothing
// else.
#pragma once

#include "common/ptx/wgmma.cuh"

namespace ladder::ptx {

// e4m3: 4 bits of exponent, 3 of fraction, up to 448. e5m2: 5 and 2, up to 57344. PTX ISA, "Alternate
// Floating-Point Data Formats".
enum class Fp8 { e4m3, e5m2 };

// What PTX calls it.
template <Fp8>
struct Fp8Name;
template <>
struct Fp8Name<Fp8::e4m3> {
  static constexpr char text[] = "e4m3";
};
template <>
struct Fp8Name<Fp8::e5m2> {
  static constexpr char text[] = "e5m2";
};

#define LADDER_WGMMA_D(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])

// d[64, n] = a[64, 32] * b[32, n] (+ d where `add`): A and B are e4m3 or e5m2, each its own; both k-major. By
// a whole warpgroup, all with the same arguments. n is 8 times the length of d, whose places are those of
// wgmma_m64k16(). (wgmma.mma_async.sync.aligned.m64nNk32.f32.e4m3.e4m3, and so on)
template <Fp8 type_a, Fp8 type_b>
__device__ __forceinline__ void wgmma_m64k32(float (&d)[8][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.%35.%36 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, add, 1, 1;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "C"(Fp8Name<type_a>::text), "C"(Fp8Name<type_b>::text));
}

template <Fp8 type_a, Fp8 type_b>
__device__ __forceinline__ void wgmma_m64k32(float (&d)[16][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.%67.%68 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, add, 1, 1;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7), LADDER_WGMMA_D(8), LADDER_WGMMA_D(9),
        LADDER_WGMMA_D(10), LADDER_WGMMA_D(11), LADDER_WGMMA_D(12), LADDER_WGMMA_D(13), LADDER_WGMMA_D(14),
        LADDER_WGMMA_D(15)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "C"(Fp8Name<type_a>::text), "C"(Fp8Name<type_b>::text));
}

template <Fp8 type_a, Fp8 type_b>
__device__ __forceinline__ void wgmma_m64k32(float (&d)[24][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k32.f32.%99.%100 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
      "}, %96, %97, add, 1, 1;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7), LADDER_WGMMA_D(8), LADDER_WGMMA_D(9),
        LADDER_WGMMA_D(10), LADDER_WGMMA_D(11), LADDER_WGMMA_D(12), LADDER_WGMMA_D(13), LADDER_WGMMA_D(14),
        LADDER_WGMMA_D(15), LADDER_WGMMA_D(16), LADDER_WGMMA_D(17), LADDER_WGMMA_D(18), LADDER_WGMMA_D(19),
        LADDER_WGMMA_D(20), LADDER_WGMMA_D(21), LADDER_WGMMA_D(22), LADDER_WGMMA_D(23)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "C"(Fp8Name<type_a>::text), "C"(Fp8Name<type_b>::text));
}

template <Fp8 type_a, Fp8 type_b>
__device__ __forceinline__ void wgmma_m64k32(float (&d)[32][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.f32.%131.%132 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, add, 1, 1;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7), LADDER_WGMMA_D(8), LADDER_WGMMA_D(9),
        LADDER_WGMMA_D(10), LADDER_WGMMA_D(11), LADDER_WGMMA_D(12), LADDER_WGMMA_D(13), LADDER_WGMMA_D(14),
        LADDER_WGMMA_D(15), LADDER_WGMMA_D(16), LADDER_WGMMA_D(17), LADDER_WGMMA_D(18), LADDER_WGMMA_D(19),
        LADDER_WGMMA_D(20), LADDER_WGMMA_D(21), LADDER_WGMMA_D(22), LADDER_WGMMA_D(23), LADDER_WGMMA_D(24),
        LADDER_WGMMA_D(25), LADDER_WGMMA_D(26), LADDER_WGMMA_D(27), LADDER_WGMMA_D(28), LADDER_WGMMA_D(29),
        LADDER_WGMMA_D(30), LADDER_WGMMA_D(31)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "C"(Fp8Name<type_a>::text), "C"(Fp8Name<type_b>::text));
}

#undef LADDER_WGMMA_D

}  // namespace ladder::ptx
