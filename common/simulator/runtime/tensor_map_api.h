// Driver functions that make tensor maps. Programs get at them with cudaGetDriverEntryPoint().
#pragma once

#include <cuda.h>

namespace simulator {

// Driver API, "Tensor Map Object Management". What a program does wrong is told on stderr: the error code
// alone does not say which of the twelve arguments it is about.
CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* dimensions, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                      CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
CUresult replace_address(CUtensorMap* map, void* address);
CUresult refuse_im2col();  // its arguments are of no interest

}  // namespace simulator
