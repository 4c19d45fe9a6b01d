// The Tensor Memory Accelerator (TMA): one thread issues the copy of a box of a tensor between global and
// shared memory, and a unit of the SM does the rest: addresses, bounds and swizzle. PTX ISA, "Data Movement
// and Conversion Instructions: Tensor copy" (cp.async.bulk.tensor), "Tensors", "Swizzling modes". sm_90 and
// newer.
//
// The copies access memory through the async proxy. They see what threads wrote with ordinary stores only
// after fence_proxy_async() by the threads that wrote. A thread sees what they wrote once it has waited for
// the mbarrier.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "common/ptx/shared_address.cuh"

namespace ladder::ptx {

// Orders this thread's ordinary accesses to shared memory before asynchronous ones that are issued later, by
// itself or by a thread that it meets at a barrier in between. (fence.proxy.async.shared::cta)
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Copies `bytes`, a multiple of 16, from global to shared memory: no tensor, no bounds. Both addresses are
// multiples of 16. The bytes count at `barrier`, whose phase must expect them. PTX ISA, "cp.async.bulk".
// (cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes)
__device__ __forceinline__ void bulk_load(SharedAddress to, const void* from, int bytes,
                                          SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
      : "memory");
}

// Prefetches a tensor map, 128 bytes of the kernel's parameters, into the cache of tensor maps.
// (prefetch.tensormap)
__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Copies the box whose first element is at column x, row y of a matrix to shared memory. Elements outside of
// the matrix arrive as zeros. All bytes of the box, those included, count at `barrier`, whose phase must
// expect them. `to` is aligned to 128 bytes; for a box that is swizzled over 32, 64 or 128 bytes, to 256, 512
// or 1024, after which the pattern repeats.
// (cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes)
__device__ __forceinline__ void tma_load(SharedAddress to, const CUtensorMap& map, int x, int y,
                                         SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], "
      "[%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// The same to every CTA of the cluster whose bit is set in `ctas`: to address `to` in its shared memory, and
// the bytes count at its mbarrier at address `barrier`. (….multicast::cluster)
__device__ __forceinline__ void tma_load_multicast(SharedAddress to, const CUtensorMap& map, int x, int y,
                                                   SharedAddress barrier, unsigned short ctas) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], "
      "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(ctas)
      : "memory");
}

// tma_load() by one CTA of a CTA pair: `to` is in its own shared memory, and `barrier`, an address in the
// cluster's shared memory, in its own or its peer's. sm_100a and its family.
// (….cta_group::2)
__device__ __forceinline__ void tma_load_of_cta_pair(SharedAddress to, const CUtensorMap& map, int x, int y,
                                                     SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// Copies a box from shared memory to the matrix, as far as it lies inside. The copy belongs to this thread's
// open bulk group. (cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group)
__device__ __forceinline__ void tma_store(const CUtensorMap& map, int x, int y, SharedAddress from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
               "r"(x), "r"(y), "r"(from)
               : "memory");
}

// tma_load() from one of several matrices, the z-th: what lies outside of it arrives as zeros, too.
// (cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes)
__device__ __forceinline__ void tma_load(SharedAddress to, const CUtensorMap& map, int x, int y, int z,
                                         SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
      "%4}], "
      "[%5];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

// Commits this thread's open bulk group. (cp.async.bulk.commit_group)
__device__ __forceinline__ void bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all but the newest `pending` of this thread's bulk groups have read their shared memory, which
// may then be overwritten. (cp.async.bulk.wait_group.read)
template <int pending>
__device__ __forceinline__ void bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

// How the 16-byte chunks of a box's rows are permuted in shared memory: with W bytes to a row, chunk c of row
// r lies where chunk c ^ (r * W / 128) % (W / 16) would. So the same chunk of 8 rows covers all 32 banks.
enum class Swizzle { none = 16, bytes32 = 32, bytes64 = 64, bytes128 = 128 };

// Describes a row-major matrix of bf16, fp32, bytes or 64-bit words to TMA, for boxes of box_rows x box_cols
// elements, both at most 256. The bytes of box_cols are a multiple of 16 and, where swizzled, at most the
// swizzle's. A row starts `pitch` elements after the row before, or cols where pitch is 0; that is a multiple
// of 16 bytes, and `matrix` is aligned to 16. `matrices` of them lie one after the other in memory, and a box
// lies within one; 0: a map of two dimensions. Returns cudaErrorNotSupported where the driver has no tensor
// maps, and cudaErrorInvalidValue where it refuses this one. (cuTensorMapEncodeTiled, looked up at run time,
// so that nothing links to the driver)
template <class Element>
inline cudaError_t make_tensor_map(CUtensorMap* map, const Element* matrix, int rows, int cols, int box_rows,
                                   int box_cols, Swizzle swizzle, std::uint64_t pitch = 0, int matrices = 0) {
  static decltype(&cuTensorMapEncodeTiled) const encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) entry = nullptr;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  if (!encode) return cudaErrorNotSupported;
  constexpr CUtensorMapDataType type = std::is_same_v<Element, __nv_bfloat16>
                                           ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                       : std::is_same_v<Element, float> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                       : sizeof(Element) == 1           ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                                                        : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  static_assert(std::is_same_v<Element, __nv_bfloat16> || std::is_same_v<Element, float> ||
                std::is_same_v<Element, unsigned char> || std::is_same_v<Element, std::uint64_t>);
  const cuuint64_t size[3] = {cuuint64_t(cols), cuuint64_t(rows), cuuint64_t(matrices)};
  const cuuint64_t row_bytes = (pitch ? pitch : cols) * sizeof *matrix;
  const cuuint64_t strides[2] = {row_bytes, row_bytes * rows};  // from row to row, from matrix to matrix
  const cuuint32_t box[3] = {cuuint32_t(box_cols), cuuint32_t(box_rows), 1};
  const cuuint32_t step[3] = {1, 1, 1};
  const CUtensorMapSwizzle mode = swizzle == Swizzle::bytes128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                  : swizzle == Swizzle::bytes64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                  : swizzle == Swizzle::bytes32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                                : CU_TENSOR_MAP_SWIZZLE_NONE;
  const int rank = matrices ? 3 : 2;
  const CUresult result = encode(map, type, rank, const_cast<Element*>(matrix), size, strides, box, step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace ladder::ptx
