// tcgen05: the tensor cores of Blackwell. One thread issues MMAs on matrices in shared memory, and the
// accumulators stay in tensor memory, 128 lanes x 512 columns of 32 bits that belong to the CTA. PTX ISA,
// "TensorCore 5th Generation Family Instructions". sm_100a, sm_103a and the rest of their family sm_100f.
//
// Everything here is asynchronous except allocation, fences, waits and commits. What orders what:
//   an MMA after a copy, or after an MMA of the same shape and accumulators, by the same thread: in order
//     without any instruction
//   a use of the operands' shared memory or of the accumulators after the MMA: tcgen05_commit() to an
//     mbarrier, a wait for its phase, and for tensor memory tcgen05_fence_after()
//   an MMA after another thread's load of the accumulators: there tcgen05_wait_load(), tcgen05_fence_before()
//     and an arrival at an mbarrier or another barrier; here the wait for it and tcgen05_fence_after()
//   an MMA after TMA: the wait for the mbarrier that counted the bytes
// MMAs read their operands through the async proxy.
//
// `ctas` is 1, or 2 for a CTA pair: the two CTAs of a cluster whose ranks differ in the last bit. One thread
// of one of the two issues for both. All instructions of a kernel have the same `ctas`. (.cta_group)
#pragma once

#include <bit>
#include <cstdint>

#include "common/ptx/cluster.cuh"
#include "common/ptx/major.cuh"
#include "common/ptx/shared_address.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::ptx {

// An address in tensor memory: the lane in the upper 16 bits, the column in the lower. (PTX ISA, "Tensor
// Memory Addressing")
using TensorAddress = std::uint32_t;

// Orders this thread's asynchronous tcgen05 operations before what follows, such as an arrival at a barrier.
// (tcgen05.fence::before_thread_sync)
__device__ __forceinline__ void tcgen05_fence_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// Orders this thread's later tcgen05 operations after what came before, such as a wait for a barrier.
// (tcgen05.fence::after_thread_sync)
__device__ __forceinline__ void tcgen05_fence_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// `columns` of tensor memory, 32 to 512 and a power of two, from construction to the end of the scope. All
// threads of the CTA, or of the CTA pair, construct one and leave its scope, and meet at a barrier both
// times. What was written before the first barrier, such as mbarriers, is visible after it, and no CTA exits
// before the second. Nothing leaks, since a kernel can only end through the end of the scope. Warp 0
// allocates; the hardware writes the address to `word`, in shared memory. In a CTA pair a cluster
// barrier comes first: "the issuing warp must make sure that peer CTA is launched". (tcgen05.alloc,
// tcgen05.relinquish_alloc_permit, tcgen05.dealloc, .sync.aligned)
//
// With `relaxed_start` the CTAs of a pair do not meet after the allocation: that barrier is the CTA's alone.
// An MMA must then wait for something that the peer does after its own allocation, such as its TMA loads. Of
// what was written before, the peer sees what fence_mbarrier_init() has made visible.
template <int ctas, int columns, bool relaxed_start = false>
class TensorMemory {
  static_assert(columns >= 32 && columns <= 512 && std::has_single_bit(unsigned(columns)),
                "PTX ISA, tcgen05.alloc: a power of two in [32, 512]");

 public:
  __device__ __forceinline__ explicit TensorMemory(TensorAddress& word) {
    if constexpr (ctas == 2) {
      __syncwarp();
      cluster_sync_relaxed();  // the peer CTA has been launched; memory is ordered by meet() below
    }
    if (threadIdx.x < 32) {
      __syncwarp();
      asm volatile(
          "tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&word)),
          "n"(columns), "n"(ctas)
          : "memory");
      // Another CTA on this SM may allocate what is left.
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::"n"(ctas));
    }
    meet<ctas == 2 && !relaxed_start>();
    address_ = word;
  }
  __device__ __forceinline__ ~TensorMemory() {
    meet();  // all accesses are over, those of the peer included
    if (threadIdx.x < 32)
      asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;" ::"r"(address_), "n"(columns),
                   "n"(ctas));
  }
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;

  __device__ __forceinline__ TensorAddress address() const { return address_; }

 private:
  template <bool both = ctas == 2>
  __device__ __forceinline__ static void meet() {
    __syncwarp();  // the threads of a warp may have diverged
    tcgen05_fence_before();
    if constexpr (both) {
      cluster_sync();
    } else {
      __syncthreads();
    }
    tcgen05_fence_after();
  }

  TensorAddress address_;
};

