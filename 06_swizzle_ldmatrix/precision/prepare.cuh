// The operands of a gemm, rounded to a type and laid out for its kernel: A along k, B along n or k. Of a
// sparse A, the elements that are kept and the metadata that say where they were.
#pragma once

#include <utility>

#include "06_swizzle_ldmatrix/precision/types.cuh"
#include "common/extension.h"

namespace ladder::rung_06 {

// Where the operands are in the workspace.
template <class Type>
struct Workspace {
  typename Type::A::Element* a;
  typename Type::B::Element* b;
  unsigned* metadata;
  std::size_t bytes = 0;

  explicit Workspace(const Gemm& p) {
    auto* const start = p.typed ? static_cast<unsigned char*>(p.typed->workspace) : nullptr;
    auto take = [&](std::size_t size) {
      unsigned char* const part = start + bytes;
      bytes += (size + 255) / 256 * 256;
      return part;
    };
    const std::size_t stored_a = std::size_t(p.m) * p.k / (Type::sparse ? 2 : 1);
    a = reinterpret_cast<decltype(a)>(take(stored_a * sizeof *a));
    b = reinterpret_cast<decltype(b)>(take(std::size_t(p.k) * p.n * sizeof *b));
    metadata = nullptr;
    if (Type::sparse)
      metadata = reinterpret_cast<unsigned*>(take(4 * metadata_at(p.k, ceil_div(p.m, 256) * 16, 0)));
  }
};
template <class Type>
std::size_t workspace_bytes(const Gemm& p) {
  return Workspace<Type>(p).bytes;
}

namespace {

constexpr int prepare_threads = 256;

template <class Number>
__global__ void __launch_bounds__(prepare_threads)
    round_elements(const float* from, typename Number::Element* to, std::size_t count) {
  const std::size_t stride = std::size_t(gridDim.x) * prepare_threads;
  for (std::size_t i = std::size_t(blockIdx.x) * prepare_threads + threadIdx.x; i < count; i += stride)
    to[i] = Number::round(from[i]);
}

// [k, n] -> [n, k], in squares of 32.
template <class Number>
__global__ void __launch_bounds__(prepare_threads)
    round_transposed(const float* from, typename Number::Element* to, int k, int n) {
  __shared__ float square[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32, squares_n = ceil_div(n, 32);
  const int row0 = blockIdx.x / squares_n * 32, col0 = blockIdx.x % squares_n * 32;
  for (int i = y; i < 32; i += prepare_threads / 32)
    if (row0 + i < k && col0 + x < n) square[i][x] = from[std::size_t(row0 + i) * n + col0 + x];
  __syncthreads();  // the square is complete
  for (int i = y; i < 32; i += prepare_threads / 32)
    if (col0 + i < n && row0 + x < k) to[std::size_t(col0 + i) * k + row0 + x] = Number::round(square[x][i]);
}

// The eight of 16 columns of a row of A that are kept, and where they were: four bits for every four. Of each
// four the two largest are kept, of equal ones the first; a NaN is larger than any number.
template <class Type>
__device__ unsigned prune(const float* from, typename Type::A::Element* to) {
  unsigned metadata = 0;
#pragma unroll
  for (int four = 0; four < 4; ++four) {
    typename Type::A::Element x[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = Type::A::round(from[four * 4 + i]);
    int kept = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int before = 0;  // how many of the others are kept before this one
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const unsigned size = __float_as_uint(fabsf(float(x[i]))),
                       other = __float_as_uint(fabsf(float(x[j])));
        before += j != i && (other > size || (other == size && j < i));
      }
      if (before >= 2) continue;
      metadata |= i << (four * 4 + kept * 2);
      to[four * 2 + kept] = x[i];
      ++kept;
    }
  }
  return metadata;
}

// A thread for every word of metadata: 16 columns of rows g and g + 8 of a tile of 16.
template <class Type>
__global__ void __launch_bounds__(prepare_threads)
    compress(const float* from, typename Type::A::Element* to, unsigned* metadata, int m, int k,
             std::size_t words) {
  const std::size_t i = std::size_t(blockIdx.x) * prepare_threads + threadIdx.x;
  if (i >= words) return;
  const int lane = int(i % 32), blocks = ceil_div(k, 128) * 2;
  const int row0 = int(i / 32 / blocks) * 16 + lane / 4, col = int(i / 32 % blocks) * 64 + lane % 4 * 16;
  unsigned word = first_two_of_four;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row0 + half * 8;
    if (row >= m || col >= k) continue;
    const unsigned mine =
        prune<Type>(from + std::size_t(row) * k + col, to + std::size_t(row) * (k / 2) + col / 2);
    word = (word & ~(0xFFFFu << half * 16)) | mine << half * 16;
  }
  metadata[i] = word;
}

}  // namespace

template <class Type>
cudaError_t prepare(const Gemm& p, cudaStream_t stream) {
  const Workspace<Type> w(p);
  constexpr int most_ctas = 4096;
  auto round = [&]<class Number>(Number, const float* from, typename Number::Element* to, std::size_t count) {
    const std::size_t ctas = (count + prepare_threads - 1) / prepare_threads;
    round_elements<Number>
        <<<unsigned(ctas < most_ctas ? ctas : most_ctas), prepare_threads, 0, stream>>>(from, to, count);
  };
  if constexpr (Type::sparse) {
    const std::size_t words = metadata_at(p.k, ceil_div(p.m, 256) * 16, 0);
    compress<Type><<<unsigned((words + prepare_threads - 1) / prepare_threads), prepare_threads, 0, stream>>>(
        p.typed->a, w.a, w.metadata, p.m, p.k, words);
  } else {
    round(typename Type::A(), p.typed->a, w.a, std::size_t(p.m) * p.k);
  }
  if constexpr (Type::k_major_b) {
    round_transposed<typename Type::B>
        <<<unsigned(ceil_div(p.k, 32)) * unsigned(ceil_div(p.n, 32)), prepare_threads, 0, stream>>>(
            p.typed->b, w.b, p.k, p.n);
  } else {
    round(typename Type::B(), p.typed->b, w.b, std::size_t(p.k) * p.n);
  }
  return cudaGetLastError();
}

}  // namespace ladder::rung_06
