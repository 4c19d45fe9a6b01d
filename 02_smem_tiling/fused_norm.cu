// The row is parked in shared memory between the two passes: x and residual are read, h and y are written,
// and nothing is read a second time. And since h need not be in global memory before y is, the first pass
// only reads: no store stands between one load and the next, so that several are under way at once.
#include "common/rung.h"

namespace ladder::rung_02 {
namespace {

constexpr int warp_size = 32;
constexpr int threads = 512;  // of a CTA, which has one row
constexpr int warps = threads / warp_size;

__device__ float warp_sum(float value) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFu, value, distance);
  return value;
}

enum class Park {
  nothing,            // h is written in the first pass and read back in the second, as on 01_coalesced
  copy,               // h is written in the first pass, too, but read back from shared memory
  until_second_pass,  // h is written in the second pass, beside y
};

// The first `parked` columns of h wait in shared memory (dynamic, parked · 2 bytes); those beyond are read
// back.
template <Park park>
__global__ void __launch_bounds__(threads) fused_norm_kernel(FusedNorm p, int parked) {
  extern __shared__ __nv_bfloat16 row_h[];
  __shared__ float partial[warps];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;

  float squares = 0;
  auto add = [&](int col) {
    const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
    const __nv_bfloat16 h = __float2bfloat16_rn(sum);
    squares += __bfloat162float(h) * __bfloat162float(h);
    return h;
  };
#pragma unroll 4
  for (int col = threadIdx.x; col < parked; col += threads) {
    row_h[col] = add(col);  // read again by the same thread only: needs no barrier
    if constexpr (park == Park::copy) p.h[start + col] = row_h[col];
  }
  for (int col = parked + threadIdx.x; col < p.cols; col += threads) p.h[start + col] = add(col);

  squares = warp_sum(squares);
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = squares;
  __syncthreads();  // partial[] is complete
  squares = warp_sum(lane < warps ? partial[lane] : 0.0f);

  const float scale = rsqrtf(squares / float(p.cols) + p.eps);
  auto write = [&](int col, __nv_bfloat16 h) {
    p.y[start + col] = __float2bfloat16_rn(__bfloat162float(h) * scale * __bfloat162float(p.gamma[col]));
  };
#pragma unroll 4
  for (int col = threadIdx.x; col < parked; col += threads) {
    if constexpr (park == Park::until_second_pass) p.h[start + col] = row_h[col];
    write(col, row_h[col]);
  }
  for (int col = parked + threadIdx.x; col < p.cols; col += threads) write(col, p.h[start + col]);
}

// Parks as much of the row as the device's shared memory can hold beside partial[].
template <Park park>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  int parked = 0;
  if constexpr (park != Park::nothing) {
    int device = 0, most = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess) return error;
    const int capacity = (most - warps * int(sizeof(float))) / int(sizeof(__nv_bfloat16));
    parked = p.cols < capacity ? p.cols : capacity;
  }
  const int bytes = parked * int(sizeof(__nv_bfloat16));
  auto* kernel = fused_norm_kernel<park>;
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<p.rows, threads, bytes, stream>>>(p, parked);
  return cudaGetLastError();
}

}  // namespace

Variants<FusedNorm> fused_norm() {
  return {{.name = "reread", .what = "h is read back from L2", .launch = launch<Park::nothing>},
          {.name = "parked_copy", .what = "h is read back from shared memory", .launch = launch<Park::copy>},
          {.name = "parked",
           .what = "h stays in shared memory and is stored in the second pass",
           .launch = launch<Park::until_second_pass>}};
}

}  // namespace ladder::rung_02
