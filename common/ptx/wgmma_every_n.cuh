// wgmma in every width, where wgmma.cuh has four. And with A transposed, too: both operands are as a matrix
// product has them whose *columns* fill the 64 rows of the MMA (common/every_shape/hopper/transposed). PTX
// ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation using wgmma.mma_async instruction".
// sm_90a and nothing else.
#pragma once

#include "common/ptx/wgmma.cuh"

namespace ladder::ptx {

// clang-format off
// The first 4n accumulators, of n blocks of 8 columns, as operands of asm: their numbers, and the operands.
#define LADDER_NUMBERS_1 "%0, %1, %2, %3"
#define LADDER_NUMBERS_2 LADDER_NUMBERS_1 ", %4, %5, %6, %7"
#define LADDER_NUMBERS_3 LADDER_NUMBERS_2 ", %8, %9, %10, %11"
#define LADDER_NUMBERS_4 LADDER_NUMBERS_3 ", %12, %13, %14, %15"
#define LADDER_NUMBERS_5 LADDER_NUMBERS_4 ", %16, %17, %18, %19"
#define LADDER_NUMBERS_6 LADDER_NUMBERS_5 ", %20, %21, %22, %23"
#define LADDER_NUMBERS_7 LADDER_NUMBERS_6 ", %24, %25, %26, %27"
#define LADDER_NUMBERS_8 LADDER_NUMBERS_7 ", %28, %29, %30, %31"
#define LADDER_NUMBERS_9 LADDER_NUMBERS_8 ", %32, %33, %34, %35"
#define LADDER_NUMBERS_10 LADDER_NUMBERS_9 ", %36, %37, %38, %39"
#define LADDER_NUMBERS_11 LADDER_NUMBERS_10 ", %40, %41, %42, %43"
#define LADDER_NUMBERS_12 LADDER_NUMBERS_11 ", %44, %45, %46, %47"
#define LADDER_NUMBERS_13 LADDER_NUMBERS_12 ", %48, %49, %50, %51"
#define LADDER_NUMBERS_14 LADDER_NUMBERS_13 ", %52, %53, %54, %55"
#define LADDER_NUMBERS_15 LADDER_NUMBERS_14 ", %56, %57, %58, %59"
#define LADDER_NUMBERS_16 LADDER_NUMBERS_15 ", %60, %61, %62, %63"
#define LADDER_NUMBERS_17 LADDER_NUMBERS_16 ", %64, %65, %66, %67"
#define LADDER_NUMBERS_18 LADDER_NUMBERS_17 ", %68, %69, %70, %71"
#define LADDER_NUMBERS_19 LADDER_NUMBERS_18 ", %72, %73, %74, %75"
#define LADDER_NUMBERS_20 LADDER_NUMBERS_19 ", %76, %77, %78, %79"
#define LADDER_NUMBERS_21 LADDER_NUMBERS_20 ", %80, %81, %82, %83"
#define LADDER_NUMBERS_22 LADDER_NUMBERS_21 ", %84, %85, %86, %87"
#define LADDER_NUMBERS_23 LADDER_NUMBERS_22 ", %88, %89, %90, %91"
#define LADDER_NUMBERS_24 LADDER_NUMBERS_23 ", %92, %93, %94, %95"
#define LADDER_NUMBERS_25 LADDER_NUMBERS_24 ", %96, %97, %98, %99"
#define LADDER_NUMBERS_26 LADDER_NUMBERS_25 ", %100, %101, %102, %103"
#define LADDER_NUMBERS_27 LADDER_NUMBERS_26 ", %104, %105, %106, %107"
#define LADDER_NUMBERS_28 LADDER_NUMBERS_27 ", %108, %109, %110, %111"
#define LADDER_NUMBERS_29 LADDER_NUMBERS_28 ", %112, %113, %114, %115"
#define LADDER_NUMBERS_30 LADDER_NUMBERS_29 ", %116, %117, %118, %119"
#define LADDER_NUMBERS_31 LADDER_NUMBERS_30 ", %120, %121, %122, %123"
#define LADDER_NUMBERS_32 LADDER_NUMBERS_31 ", %124, %125, %126, %127"
#define LADDER_OPERANDS_1 LADDER_WGMMA_D(0)
#define LADDER_OPERANDS_2 LADDER_OPERANDS_1, LADDER_WGMMA_D(1)
#define LADDER_OPERANDS_3 LADDER_OPERANDS_2, LADDER_WGMMA_D(2)
#define LADDER_OPERANDS_4 LADDER_OPERANDS_3, LADDER_WGMMA_D(3)
#define LADDER_OPERANDS_5 LADDER_OPERANDS_4, LADDER_WGMMA_D(4)
#define LADDER_OPERANDS_6 LADDER_OPERANDS_5, LADDER_WGMMA_D(5)
#define LADDER_OPERANDS_7 LADDER_OPERANDS_6, LADDER_WGMMA_D(6)
#define LADDER_OPERANDS_8 LADDER_OPERANDS_7, LADDER_WGMMA_D(7)
#define LADDER_OPERANDS_9 LADDER_OPERANDS_8, LADDER_WGMMA_D(8)
#define LADDER_OPERANDS_10 LADDER_OPERANDS_9, LADDER_WGMMA_D(9)
#define LADDER_OPERANDS_11 LADDER_OPERANDS_10, LADDER_WGMMA_D(10)
#define LADDER_OPERANDS_12 LADDER_OPERANDS_11, LADDER_WGMMA_D(11)
#define LADDER_OPERANDS_13 LADDER_OPERANDS_12, LADDER_WGMMA_D(12)
#define LADDER_OPERANDS_14 LADDER_OPERANDS_13, LADDER_WGMMA_D(13)
#define LADDER_OPERANDS_15 LADDER_OPERANDS_14, LADDER_WGMMA_D(14)
#define LADDER_OPERANDS_16 LADDER_OPERANDS_15, LADDER_WGMMA_D(15)
#define LADDER_OPERANDS_17 LADDER_OPERANDS_16, LADDER_WGMMA_D(16)
#define LADDER_OPERANDS_18 LADDER_OPERANDS_17, LADDER_WGMMA_D(17)
#define LADDER_OPERANDS_19 LADDER_OPERANDS_18, LADDER_WGMMA_D(18)
#define LADDER_OPERANDS_20 LADDER_OPERANDS_19, LADDER_WGMMA_D(19)
#define LADDER_OPERANDS_21 LADDER_OPERANDS_20, LADDER_WGMMA_D(20)
#define LADDER_OPERANDS_22 LADDER_OPERANDS_21, LADDER_WGMMA_D(21)
#define LADDER_OPERANDS_23 LADDER_OPERANDS_22, LADDER_WGMMA_D(22)
#define LADDER_OPERANDS_24 LADDER_OPERANDS_23, LADDER_WGMMA_D(23)
#define LADDER_OPERANDS_25 LADDER_OPERANDS_24, LADDER_WGMMA_D(24)
#define LADDER_OPERANDS_26 LADDER_OPERANDS_25, LADDER_WGMMA_D(25)
#define LADDER_OPERANDS_27 LADDER_OPERANDS_26, LADDER_WGMMA_D(26)
#define LADDER_OPERANDS_28 LADDER_OPERANDS_27, LADDER_WGMMA_D(27)
#define LADDER_OPERANDS_29 LADDER_OPERANDS_28, LADDER_WGMMA_D(28)
#define LADDER_OPERANDS_30 LADDER_OPERANDS_29, LADDER_WGMMA_D(29)
#define LADDER_OPERANDS_31 LADDER_OPERANDS_30, LADDER_WGMMA_D(30)
#define LADDER_OPERANDS_32 LADDER_OPERANDS_31, LADDER_WGMMA_D(31)

// wgmma_m64k16_every_n: d[64, n] = a[64, 16] * b[16, n] (+ d where `add`): bf16 operands, fp32 accumulators; a is
// k-major (it lies as [64, 16] in memory), b mn-major (as [16, n]). Otherwise as wgmma_m64k16().
// wgmma_m64k16_transposed: d[64, n] = aT[64, 16] * b[16, n] (+ d where `add`); a is mn-major (it lies as [16, 64] in
// memory), b k-major (as [n, 16]).
// (wgmma.mma_async.sync.aligned.m64nNk16.f32.bf16.bf16)
#define LADDER_WGMMA(name, majors, n, columns, at_a, at_b, at_add)                                            \
  __device__ __forceinline__ void name(float (&d)[columns][4], MatrixDescriptor a, MatrixDescriptor b,        \
                                       bool add) {                                                            \
    asm volatile(                                                                                             \
        "{\n"                                                                                                 \
        ".reg .pred add;\n"                                                                                   \
        "setp.ne.b32 add, " at_add ", 0;\n"                                                                   \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 {" LADDER_NUMBERS_##columns "}, " at_a      \
        ", " at_b ", add, 1, 1, " majors ";\n"                                                                \
        "}\n"                                                                                                 \
        : LADDER_OPERANDS_##columns                                                                           \
        : "l"(a.bits()), "l"(b.bits()), "r"(int(add)));                                                       \
  }
#define LADDER_WGMMA_OF_N(n, columns, at_a, at_b, at_add)                                                     \
  LADDER_WGMMA(wgmma_m64k16_every_n, "0, 1", n, columns, at_a, at_b, at_add)                                  \
  LADDER_WGMMA(wgmma_m64k16_transposed, "1, 0", n, columns, at_a, at_b, at_add)
LADDER_WGMMA_OF_N(8, 1, "%4", "%5", "%6")
LADDER_WGMMA_OF_N(16, 2, "%8", "%9", "%10")
LADDER_WGMMA_OF_N(24, 3, "%12", "%13", "%14")
LADDER_WGMMA_OF_N(32, 4, "%16", "%17", "%18")
LADDER_WGMMA_OF_N(40, 5, "%20", "%21", "%22")
LADDER_WGMMA_OF_N(48, 6, "%24", "%25", "%26")
LADDER_WGMMA_OF_N(56, 7, "%28", "%29", "%30")
LADDER_WGMMA_OF_N(64, 8, "%32", "%33", "%34")
LADDER_WGMMA_OF_N(72, 9, "%36", "%37", "%38")
LADDER_WGMMA_OF_N(80, 10, "%40", "%41", "%42")
LADDER_WGMMA_OF_N(88, 11, "%44", "%45", "%46")
LADDER_WGMMA_OF_N(96, 12, "%48", "%49", "%50")
LADDER_WGMMA_OF_N(104, 13, "%52", "%53", "%54")
LADDER_WGMMA_OF_N(112, 14, "%56", "%57", "%58")
LADDER_WGMMA_OF_N(120, 15, "%60", "%61", "%62")
LADDER_WGMMA_OF_N(128, 16, "%64", "%65", "%66")
LADDER_WGMMA_OF_N(136, 17, "%68", "%69", "%70")
LADDER_WGMMA_OF_N(144, 18, "%72", "%73", "%74")
LADDER_WGMMA_OF_N(152, 19, "%76", "%77", "%78")
LADDER_WGMMA_OF_N(160, 20, "%80", "%81", "%82")
LADDER_WGMMA_OF_N(168, 21, "%84", "%85", "%86")
LADDER_WGMMA_OF_N(176, 22, "%88", "%89", "%90")
LADDER_WGMMA_OF_N(184, 23, "%92", "%93", "%94")
LADDER_WGMMA_OF_N(192, 24, "%96", "%97", "%98")
LADDER_WGMMA_OF_N(200, 25, "%100", "%101", "%102")
LADDER_WGMMA_OF_N(208, 26, "%104", "%105", "%106")
LADDER_WGMMA_OF_N(216, 27, "%108", "%109", "%110")
LADDER_WGMMA_OF_N(224, 28, "%112", "%113", "%114")
LADDER_WGMMA_OF_N(232, 29, "%116", "%117", "%118")
LADDER_WGMMA_OF_N(240, 30, "%120", "%121", "%122")
LADDER_WGMMA_OF_N(248, 31, "%124", "%125", "%126")
LADDER_WGMMA_OF_N(256, 32, "%128", "%129", "%130")
#undef LADDER_WGMMA_OF_N
#undef LADDER_WGMMA
// clang-format on

}  // namespace ladder::ptx
