// Functions of the CUDA driver that a program linked with -lcuda calls itself.
#include <cuda.h>

#include <string>

#include "program.h"

namespace {

// A map of a matrix of 64 by 64 floats, in boxes of 32 by 8.
CUresult encode(CUtensorMap& map, void* matrix, cuuint32_t rank) {
  const cuuint64_t size[] = {64, 64}, pitch[] = {256};
  const cuuint32_t box[] = {32, 8}, step[] = {1, 1};
  return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, matrix, size, pitch, box, step,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace

int main() {
  void* matrix = nullptr;
  CUDA(cudaMalloc(&matrix, 64 * 256));
  CUtensorMap map;
  expect(encode(map, matrix, 2) == CUDA_SUCCESS, "a map");
  expect(cuTensorMapReplaceAddress(&map, matrix) == CUDA_SUCCESS, "another address");
  const char* text = nullptr;
  expect(cuGetErrorString(encode(map, matrix, 6), &text) == CUDA_SUCCESS &&
             text == std::string("invalid argument"),
         "six dimensions");
  return finish();
}
