// What the programs on tcgen05.mma share: one instruction on matrices whose bytes, in shared and in tensor
// memory, the host has laid out.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "program.h"

// What the instruction is given, as operands %0 … of its text.
struct Operands {
  uint32_t d = 0, a = 0, scale_a = 0, scale_b = 0, metadata = 0;  // addresses: lane << 16 | column
  uint32_t a_start = 0, b_start = 0;                              // bytes in `shared`
  uint64_t a_matrix = 0, b_matrix = 0;                            // descriptors but for the start address
  uint32_t instruction = 0;
  uint32_t accumulate = 0;
  uint32_t disabled[8] = {};
  uint64_t zero_columns = 0;
};

// NAME: an instruction of .cta_group::GROUP. %0 D, %1 A in tensor memory, %2 descriptor of A, %3 of B, %4
// instruction descriptor, %5 and %6 scale factors, %7 metadata, %8 zero-column mask, %9 … lanes that keep
// their D, p enable-input-d.
#define TCGEN05_MMA(NAME, GROUP, TEXT)                                                                       \
  struct NAME {                                                                                              \
    static constexpr int group = GROUP;                                                                      \
    static __device__ void run(const Operands& o) {                                                          \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %17, 0;\ntcgen05.mma" TEXT ";\n}" ::"r"(o.d), "r"(o.a), \
                   "l"(o.a_matrix), "l"(o.b_matrix), "r"(o.instruction), "r"(o.scale_a), "r"(o.scale_b),     \
                   "r"(o.metadata), "l"(o.zero_columns), "r"(o.disabled[0]), "r"(o.disabled[1]),             \
                   "r"(o.disabled[2]), "r"(o.disabled[3]), "r"(o.disabled[4]), "r"(o.disabled[5]),           \
                   "r"(o.disabled[6]), "r"(o.disabled[7]), "r"(o.accumulate)                                 \
                   : "memory");                                                                              \
    }                                                                                                        \
  }

constexpr int kSharedBytes = 160 * 1024, kColumns = 384;

__device__ inline uint32_t shared_address(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

// Each CTA of the group has its own shared memory (from a boundary of 1024 bytes on) and tensor memory: 128
// words of every column.
template <class Mma>
__global__ void multiply(const uint8_t* shared, uint32_t bytes, uint32_t* tensor, Operands operands) {
  extern __shared__ uint8_t raw[];
  __shared__ uint32_t allocated;
  __shared__ alignas(8) uint64_t done;
  const uint32_t base = (shared_address(raw) + 1023) / 1024 * 1024, warp = threadIdx.x / 32;
  const uint32_t rank = blockIdx.x, barrier = shared_address(&done);
  uint8_t* const image = raw + (base - shared_address(raw));
  for (uint32_t i = threadIdx.x * 4; i < bytes; i += 512)
    *reinterpret_cast<uint32_t*>(image + i) = *reinterpret_cast<const uint32_t*>(shared + rank * bytes + i);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if constexpr (Mma::group == 2)  // the peer has been launched
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (warp == 0) {
    if constexpr (Mma::group == 1) {
      asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 512;" ::"r"(
                       shared_address(&allocated))
                   : "memory");
    } else {
      asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 512;" ::"r"(
                       shared_address(&allocated))
                   : "memory");
    }
  }
  const auto meet = [&] {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  };
  meet();
  uint32_t* const words = tensor + (rank * kColumns) * 128 + threadIdx.x;
  const uint32_t own = allocated + (warp << 21);
  for (uint32_t c = 0; c < kColumns; ++c)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(own + c), "r"(words[c * 128])
                 : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  meet();
  if (threadIdx.x == 0 && rank == 0) {
    const auto encode = [&](uint32_t start) { return uint64_t((base + start) >> 4 & 0x3fff); };
    operands.a_matrix |= encode(operands.a_start);
    operands.b_matrix |= encode(operands.b_start);
    for (uint32_t* each :
         {&operands.d, &operands.a, &operands.scale_a, &operands.scale_b, &operands.metadata})
      *each += allocated;
    Mma::run(operands);
    if constexpr (Mma::group == 1) {
      asm volatile(
          "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
          : "memory");
    } else {
      asm volatile(
          "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], "
          "%1;" ::"r"(barrier),
          "h"(uint16_t(3))
          : "memory");
    }
  }
  asm volatile(
      "{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra W;\n}" ::"r"(
          barrier)
      : "memory");
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (uint32_t c = 0; c < kColumns; ++c) {
    uint32_t word;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(word) : "r"(own + c) : "memory");
    asm volatile("tcgen05.wait::ld.sync.aligned;" : "+r"(word)::"memory");
    words[c * 128] = word;
  }
  meet();
  if (warp == 0) {
    if constexpr (Mma::group == 1) {
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" ::"r"(allocated));
    } else {
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 512;" ::"r"(allocated));
    }
  }
}

