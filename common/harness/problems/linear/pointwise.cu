#include "common/harness/problems/linear/pointwise.h"

namespace ladder {
namespace {

constexpr int threads = 256, vector = 8;  // elements in 16 bytes

template <Epilogue epilogue>
__device__ float activated(float x) {
  if constexpr (epilogue == Epilogue::bias) {
    return x;
  } else {
    constexpr bool gelu = epilogue == Epilogue::gelu || epilogue == Epilogue::geglu;
    const float t = gelu ? 2 * 0.7978845608f * x * (1 + 0.044715f * x * x) : x;
    return __fdividef(x, 1 + __expf(-t));
  }
}

__device__ uint4 load(const __nv_bfloat16* from) {
  return *reinterpret_cast<const uint4*>(from);
}

// The grid's y goes down the rows, its x along a row's vectors.
template <Epilogue epilogue, bool gated = is_gated(epilogue)>
__global__ void __launch_bounds__(threads) pointwise_kernel(Pointwise p) {
  const int col = int(blockIdx.x * threads + threadIdx.x) * vector;
  if (col >= p.n) return;
  for (int row = int(blockIdx.y); row < p.m; row += int(gridDim.y)) {
    const std::size_t at = std::size_t(row) * p.pitch + col;
    const uint4 product = load(p.product + at);
    const uint4 other = load(gated ? p.gate + at : p.bias + col);
    uint4 c;
    const auto* const x = reinterpret_cast<const __nv_bfloat162*>(&product);
    const auto* const y = reinterpret_cast<const __nv_bfloat162*>(&other);
    auto* const to = reinterpret_cast<__nv_bfloat162*>(&c);
#pragma unroll
    for (int i = 0; i < vector / 2; ++i) {
      const float2 a = __bfloat1622float2(x[i]), b = __bfloat1622float2(y[i]);
      to[i] = gated ? __floats2bfloat162_rn(activated<epilogue>(b.x) * a.x, activated<epilogue>(b.y) * a.y)
                    : __floats2bfloat162_rn(activated<epilogue>(a.x + b.x), activated<epilogue>(a.y + b.y));
    }
    *reinterpret_cast<uint4*>(p.c + std::size_t(row) * p.n + col) = c;
  }
}

template <Epilogue epilogue>
cudaError_t launch(const Pointwise& p, cudaStream_t stream) {
  const dim3 grid(ceil_div(p.n / vector, threads), unsigned(p.m < 65535 ? p.m : 65535));
  pointwise_kernel<epilogue><<<grid, threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_pointwise(const Pointwise& p, Epilogue epilogue, cudaStream_t stream) {
  switch (epilogue) {
    case Epilogue::none:
      break;
    case Epilogue::bias:
      return launch<Epilogue::bias>(p, stream);
    case Epilogue::gelu:
      return launch<Epilogue::gelu>(p, stream);
    case Epilogue::silu:
      return launch<Epilogue::silu>(p, stream);
    case Epilogue::swiglu:
      return launch<Epilogue::swiglu>(p, stream);
    case Epilogue::geglu:
      return launch<Epilogue::geglu>(p, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace ladder