// Where an operand lies in shared memory, and in which layout. As for wgmma, an atom is 8 rows of as many
// bytes as the swizzle has, 32, 64 or 128, or of 16, a core matrix, without one. Offsets are in bytes, and
// multiples of 16; addresses are below 256 KiB, and the same in both CTAs of a pair. (PTX ISA, "Shared memory
// descriptor")
//
// In the contiguous dimension the next atom is `leading` bytes further on, in the other one, after 8 rows,
// `stride` bytes. In k-major layout without swizzle, too: `leading` to the next 16 bytes of k, `stride` to
// the next 8 rows. In mn-major layout without swizzle the two are exchanged. In k-major layout with swizzle
// the k of an MMA lies within a row, and `leading` is ignored.
class SharedMatrix {
 public:
  struct Fields {
    std::uint64_t start : 14;  // address / 16
    std::uint64_t reserved0 : 2;
    std::uint64_t leading : 14;  // leading dimension byte offset / 16
    std::uint64_t reserved1 : 2;
    std::uint64_t stride : 14;          // stride dimension byte offset / 16
    std::uint64_t one : 3;              // always 1
    std::uint64_t base : 3;             // 0 where the pattern starts at a multiple of its size
    std::uint64_t leading_address : 1;  // 1: `leading` is an address (sm_103a)
    std::uint64_t reserved2 : 8;
    std::uint64_t swizzle : 3;  // 0: none, 1: 128 bytes in units of 32, 2: 128 bytes, 4: 64, 6: 32
  };

  __device__ __forceinline__ SharedMatrix(SharedAddress address, int leading_bytes, int stride_bytes,
                                          Swizzle rows) {
    Fields fields{};
    fields.start = address >> 4;
    fields.leading = leading_bytes >> 4;
    fields.stride = stride_bytes >> 4;
    fields.one = 1;
    fields.swizzle = rows == Swizzle::none       ? 0
                     : rows == Swizzle::bytes128 ? 2
                     : rows == Swizzle::bytes64  ? 4
                                                 : 6;
    bits_ = __builtin_bit_cast(std::uint64_t, fields);
  }
  // The same `bytes` further on, which may be within a row, since the hardware swizzles addresses. (One
  // addition is enough: start is the lowest field, and no address of shared memory overflows it.)
  __device__ __forceinline__ SharedMatrix operator+(int bytes) const {
    SharedMatrix moved = *this;
    moved.bits_ += bytes >> 4;
    return moved;
  }
  __device__ __forceinline__ std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_;
};
static_assert(sizeof(SharedMatrix::Fields) == 8, "the descriptor is a 64-bit register");

// What an MMA multiplies. (.kind; PTX ISA, "Kinds")
enum class MmaKind {
  f16,       // bf16 by bf16 (the kind has f16, too)
  f8f6f4,    // e4m3 by e4m3, without scales (and e5m2, e2m3, e3m2, e2m1)
  mxf8f6f4,  // the same with a ue8m0 scale for every 32 neighbours along k
  mxf4nvf4   // e2m1 by e2m1, with a ue4m3 scale for every 16 neighbours along k
};

// `value` in `bits` bits of a word, from bit `first` on.
template <int first, int bits, unsigned value>
struct BitField {
  static_assert(value >> bits == 0, "the value does not fit into its field");
  static constexpr std::uint32_t word = value << first;
};

// The instruction descriptor, a constant of 32 bits: d[m, n] = a[m, K] * b[K, n] (+ d), with fp32
// accumulators; K is 32 bytes of an operand. For a CTA pair m and n are those of both CTAs together. (PTX
// ISA, "Instruction descriptor")
template <int ctas, MmaKind kind, int m, int n, Major major_a, Major major_b>
class MmaDescriptor {
  static constexpr bool scaled = kind == MmaKind::mxf8f6f4 || kind == MmaKind::mxf4nvf4;
  static_assert(m == 128 * ctas || (m == 64 && ctas == 1 && !scaled) || (m == 128 && ctas == 2),
                "PTX ISA, \"Matrix Shape\": m is 64 or 128 for a CTA (scaled: 128), 128 or 256 for a pair");
  static_assert(n >= 8 * ctas && n <= 256 && n % (8 * ctas) == 0,
                "PTX ISA, \"Matrix Shape\": n is 8 to 256 in steps of 8 for a CTA, 16 to 256 in steps of 16 "
                "for a pair");
  static_assert(kind != MmaKind::mxf4nvf4 || (major_a == Major::k && major_b == Major::k),
                "4-bit elements are k-major");

