// wgmma: a warpgroup, four neighbouring warps, issues MMAs on matrices in shared memory to the tensor cores
// of its SM, and goes on while they run. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Operation using wgmma.mma_async instruction"; "Matrix Descriptor Format". Architecture-specific: sm_90a and
// nothing else.
//
// In order: wgmma_fence(), before the first MMA and whenever threads have accessed the accumulators since the
// last one; any number of MMAs; wgmma_commit_group(); wgmma_wait_group(). From the first MMA to the wait no
// thread may access the accumulators, nor write the shared memory that the MMAs read. They read it through
// the async proxy.
#pragma once

#include <cstdint>

#include "common/ptx/major.cuh"
#include "common/ptx/shared_address.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::ptx {

// Where an operand lies in shared memory, and in which layout. An atom is 8 rows of as many bytes as the
// swizzle has, 32, 64 or 128, or of 16, a core matrix, without one. Offsets are in bytes, and multiples of
// 16; addresses are below 256 KiB. (PTX ISA, "Matrix Descriptor Format", "Strides")
//
// In the contiguous dimension the next atom is `leading` bytes further on, in the other one, after 8 rows,
// `stride` bytes. In k-major layout without swizzle, too: `leading` to the next 8 elements of k, `stride` to
// the next 8 rows. In mn-major layout without swizzle the two are exchanged. In k-major layout with swizzle
// the 16 of k lie within a row, and `leading` is ignored.
class MatrixDescriptor {
 public:
  struct Fields {
    std::uint64_t start : 14;  // address / 16
    std::uint64_t reserved0 : 2;
    std::uint64_t leading : 14;  // leading dimension byte offset / 16
    std::uint64_t reserved1 : 2;
    std::uint64_t stride : 14;  // stride dimension byte offset / 16
    std::uint64_t reserved2 : 3;
    std::uint64_t base : 3;  // 0 where the pattern starts at a multiple of its size: 256, 512 or 1024 bytes
    std::uint64_t reserved3 : 10;
    std::uint64_t swizzle : 2;  // 0: none, 1: 128 bytes, 2: 64, 3: 32
  };

  __device__ __forceinline__ MatrixDescriptor(SharedAddress address, int leading_bytes, int stride_bytes,
                                              Swizzle rows) {
    Fields fields{};
    fields.start = address >> 4;
    fields.leading = leading_bytes >> 4;
    fields.stride = stride_bytes >> 4;
    fields.swizzle = rows == Swizzle::none       ? 0
                     : rows == Swizzle::bytes128 ? 1
                     : rows == Swizzle::bytes64  ? 2
                                                 : 3;
    bits_ = __builtin_bit_cast(std::uint64_t, fields);
  }
  // The same `bytes` further on, which may be within a row, since the hardware swizzles addresses. (One
  // addition is enough: start is the lowest field, and no address of shared memory overflows it.)
  __device__ __forceinline__ MatrixDescriptor operator+(int bytes) const {
    MatrixDescriptor moved = *this;
    moved.bits_ += bytes >> 4;
    return moved;
  }
  __device__ __forceinline__ std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_;
};
static_assert(sizeof(MatrixDescriptor::Fields) == 8, "the descriptor is a 64-bit register");

// Orders this thread's accesses to the accumulators before the MMAs that follow. (wgmma.fence.sync.aligned)
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Commits the MMAs issued since the last commit as a group. (wgmma.commit_group.sync.aligned)
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until all but the newest `pending` groups are complete. (wgmma.wait_group.sync.aligned)
template <int pending>
__device__ __forceinline__ void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Keeps the compiler from using the accumulators, or a copy of them, on the wrong side of a fence or a wait:
// it does not know that the tensor cores write them later. No instruction.
template <int n>
__device__ __forceinline__ void keep_accumulators(float (&d)[n][4]) {
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(d[j][i])::"memory");
}

// The accumulators as operands of asm, in the order of d: their numbers, and the operands. By the length of
// d.
#define LADDER_WGMMA_NUMBERS_8                                             \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LADDER_WGMMA_NUMBERS_16                                                        \
  LADDER_WGMMA_NUMBERS_8                                                               \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LADDER_WGMMA_NUMBERS_24                                                        \
  LADDER_WGMMA_NUMBERS_16                                                              \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define LADDER_WGMMA_NUMBERS_32                                                                    \
  LADDER_WGMMA_NUMBERS_24                                                                          \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LADDER_WGMMA_D(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define LADDER_WGMMA_D8(j)                                                                \
  LADDER_WGMMA_D(j), LADDER_WGMMA_D(j + 1), LADDER_WGMMA_D(j + 2), LADDER_WGMMA_D(j + 3), \
      LADDER_WGMMA_D(j + 4), LADDER_WGMMA_D(j + 5), LADDER_WGMMA_D(j + 6), LADDER_WGMMA_D(j + 7)
#define LADDER_WGMMA_ACCUMULATORS_8 LADDER_WGMMA_D8(0)
#define LADDER_WGMMA_ACCUMULATORS_16 LADDER_WGMMA_ACCUMULATORS_8, LADDER_WGMMA_D8(8)
#define LADDER_WGMMA_ACCUMULATORS_24 LADDER_WGMMA_ACCUMULATORS_16, LADDER_WGMMA_D8(16)
#define LADDER_WGMMA_ACCUMULATORS_32 LADDER_WGMMA_ACCUMULATORS_24, LADDER_WGMMA_D8(24)

// One instruction in all its widths: define(n, the length of d, the numbers of the five operands after the
// accumulators). A template with the types as operands of asm ("C") would be shorter, but nvcc generates
// different code for the loops around it.
// clang-format off
#define LADDER_WGMMA_OF_EVERY_N(define)                   \
  define(64, 8, "%32", "%33", "%34", "%35", "%36")        \
  define(128, 16, "%64", "%65", "%66", "%67", "%68")      \
  define(192, 24, "%96", "%97", "%98", "%99", "%100")     \
  define(256, 32, "%128", "%129", "%130", "%131", "%132")
// clang-format on

// d[64, n] = a[64, 16] * b[16, n] (+ d where `add`): bf16 operands, fp32 accumulators, a k-major. Executed by
// a whole warpgroup, with the same arguments in all threads. n is 8 times the length of d. In lane l of the
// warpgroup's warp w:
//   d[j][0], d[j][1]: row 16w + l/4,     columns 8j + 2*(l%4) and the next
//   d[j][2], d[j][3]: row 16w + l/4 + 8, the same columns
// (wgmma.mma_async.sync.aligned.m64nNk16.f32.bf16.bf16)
// clang-format off
#define LADDER_WGMMA_M64K16(n, columns, at_a, at_b, at_add, at_major, unused)                             \
  template <Major major_b>                                                                                \
  __device__ __forceinline__ void wgmma_m64k16(float (&d)[columns][4], MatrixDescriptor a,                \
                                               MatrixDescriptor b, bool add) {                            \
    asm volatile(                                                                                         \
        "{\n"                                                                                             \
        ".reg .pred add;\n"                                                                               \
        "setp.ne.b32 add, " at_add ", 0;\n"                                                               \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 {" LADDER_WGMMA_NUMBERS_##columns "}, " \
        at_a ", " at_b ", add, 1, 1, 0, " at_major ";\n"                                                  \
        "}\n"                                                                                             \
        : LADDER_WGMMA_ACCUMULATORS_##columns                                                             \
        : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "n"(int(major_b)));                                \
  }
// clang-format on
LADDER_WGMMA_OF_EVERY_N(LADDER_WGMMA_M64K16)
#undef LADDER_WGMMA_M64K16

}  // namespace ladder::ptx
