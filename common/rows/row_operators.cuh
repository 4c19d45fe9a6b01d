// What LayerNorm and softmax have in common on rungs 03 and 08: reductions beside norm.cuh's sum, what is
// done to eight elements at a time, and kernels for the rows that a rung's own kernels do not take.
#pragma once

#include "common/extension.h"
#include "common/rows/norm.cuh"

namespace ladder {

// Below every finite bf16: the maximum of no elements. It is not -inf, since -inf - (-inf) would be a NaN.
constexpr float lowest = -3.4e38f;

// The largest element seen so far, and the sum of exp(x - largest) over all of them.
struct Exponentials {
  float largest, sum;
};

// What the lanes of a warp have, merged, in every lane: the maximum; and sums of exponentials, each of which
// is rescaled once, when the largest element of all is known.
__device__ inline float warp_merge(float value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFu, value, distance));
  return value;
}
__device__ inline Exponentials warp_merge(Exponentials value) {
  const float largest = warp_merge(value.largest);
  return {largest, warp_sum(value.sum * __expf(value.largest - largest))};
}

// The values of a row's threads merged, in each of them, as row_sum() adds them. `none` merges to nothing.
template <class T>
__device__ T row_merge(T value, T none, T (&partial)[warp_size]) {
  value = warp_merge(value);
  if (blockDim.x == warp_size) return value;
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = value;
  __syncthreads();  // partial[] is complete
  return warp_merge(lane < int(blockDim.x) / warp_size ? partial[lane] : none);
}

// What f(element, its index) returns, of each of eight elements, rounded.
template <class F>
__device__ uint4 map_vector(uint4 bits, const F& f) {
  auto pair = [&](unsigned word, int first) {
    const float low = f(low_half(word), first);
    return pack(low, f(high_half(word), first + 1));
  };
  return make_uint4(pair(bits.x, 0), pair(bits.y, 2), pair(bits.z, 4), pair(bits.w, 6));
}
template <class F>
__device__ void for_vector(uint4 bits, const F& f) {
  f(low_half(bits.x), 0), f(high_half(bits.x), 1), f(low_half(bits.y), 2), f(high_half(bits.y), 3);
  f(low_half(bits.z), 4), f(high_half(bits.z), 5), f(low_half(bits.w), 6), f(high_half(bits.w), 7);
}

// Makes the compiler forget what it has made of these elements, and convert them again where they are used
// next. In fp32 they would take twice the registers.
__device__ inline void forget(uint4& bits) {
  asm volatile("" : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w));
}

// y = (x - mean) · scale · gamma + beta.
__device__ inline unsigned normalised(unsigned x, unsigned gamma, unsigned beta, float mean, float scale) {
  return pack((low_half(x) - mean) * scale * low_half(gamma) + low_half(beta),
              (high_half(x) - mean) * scale * high_half(gamma) + high_half(beta));
}
__device__ inline uint4 normalised(uint4 x, uint4 gamma, uint4 beta, float mean, float scale) {
  return make_uint4(
      normalised(x.x, gamma.x, beta.x, mean, scale), normalised(x.y, gamma.y, beta.y, mean, scale),
      normalised(x.z, gamma.z, beta.z, mean, scale), normalised(x.w, gamma.w, beta.w, mean, scale));
}

// f(element, column) of each element of a row that starts at `start`, by the threads of a CTA; what it
// returns is stored to y where `stored`. x and y share their alignment, so the row is cut at the 16-byte
// boundaries, and its first and last vector, which may lie half outside, are done one by one.
template <bool stored, class F>
__device__ void for_row(const RowOperator& p, std::size_t start, const F& f) {
  const int before_start = start % vector;  // elements from the boundary to the start of the row
  for (int col = threadIdx.x * vector - before_start; col < p.cols; col += blockDim.x * vector) {
    if (col >= 0 && col + vector <= p.cols) {
      const uint4 y = map_vector(load(p.x + start + col), [&](float x, int i) { return f(x, col + i); });
      if (stored) store(p.y + start + col, y);
    } else {
      for (int i = 0; i < vector; ++i) {
        if (col + i < 0 || col + i >= p.cols) continue;
        const float y = f(__bfloat162float(p.x[start + col + i]), col + i);
        if (stored) p.y[start + col + i] = __float2bfloat16_rn(y);
      }
    }
  }
}

// Any width, a CTA per row. x is read three times, from L2 where that holds the rows in flight: for the mean,
// for the squares of what differs from it, and for y.
template <int threads>
__global__ void __launch_bounds__(threads) layer_norm_of_any_width(RowOperator p) {
  __shared__ float partial[2][warp_size];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  float sum = 0, squares = 0;
  for_row<false>(p, start, [&](float x, int) { return sum += x; });
  const float mean = row_sum(sum, partial[0]) / float(p.cols);
  for_row<false>(p, start, [&](float x, int) { return squares += (x - mean) * (x - mean); });
  const float scale = rsqrtf(row_sum(squares, partial[1]) / float(p.cols) + p.eps);
  for_row<true>(p, start, [&](float x, int col) {  // gamma and beta come from L1, after the first row
    return (x - mean) * scale * __bfloat162float(p.gamma[col]) + __bfloat162float(p.beta[col]);
  });
}

// The same for softmax, online: x is read twice. A thread's sum is rescaled when a larger element comes,
// which after the first few is rare.
template <int threads>
__global__ void __launch_bounds__(threads) softmax_of_any_width(RowOperator p) {
  __shared__ Exponentials partial[warp_size];
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  Exponentials row{lowest, 0};
  for_row<false>(p, start, [&](float x, int) {
    if (x > row.largest) row = {x, row.sum * __expf(row.largest - x)};
    return row.sum += __expf(x - row.largest);
  });
  row = row_merge(row, {lowest, 0}, partial);
  const float scale = __fdividef(1, row.sum);
  for_row<true>(p, start, [&](float x, int) { return __expf(x - row.largest) * scale; });
}

// A vector per thread, where rows are short enough: an SM has more rows at once.
inline cudaError_t launch_layer_norm_of_any_width(const RowOperator& p, cudaStream_t stream) {
  const int threads = p.cols <= 128 * vector ? 128 : 512;
  auto* kernel = threads == 128 ? layer_norm_of_any_width<128> : layer_norm_of_any_width<512>;
  kernel<<<p.rows, threads, 0, stream>>>(p);
  return cudaGetLastError();
}
inline cudaError_t launch_softmax_of_any_width(const RowOperator& p, cudaStream_t stream) {
  const int threads = p.cols <= 128 * vector ? 128 : 512;
  auto* kernel = threads == 128 ? softmax_of_any_width<128> : softmax_of_any_width<512>;
  kernel<<<p.rows, threads, 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace ladder