  // All other bits are 0: dense matrices, nothing negated, integers not saturated.
  static constexpr unsigned element = kind == MmaKind::f16        ? 1 /* bf16 */
                                      : kind == MmaKind::mxf4nvf4 ? 1 /* e2m1 */
                                                                  : 0 /* e4m3 */;
  static constexpr std::uint32_t both = BitField<7, 3, element>::word | BitField<10, 3, element>::word |
                                        BitField<15, 1, unsigned(major_a)>::word |
                                        BitField<16, 1, unsigned(major_b)>::word |
                                        BitField<17, 6, n / 8>::word;
  static constexpr std::uint32_t accumulators_fp32 = BitField<4, 2, 1>::word;
  static constexpr std::uint32_t scales_ue8m0 = BitField<23, 1, kind == MmaKind::mxf8f6f4>::word;  // or ue4m3

 public:
  static constexpr std::uint32_t bits = scaled ? both | scales_ue8m0 | BitField<27, 2, m / 128>::word
                                               : both | accumulators_fp32 | BitField<24, 5, m / 16>::word;

  // The same with the scales of a and b in this byte, 0 to 3, of their words of tensor memory: for mxf8f6f4,
  // where an MMA needs one scale for each row or column.
  __device__ static constexpr std::uint32_t with_scales(int byte) {
    static_assert(kind == MmaKind::mxf8f6f4);
    return bits | byte << 29 | byte << 4;
  }
};
// Computed by hand from the tables of the ISA.
static_assert(MmaDescriptor<1, MmaKind::f16, 128, 256, Major::k, Major::k>::bits == 0x08400490);
static_assert(MmaDescriptor<2, MmaKind::f16, 256, 256, Major::k, Major::mn>::bits == 0x10410490);
static_assert(MmaDescriptor<2, MmaKind::f8f6f4, 256, 256, Major::k, Major::k>::bits == 0x10400010);
static_assert(MmaDescriptor<1, MmaKind::mxf8f6f4, 128, 256, Major::k, Major::k>::with_scales(3) ==
              0x68C00030);
static_assert(MmaDescriptor<2, MmaKind::mxf4nvf4, 256, 256, Major::k, Major::k>::bits == 0x10400480);

// Issues d = a * b, or d + a * b where `add`, to this CTA's tensor core or, for a CTA pair, to those of both
// CTAs: each CTA has half of the rows of a, half of the columns of b and half of the rows of d (m 256).
// `what` is MmaDescriptor::bits of the same ctas and kind. Executed by one thread. (tcgen05.mma)
template <int ctas, MmaKind kind>
__device__ __forceinline__ void tcgen05_mma(TensorAddress d, SharedMatrix a, SharedMatrix b,
                                            std::uint32_t what, bool add) {
  static_assert(kind == MmaKind::f16 || kind == MmaKind::f8f6f4, "the others have scales");
#define LADDER_MMA(kind)                                                \
  asm volatile(                                                         \
      "{\n"                                                             \
      ".reg .pred add;\n"                                               \
      "setp.ne.b32 add, %4, 0;\n"                                       \
      "tcgen05.mma.cta_group::%5.kind::" kind                           \
      " [%0], %1, %2, %3, add;\n"                                       \
      "}\n" ::"r"(d),                                                   \
      "l"(a.bits()), "l"(b.bits()), "r"(what), "r"(int(add)), "n"(ctas) \
      : "memory")
  if constexpr (kind == MmaKind::f16) {
    LADDER_MMA("f16");
  } else {
    LADDER_MMA("f8f6f4");
  }
#undef LADDER_MMA
}

