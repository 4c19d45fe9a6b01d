#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <stdexcept>

#include "common/harness/base/failure.h"
#include "common/harness/cublas/operands.h"

namespace ladder {
namespace {

constexpr int threads = 256;

// A matrix [rows, k] that is read from one in fp32, transposed or not. Elements that share a scale are
// `abreast` rows by `along` of k.
struct Source {
  const float* from;
  bool transposed;
  int rows, k, abreast, along;
  __device__ float at(int row, int col) const {
    return transposed ? from[std::size_t(col) * rows + row] : from[std::size_t(row) * k + col];
  }
};

template <class T>
__device__ T round_to(float x) {
  return T(x);  // of fp8: to nearest even, the largest where it is too large
}
template <>
__device__ signed char round_to(float x) {
  return static_cast<signed char>(fminf(fmaxf(rintf(32 * x), -127), 127));
}

// A CTA for each scale; one that would be 0 is 1.
__global__ void __launch_bounds__(threads) find_scales(Source source, BlockScales layout, float* scales) {
  const int first_row = blockIdx.x * source.abreast, first = blockIdx.y * source.along;
  const int rows = min(source.abreast, source.rows - first_row);
  const int length = min(source.along, source.k - first);
  __shared__ unsigned largest;  // a float that is not negative, and so as ordered as its bits
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  float mine = 0;
  for (std::size_t i = threadIdx.x; i < std::size_t(rows) * length; i += threads)
    mine = fmaxf(mine, fabsf(source.at(first_row + int(i / length), first + int(i % length))));
  atomicMax(&largest, __float_as_uint(mine));
  __syncthreads();
  if (threadIdx.x > 0) return;
  const float scale = __uint_as_float(largest) / 448;
  scales[layout.at(blockIdx.x, blockIdx.y)] = scale == 0 ? 1 : scale;
}

template <class T>
__global__ void __launch_bounds__(threads)
    round_elements(Source source, T* to, int pitch, BlockScales layout, const float* scales) {
  const std::size_t count = std::size_t(source.rows) * source.k;
  for (std::size_t i = std::size_t(blockIdx.x) * threads + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * threads) {
    const int row = int(i / source.k), col = int(i % source.k);
    const float scale = scales ? scales[layout.at(row / source.abreast, col / source.along)] : 1;
    to[std::size_t(row) * pitch + col] = round_to<T>(source.at(row, col) / scale);
  }
}

template <class T>
void round_to(const GuardedBuffer& to, const Source& source, int pitch, BlockScales layout,
              const std::optional<GuardedBuffer>& scales) {
  const float* const factors = scales ? scales->as<float>() : nullptr;
  round_elements<<<4096, threads>>>(source, to.as<T>(), pitch, layout, factors);
}

void round_to(Number number, const GuardedBuffer& to, const Source& source, int pitch, BlockScales layout,
              const std::optional<GuardedBuffer>& scales) {
  switch (number) {
    case Number::bf16:
      return round_to<__nv_bfloat16>(to, source, pitch, layout, scales);
    case Number::f16:
      return round_to<__half>(to, source, pitch, layout, scales);
    case Number::tf32:  // the tensor core does not look at the bits that tf32 lacks
    case Number::fp32:
      return round_to<float>(to, source, pitch, layout, scales);
    case Number::fp64:
      return round_to<double>(to, source, pitch, layout, scales);
    case Number::s8:
      return round_to<signed char>(to, source, pitch, layout, scales);
    case Number::e4m3:
      return round_to<__nv_fp8_e4m3>(to, source, pitch, layout, scales);
    case Number::e5m2:
      return round_to<__nv_fp8_e5m2>(to, source, pitch, layout, scales);
    default:
      throw std::logic_error("no operands of this type for the library");
  }
}

GuardedBuffer elements(const char* name, int rows, int pitch, Number number) {
  return {name, GuardedBuffer::Kind::output, std::uint64_t(rows) * pitch, std::size_t(bits_of(number) / 8)};
}

}  // namespace

LibraryOperands::LibraryOperands(const Gemm& p, Precision precision)
    : pitch((p.k + 15) / 16 * 16),
      a(elements("the library's A", p.m, pitch, format_of(precision).a)),
      b(elements("the library's B", p.n, pitch, format_of(precision).b)) {
  constexpr int block = BlockScales::block;
  Source of_a{p.typed->a, false, p.m, p.k, 1, block}, of_b{p.typed->b, true, p.n, p.k, block, block};
  BlockScales layout_a = BlockScales::of_a(p.m, p.k), layout_b = BlockScales::of_b(p.n, p.k);
  if (precision == Precision::fp8_tensor) {
    for (Source* const source : {&of_a, &of_b}) source->abreast = source->rows, source->along = source->k;
    layout_a = layout_b = {.lines = 1, .blocks = 1, .k_contiguous = true};
  }
  if (precision == Precision::fp8_block || precision == Precision::fp8_tensor) {
    auto scales = [](std::optional<GuardedBuffer>& to, const Source& source, const BlockScales& layout) {
      to.emplace("the library's scales", GuardedBuffer::Kind::output, layout.count(), sizeof(float));
      find_scales<<<dim3(layout.lines, layout.blocks), threads>>>(source, layout, to->as<float>());
    };
    scales(a_scales, of_a, layout_a);
    scales(b_scales, of_b, layout_b);
  }
  round_to(format_of(precision).a, a, of_a, pitch, layout_a, a_scales);
  round_to(format_of(precision).b, b, of_b, pitch, layout_b, b_scales);
  check(cudaGetLastError(), "rounding the library's operands");
}

}  // namespace ladder
