// The row is parked in shared memory between the two passes: x and residual are read, h and y are written, and nothing
// is read a second time.
#include "02_smem_tiling/rung.h"

namespace ladder::rung_02 {
namespace {

constexpr int warp_size = 32;
constexpr int threads = 512;  // of the CTA that has a row
constexpr int warps = threads / warp_size;

__device__ float warp_sum(float value) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

// The first `parked` columns of h wait in shared memory (dynamic, parked · 2 bytes); those beyond are read back.
__global__ void __launch_bounds__(threads) fused_norm_kernel(FusedNorm p, int parked) {
  extern __shared__ __nv_bfloat16 row_h[];
  __shared__ float partial[warps];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;

  float squares = 0;
  for (int col = threadIdx.x; col < p.cols; col += threads) {
    const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
    const __nv_bfloat16 h = __float2bfloat16_rn(sum);
    p.h[start + col] = h;
    if (col < parked) row_h[col] = h;  // read again by the same thread only: needs no barrier
    squares += __bfloat162float(h) * __bfloat162float(h);
  }

  squares = warp_sum(squares);
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = squares;
  __syncthreads();  // partial[] is complete
  squares = warp_sum(lane < warps ? partial[lane] : 0.0f);

  const float scale = rsqrtf(squares / float(p.cols) + p.eps);
  for (int col = threadIdx.x; col < p.cols; col += threads) {
    const float h = __bfloat162float(col < parked ? row_h[col] : p.h[start + col]);
    p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
  }
}

cudaError_t launch(const FusedNorm& p, int parked, cudaStream_t stream) {
  const int bytes = parked * int(sizeof(__nv_bfloat16));
  const cudaError_t error = cudaFuncSetAttribute(fused_norm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  fused_norm_kernel<<<p.rows, threads, bytes, stream>>>(p, parked);
  return cudaGetLastError();
}

}  // namespace

cudaError_t fused_norm_reread(const FusedNorm& p, cudaStream_t stream) { return launch(p, 0, stream); }

// Parks as much of the row as the device's shared memory can hold beside partial[].
cudaError_t fused_norm_parked(const FusedNorm& p, cudaStream_t stream) {
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  const int capacity = (most - warps * int(sizeof(float))) / int(sizeof(__nv_bfloat16));
  return launch(p, p.cols < capacity ? p.cols : capacity, stream);
}

}  // namespace ladder::rung_02
