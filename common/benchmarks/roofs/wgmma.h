// What main.cu cannot hold, since it is built for every architecture: wgmma, for sm_90a alone.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

namespace ladder {

// Operations of one launch on that many multiprocessors.
double wgmma_operations(int sms);

// Products of bf16 tiles that lie in shared memory, filled once from `random` (at least wgmma_elements), by
// two warpgroups of each multiprocessor. `out` holds 256 floats for each of them.
constexpr int wgmma_elements = 96 * 1024;
cudaError_t launch_wgmma(const __nv_bfloat16* random, float* out, int sms, cudaStream_t stream);

// The same with a sparse A. The operations on what is not stored count, too.
double wgmma_sp_operations(int sms);
cudaError_t launch_wgmma_sp(const __nv_bfloat16* random, float* out, int sms, cudaStream_t stream);

}  // namespace ladder