// The same with scales, each for 32 or 16 elements along k of a row of a or a column of b. They lie in tensor
// memory as tcgen05_copy_scales() writes them, from columns scales_a and scales_b on. In a CTA pair each CTA
// has the scales of its rows of a, and those of all columns of b. (tcgen05.mma….block_scale)
template <int ctas, MmaKind kind>
__device__ __forceinline__ void tcgen05_mma(TensorAddress d, SharedMatrix a, SharedMatrix b,
                                            std::uint32_t what, TensorAddress scales_a,
                                            TensorAddress scales_b, bool add) {
  static_assert(kind == MmaKind::mxf8f6f4 || kind == MmaKind::mxf4nvf4, "the others have no scales");
#define LADDER_MMA(kind)                                                                              \
  asm volatile(                                                                                       \
      "{\n"                                                                                           \
      ".reg .pred add;\n"                                                                             \
      "setp.ne.b32 add, %6, 0;\n"                                                                     \
      "tcgen05.mma.cta_group::%7.kind::" kind                                                         \
      " [%0], %1, %2, %3, [%4], [%5], add;\n"                                                         \
      "}\n" ::"r"(d),                                                                                 \
      "l"(a.bits()), "l"(b.bits()), "r"(what), "r"(scales_a), "r"(scales_b), "r"(int(add)), "n"(ctas) \
      : "memory")
  if constexpr (kind == MmaKind::mxf8f6f4) {
    LADDER_MMA("mxf8f6f4.block_scale.block32");
  } else {
    LADDER_MMA("mxf4nvf4.block_scale.block16");
  }
#undef LADDER_MMA
}

// Copies 512 bytes at `from`, the scales of 128 rows and 4 blocks along k, to 4 columns of tensor memory; in
// a CTA pair in both CTAs, each from its own shared memory. 16 bytes go to each of 32 lanes, and the same to
// each quarter of the lanes. Byte b of column c in lane l is the scale of row 32c + l, block b. Executed by
// the thread that issues the MMA. (tcgen05.cp.32x128b.warpx4)
template <int ctas>
__device__ __forceinline__ void tcgen05_copy_scales(TensorAddress to, SharedAddress from) {
  const SharedMatrix rows(from, 0, 8 * 16, Swizzle::none);
  asm volatile("tcgen05.cp.cta_group::%2.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(rows.bits()), "n"(ctas)
               : "memory");
}

// Makes the tensor core arrive at the mbarrier when all MMAs and copies that this thread has issued are
// complete. In a CTA pair it arrives in each CTA whose bit is set in `cta_pair`, at the same address. It
// includes tcgen05_fence_before().
// (tcgen05.commit.mbarrier::arrive::one.shared::cluster.b64)
template <int ctas>
__device__ __forceinline__ void tcgen05_commit(SharedAddress barrier, unsigned short cta_pair) {
  if constexpr (ctas == 1) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
                 : "memory");
  } else {
    asm volatile(
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], "
        "%1;" ::"r"(barrier),
        "h"(cta_pair)
        : "memory");
  }
}

// Loads 32 columns from `from` on, each thread of the warp from its lane. All 32 threads execute it. A warp
// can only access a quarter of the lanes, by its number modulo 4: `from` has lane 32 * (warp % 4). The
// registers may be used after tcgen05_wait_load(). (tcgen05.ld.sync.aligned.32x32b.x32)
__device__ __forceinline__ void tcgen05_load(float (&v)[32], TensorAddress from) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
      "}, [%32];"
      : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7]),
        "=f"(v[8]), "=f"(v[9]), "=f"(v[10]), "=f"(v[11]), "=f"(v[12]), "=f"(v[13]), "=f"(v[14]), "=f"(v[15]),
        "=f"(v[16]), "=f"(v[17]), "=f"(v[18]), "=f"(v[19]), "=f"(v[20]), "=f"(v[21]), "=f"(v[22]),
        "=f"(v[23]), "=f"(v[24]), "=f"(v[25]), "=f"(v[26]), "=f"(v[27]), "=f"(v[28]), "=f"(v[29]),
        "=f"(v[30]), "=f"(v[31])
      : "r"(from)
      : "memory");
}

// Waits for all of this thread's loads from tensor memory. `v` are their registers, which the compiler must
// not use earlier. (tcgen05.wait::ld.sync.aligned)
template <int n>
__device__ __forceinline__ void tcgen05_wait_load(float (&v)[n][32]) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#pragma unroll
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int j = 0; j < 32; ++j) asm volatile("" : "+f"(v[i][j])::"memory");
}

}  // namespace ladder::ptx
