// wgmma: a warpgroup, four neighbouring warps, multiplies matrices that lie in shared memory on its SM's
// tensor cores, and goes on while they work. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Operation using wgmma.mma_async instruction"; "Matrix Descriptor Format".
// Architecture-specific: sm_90a and nothing else.
//
// In order: wgmma_fence() before the first one that uses the sums, and after every time threads have touched
// them; any number of products; wgmma_commit_group(); wgmma_wait_group(). Until then the sums are the tensor
// core's, and so is the shared memory that it reads, through the async proxy.
#pragma once

#include <cstdint>

#include "common/ptx/major.cuh"
#include "common/ptx/shared_address.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::ptx {

// Where an operand lies and how. The tensor core sees it in core matrices, 8 rows of 16 bytes. With a swizzle
// the rows of an atom have 32, 64 or 128 bytes, and 8 of them make the pattern; without, 16. Offsets are in
// bytes, and multiples of 16; addresses below 256 KiB. (PTX ISA, "Matrix Descriptor Format", "Strides")
//
// The contiguous dimension is as long as a row; past that there is another atom, `leading` bytes on. In the
// other dimension there are 8 rows; past that, the next atom is `stride` bytes on. (k-major without swizzle
// it is the same: the next 8 elements of k `leading` bytes on, the next 8 rows `stride`. mn-major without
// swizzle they change places. k-major with swizzle k16 never leaves the row: `leading` is not looked at.)
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
  // The same `bytes` further on. The pattern of a swizzle is one of addresses, so this may lead into a row.
  // (One addition: start is the lowest field, and no address of shared memory overflows it.)
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

// Orders what this thread did to the sums before the products that follow. (wgmma.fence.sync.aligned)
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Closes the warpgroup's open group of products. (wgmma.commit_group.sync.aligned)
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until all but the newest `pending` groups are complete. (wgmma.wait_group.sync.aligned)
template <int pending>
__device__ __forceinline__ void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Keeps the compiler from using the sums, or a copy of them, on the wrong side of a fence or a wait: it does
// not know that the tensor core writes them later.
template <int n>
__device__ __forceinline__ void keep_sums(float (&d)[n][4]) {
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(d[j][i])::"memory");
}

#define LADDER_WGMMA_D(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])

// d[64, n] = a[64, 16] * b[16, n] (+ d where `add`): bf16 in, fp32 out, a k-major. By a whole warpgroup, all
// with the same arguments. n is 8 times the length of d:
//   d[j][0], d[j][1]: row 16w + l/4,     columns 8j + 2*(l%4) and the next, in lane l of warp w of the
//   warpgroup d[j][2], d[j][3]: row 16w + l/4 + 8, the same columns
// (wgmma.mma_async.sync.aligned.m64nNk16.f32.bf16.bf16)
template <Major major_b>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[8][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, add, 1, 1, 0, %35;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "n"(int(major_b)));
}

template <Major major_b>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[16][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, add, 1, 1, 0, %67;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7), LADDER_WGMMA_D(8), LADDER_WGMMA_D(9),
        LADDER_WGMMA_D(10), LADDER_WGMMA_D(11), LADDER_WGMMA_D(12), LADDER_WGMMA_D(13), LADDER_WGMMA_D(14),
        LADDER_WGMMA_D(15)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "n"(int(major_b)));
}

template <Major major_b>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[24][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
      "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "
      "%59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, "
      "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
      "}, %96, %97, add, 1, 1, 0, %99;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7), LADDER_WGMMA_D(8), LADDER_WGMMA_D(9),
        LADDER_WGMMA_D(10), LADDER_WGMMA_D(11), LADDER_WGMMA_D(12), LADDER_WGMMA_D(13), LADDER_WGMMA_D(14),
        LADDER_WGMMA_D(15), LADDER_WGMMA_D(16), LADDER_WGMMA_D(17), LADDER_WGMMA_D(18), LADDER_WGMMA_D(19),
        LADDER_WGMMA_D(20), LADDER_WGMMA_D(21), LADDER_WGMMA_D(22), LADDER_WGMMA_D(23)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "n"(int(major_b)));
}

template <Major major_b>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[32][4], MatrixDescriptor a, MatrixDescriptor b,
                                             bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, add, 1, 1, 0, %131;\n"
      "}\n"
      : LADDER_WGMMA_D(0), LADDER_WGMMA_D(1), LADDER_WGMMA_D(2), LADDER_WGMMA_D(3), LADDER_WGMMA_D(4),
        LADDER_WGMMA_D(5), LADDER_WGMMA_D(6), LADDER_WGMMA_D(7), LADDER_WGMMA_D(8), LADDER_WGMMA_D(9),
        LADDER_WGMMA_D(10), LADDER_WGMMA_D(11), LADDER_WGMMA_D(12), LADDER_WGMMA_D(13), LADDER_WGMMA_D(14),
        LADDER_WGMMA_D(15), LADDER_WGMMA_D(16), LADDER_WGMMA_D(17), LADDER_WGMMA_D(18), LADDER_WGMMA_D(19),
        LADDER_WGMMA_D(20), LADDER_WGMMA_D(21), LADDER_WGMMA_D(22), LADDER_WGMMA_D(23), LADDER_WGMMA_D(24),
        LADDER_WGMMA_D(25), LADDER_WGMMA_D(26), LADDER_WGMMA_D(27), LADDER_WGMMA_D(28), LADDER_WGMMA_D(29),
        LADDER_WGMMA_D(30), LADDER_WGMMA_D(31)
      : "l"(a.bits()), "l"(b.bits()), "r"(int(add)), "n"(int(major_b)));
}

#undef LADDER_WGMMA_D

}  // namespace ladder::ptx
