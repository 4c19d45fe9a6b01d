// Driver API, "Tensor Map Object Management". What a program does wrong is reported on stderr: the error code
// alone does not say which of the twelve arguments it is about.
#include <optional>
#include <string>

#include "common/simulator/driver/call.h"
#include "common/simulator/settings/device.h"
#include "common/simulator/units/tma_map.h"

using namespace simulator;

namespace {

constexpr uint64_t most_elements = 1ull << 32;  // in a dimension

CUresult invalid(const std::string& what) {
  say("cuTensorMapEncodeTiled: " + what);
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" CUresult cuTensorMapEncodeTiled(CUtensorMap* object, CUtensorMapDataType type, cuuint32_t rank,
                                           void* address, const cuuint64_t* dimensions,
                                           const cuuint64_t* strides, const cuuint32_t* box,
                                           const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                           CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                           CUtensorMapFloatOOBfill fill) {
  if (object == nullptr) return invalid("tensorMap is null");
  if (device().major < 9) return not_supported("a tensor map on a device of compute capability below 9.0");
  if (rank < 1 || rank > max_tma_rank)
    return invalid("tensorRank is " + std::to_string(rank) + ": it must be 1 to 5");
  if (dimensions == nullptr || box == nullptr || steps == nullptr || (rank > 1 && strides == nullptr))
    return invalid("an array is missing");
  if (type < 0 || type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) return invalid("unknown tensorDataType");
  if (interleave < 0 || interleave > CU_TENSOR_MAP_INTERLEAVE_32B) return invalid("unknown interleave");
  if (swizzle < 0 || swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B) return invalid("unknown swizzle");
  if (promotion < 0 || promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) return invalid("unknown l2Promotion");
  if (fill < 0 || fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) return invalid("unknown oobFill");
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B && device().major < 10)
    return invalid("swizzles of larger atoms need compute capability 10.0");
  if (is_packed(static_cast<TmaType>(type)) && device().major < 10)
    return not_supported(
        "a tensor map of elements of 4 or 6 bits on a device of compute capability below 10.0");
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    return not_supported("cuTensorMapEncodeTiled with an interleaved layout");

  TmaMap map;
  map.address = reinterpret_cast<uintptr_t>(address);
  map.rank = static_cast<uint8_t>(rank);
  map.type = static_cast<TmaType>(type);
  map.interleave = static_cast<uint8_t>(interleave);
  map.swizzle = static_cast<Swizzle>(swizzle);
  map.l2_promotion = static_cast<uint8_t>(promotion);
  map.fill_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (dimensions[i] < 1 || dimensions[i] > most_elements)
      return invalid("globalDim[" + std::to_string(i) + "] is " + std::to_string(dimensions[i]) +
                     ": it must be 1 to 2^32");
    if (box[i] > 256 || steps[i] > 8)
      return invalid("boxDim[" + std::to_string(i) + "] is " + std::to_string(box[i]) + ", elementStrides " +
                     std::to_string(steps[i]) + ": at most 256 and 8");
    map.last[i] = static_cast<uint32_t>(dimensions[i] - 1);
    map.box[i] = static_cast<uint16_t>(box[i]);
    map.step[i] = static_cast<uint8_t>(steps[i]);
    if (i > 0) map.stride[i - 1] = strides[i - 1];
  }
  if (const std::string problem = problem_of(map); !problem.empty()) return invalid(problem);
  map.store(reinterpret_cast<std::byte*>(object));
  return CUDA_SUCCESS;
}

extern "C" CUresult cuTensorMapReplaceAddress(CUtensorMap* object, void* address) {
  std::optional<TmaMap> map;
  if (object != nullptr) map = TmaMap::load(reinterpret_cast<const std::byte*>(object));
  if (!map || reinterpret_cast<uintptr_t>(address) % 16 != 0) {
    say("cuTensorMapReplaceAddress: no tensor map, or an address that is not a multiple of 16");
    return CUDA_ERROR_INVALID_VALUE;
  }
  map->address = reinterpret_cast<uintptr_t>(address);
  map->store(reinterpret_cast<std::byte*>(object));
  return CUDA_SUCCESS;
}

extern "C" CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                            const cuuint64_t*, const cuuint64_t*, const int*, const int*,
                                            cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                            CUtensorMapSwizzle, CUtensorMapL2promotion,
                                            CUtensorMapFloatOOBfill) {
  return not_supported("cuTensorMapEncodeIm2col");
}

extern "C" CUresult cuTensorMapEncodeIm2colWide(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                                const cuuint64_t*, const cuuint64_t*, int, int, cuuint32_t,
                                                cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                                CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return not_supported("cuTensorMapEncodeIm2colWide");
}
