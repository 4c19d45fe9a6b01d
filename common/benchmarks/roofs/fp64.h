// FP64 by mma.sync, in both its sizes. A file of its own, since main.cu is built for every architecture and
// m16n8k4 takes sm_90.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

namespace ladder {

enum class Fp64Mma { m8n8k4, m16n8k4 };

// Operations of one launch on that many multiprocessors.
double fp64_operations(Fp64Mma mma, int sms);

// Products in registers, filled from `random`: at least 512 elements. `out` holds 256 floats for each of the
// multiprocessors.
cudaError_t launch_fp64(Fp64Mma mma, const __nv_bfloat16* random, float* out, int sms, cudaStream_t stream);

}  // namespace ladder