using Tensor = std::vector<std::array<uint32_t, 128>>;  // by column

// Of each CTA: shared memory, tensor memory, which becomes what is there afterwards.
template <class Mma>
void run_mma(const std::vector<std::vector<uint8_t>>& shared, std::vector<Tensor>& tensor,
             const Operands& operands) {
  size_t bytes = 0;
  for (const auto& each : shared) bytes = std::max(bytes, (each.size() + 3) / 4 * 4);
  std::vector<uint8_t> images;
  std::vector<uint32_t> words;
  for (int r = 0; r < Mma::group; ++r) {
    std::vector<uint8_t> image = shared[r];
    image.resize(bytes);
    images.insert(images.end(), image.begin(), image.end());
    tensor[r].resize(kColumns);
    for (const auto& column : tensor[r]) words.insert(words.end(), column.begin(), column.end());
  }
  Buffer<uint8_t> from(images);
  Buffer<uint32_t> to(words);
  CUDA(cudaFuncSetAttribute(multiply<Mma>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(Mma::group);
  config.blockDim = dim3(128);
  config.dynamicSmemBytes = kSharedBytes;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = Mma::group;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  CUDA(cudaLaunchKernelEx(&config, multiply<Mma>, static_cast<const uint8_t*>(from.data), uint32_t(bytes),
                          to.data, operands));
  LAUNCHED();
  words = to.download();
  for (int r = 0; r < Mma::group; ++r) {
    for (int c = 0; c < kColumns; ++c)
      std::copy_n(words.begin() + (r * kColumns + c) * 128, 128, tensor[r][c].begin());
  }
}

// ---- Matrices in shared memory, as the PTX ISA's table of canonical layouts has them.

enum class Swizzle { none = 0, b128_atom32 = 1, b128 = 2, b64 = 4, b32 = 6 };

struct Layout {
  bool mn_major = false;
  Swizzle swizzle = Swizzle::b128;
  uint32_t leading = 0, stride = 0;  // bytes

  uint64_t descriptor() const {
    return uint64_t(leading >> 4 & 0x3fff) << 16 | uint64_t(stride >> 4 & 0x3fff) << 32 | 1ull << 46 |
           uint64_t(swizzle) << 61;
  }
  // Bytes from the matrix's start of the 16 that hold element (mn, k), of t elements.
  uint32_t chunk(uint32_t mn, uint32_t k, uint32_t t) const {
    const uint32_t wide = swizzle == Swizzle::none  ? 1
                          : swizzle == Swizzle::b32 ? 2
                          : swizzle == Swizzle::b64 ? 4
                                                    : 8;
    const uint32_t deep = swizzle == Swizzle::b128_atom32 ? 4 : 8;
    uint32_t at;
    if (!mn_major) {
      at = mn % 8 * wide * 16 + mn / 8 * stride + k / t * (wide == 1 ? leading : 16);
    } else if (wide == 1) {
      at = mn / t * stride + k % 8 * 16 + k / 8 * leading;
    } else {
      at = mn / t % wide * 16 + mn / t / wide * leading + k % deep * wide * 16 + k / deep * stride;
    }
    return swizzle == Swizzle::b128_atom32 ? at ^ (at >> 7 & 3) << 5 : at ^ (at >> 7 & (wide - 1)) << 4;
  }
};
// k_bytes: of a row, in 16-byte chunks.
inline Layout k_major(Swizzle swizzle, uint32_t k_bytes = 32) {
  if (swizzle == Swizzle::none) return {false, swizzle, 128, 8 * k_bytes};
  const uint32_t row = swizzle == Swizzle::b32 ? 32 : swizzle == Swizzle::b64 ? 64 : 128;
  return {false, swizzle, 16, 8 * row};
}
inline Layout mn_major(Swizzle swizzle, uint32_t k) {
  if (swizzle == Swizzle::none) return {true, swizzle, 128, k * 16};
  const uint32_t row = swizzle == Swizzle::b32 ? 32 : swizzle == Swizzle::b64 ? 64 : 128;
  return {true, swizzle, k * row, (swizzle == Swizzle::b128_atom32 ? 4 : 8) * row};
}

// So many bits from bit `at` of the bytes on.
inline void put_bits(std::vector<uint8_t>& bytes, size_t at, int bits, uint32_t value) {
  if (at / 8 + 8 > bytes.size()) bytes.resize(at / 8 + 1024);
  for (int i = 0; i < bits; ++i, ++at) {
    bytes[at / 8] = uint8_t((bytes[at / 8] & ~(1 << at % 8)) | (value >> i & 1) << at % 8);
  }
}
