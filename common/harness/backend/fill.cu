// What is done to buffers on the device, so that gigabytes take milliseconds.
#include <algorithm>

#include "common/harness/backend/device_buffer.h"
#include "common/harness/base/failure.h"

namespace ladder {
namespace {

// 64 well-mixed bits from a counter (the finaliser of SplitMix64, Steele et al. 2014).
__device__ std::uint64_t mix(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

__device__ void store(__nv_bfloat16* to, float value) {
  *to = __float2bfloat16_rn(value);
}
__device__ void store(float* to, float value) {
  *to = value;
}

template <class T>
__global__ void fill_kernel(T* out, std::uint64_t count, Distribution d, std::uint64_t seed) {
  const std::uint64_t start = blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
  const std::uint64_t stride = std::uint64_t(gridDim.x) * blockDim.x;
  for (std::uint64_t i = start; i < count; i += stride) {
    const std::uint64_t bits = mix(mix(seed) + i);
    float value;
    if (d.kind != Distribution::Kind::normal) {
      value = float(int(bits % (2 * d.limit + 1)) - d.limit);
    } else {  // Box-Muller: u in (0, 1], v in [0, 1)
      const float u = (float(bits >> 40) + 1.0f) * 0x1p-24f;
      const float v = float((bits >> 16) & 0xFFFFFF) * 0x1p-24f;
      value = d.mean + d.deviation * sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
      if (d.row_offset != 0)
        value += d.row_offset * (float(mix(mix(~seed) + i / d.cols) >> 40) * 0x1p-23f - 1);
    }
    if (d.block_rows > 0) {
      const std::uint64_t row = i / d.cols, col = i % d.cols;
      if (row % d.block_rows == d.row && col % d.block_cols == d.col) value = float(d.largest);
      const std::uint64_t block = (row / d.block_rows << 32) + col / d.block_cols;
      if (d.kind == Distribution::Kind::blocks)
        value = ldexpf(value, d.lowest + int(mix(mix(~seed) + block) % (d.spread + 1)));
    }
    store(out + i, value);
  }
}

template <class T>
__global__ void clear_kernel(T* matrix, std::uint64_t count, int cols, int rows_inside, int cols_inside) {
  const std::uint64_t start = blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
  const std::uint64_t stride = std::uint64_t(gridDim.x) * blockDim.x;
  for (std::uint64_t i = start; i < count; i += stride)
    if (i / cols >= std::uint64_t(rows_inside) || i % cols >= std::uint64_t(cols_inside))
      store(matrix + i, 0);
}

__device__ unsigned long long differences;
__global__ void difference_kernel(const ushort* a, const ushort* b, std::uint64_t count) {
  const std::uint64_t start = blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
  const std::uint64_t stride = std::uint64_t(gridDim.x) * blockDim.x;
  unsigned long long found = 0;
  for (std::uint64_t i = start; i < count; i += stride) found += a[i] != b[i];
  if (found > 0) atomicAdd(&differences, found);
}

constexpr int threads = 256;
unsigned blocks_for(std::uint64_t count) {
  return unsigned(std::min<std::uint64_t>((count + threads - 1) / threads, 4096));
}

}  // namespace

void fill(const GuardedBuffer& buffer, const Distribution& distribution, std::uint64_t seed) {
  const std::uint64_t count = buffer.count();
  if (buffer.bytes() == count * sizeof(float)) {
    fill_kernel<<<blocks_for(count), threads>>>(buffer.as<float>(), count, distribution, seed);
  } else {
    fill_kernel<<<blocks_for(count), threads>>>(buffer.data(), count, distribution, seed);
  }
  check(cudaGetLastError(), "filling an input");
}

void clear_outside(const GuardedBuffer& matrix, int cols, int rows_inside, int cols_inside) {
  const std::uint64_t count = matrix.count();
  if (cols_inside == cols && count / cols == std::uint64_t(rows_inside)) return;
  if (matrix.bytes() == count * sizeof(float)) {
    clear_kernel<<<blocks_for(count), threads>>>(matrix.as<float>(), count, cols, rows_inside, cols_inside);
  } else {
    clear_kernel<<<blocks_for(count), threads>>>(matrix.data(), count, cols, rows_inside, cols_inside);
  }
  check(cudaGetLastError(), "filling up an input");
}

std::uint64_t count_differences(const GuardedBuffer& a, const GuardedBuffer& b) {
  unsigned long long found = 0;
  check(cudaMemcpyToSymbol(differences, &found, sizeof found), "comparing an output");
  const std::uint64_t halves = a.bytes() / sizeof(ushort);  // every element is a whole number of them
  difference_kernel<<<blocks_for(halves), threads>>>(a.as<ushort>(), b.as<ushort>(), halves);
  check(cudaGetLastError(), "comparing an output");
  check(cudaMemcpyFromSymbol(&found, differences, sizeof found), "comparing an output");
  return found;
}

}  // namespace ladder
