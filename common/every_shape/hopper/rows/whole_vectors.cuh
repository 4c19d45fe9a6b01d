// Rows that start anywhere, in whole vectors. x, residual, h and y share their alignment, so nearly all of a
// row is whole vectors of each. What is left lies at its two ends, and the threads of one warp have an
// element each: no vector is looked at to see whether it is cut. Only gamma is aligned otherwise than the
// row.
#pragma once

#include <climits>

#include "common/rows/norm.cuh"

namespace ladder::every_shape::norm_rows {

constexpr int line = 64;  // elements in 128 bytes

// A row's vectors are counted from the 128-byte line that it starts in, so warps can access whole lines.
struct WholeVectors {
  std::size_t start;  // the row's first element
  int begin, end;     // the vectors that are wholly in the row, and whose gamma lies in whole vectors

  // Up to `most` vectors.
  __device__ WholeVectors(const FusedNorm& p, int row, int most = INT_MAX)
      : start(std::size_t(row) * p.cols) {
    begin = ceil_div(shift(), vector);
    end = shift() / vector + p.cols / vector;
    if (end - begin > most) end = begin + most;
  }
  __device__ int shift() const { return start % line; }  // elements from the line's first to the row's
  __device__ std::size_t at(int v) const { return start - shift() + std::size_t(v) * vector; }
  // The vector of gamma for the last elements of vector v. The first `by` of them take the one before it.
  __device__ int gamma(int v) const { return v - shift() / vector; }
  __device__ int by() const { return start % vector; }
};

// As many vectors as a row of any start may touch.
inline int most_vectors(const FusedNorm& p) {
  return p.cols % line == 0 ? p.cols / vector : ceil_div(p.cols + line - 1, vector);
}

// This many vectors, or a few more: whole lines.
inline int whole_lines(int vectors) {
  constexpr int of_line = line / vector;
  return ceil_div(vectors, of_line) * of_line;
}
// Vectors of a part, where a row is cut into `parts`.
inline int share_of(const FusedNorm& p, int parts) {
  return whole_lines(ceil_div(most_vectors(p), parts));
}

// The element at the row's ends that a lane has, if there is one: up to 7 before the whole vectors, and up to
// 24 after them.
struct End {
  int at = -1;  // in the row; -1: none
  __nv_bfloat16 x, residual;
  float h, gamma;

  __device__ End(const FusedNorm& p, const WholeVectors& row, bool has_ends) {
    const int lane = threadIdx.x % warp_size;
    const int before = row.begin * vector - row.shift(), after = row.end * vector - row.shift();
    if (has_ends && lane < before) at = lane;
    if (has_ends && lane >= vector && after + lane - vector < p.cols) at = after + lane - vector;
    if (at < 0) return;
    x = p.x[row.start + at];
    residual = p.residual[row.start + at];
  }
  // Returns the square of h. An addition in the constructor would keep loads after it waiting.
  __device__ float add(const FusedNorm& p) {
    if (at < 0) return 0;
    gamma = __bfloat162float(p.gamma[at]);
    h = __bfloat162float(__hadd(x, residual));
    return h * h;
  }
  __device__ void store_h(const FusedNorm& p, const WholeVectors& row) const {
    if (at >= 0) p.h[row.start + at] = __float2bfloat16_rn(h);
  }
  __device__ void store_y(const FusedNorm& p, const WholeVectors& row, float scale) const {
    if (at >= 0) p.y[row.start + at] = __float2bfloat16_rn(h * scale * gamma);
  }
};

// h = x + residual, two elements with one instruction: a sum of two bf16, rounded to bf16, is the same
// whether it is rounded to fp32 before or not. The squares are accumulated.
__device__ inline unsigned add_two(unsigned x, unsigned residual, float& squares) {
  auto pair = [](unsigned bits) { return reinterpret_cast<const __nv_bfloat162&>(bits); };
  const __nv_bfloat162 sum = __hadd2(pair(x), pair(residual));
  const unsigned h = reinterpret_cast<const unsigned&>(sum);
  squares += low_half(h) * low_half(h);
  squares += high_half(h) * high_half(h);
  return h;
}
__device__ inline uint4 add_whole(uint4 x, uint4 residual, float& squares) {
  return make_uint4(add_two(x.x, residual.x, squares), add_two(x.y, residual.y, squares),
                    add_two(x.z, residual.z, squares), add_two(x.w, residual.w, squares));
}

// The last `by` elements of `low` and the first of `high`, by a select for each bit of `by`.
__device__ inline uint4 shifted(uint4 low, uint4 high, int by) {
  const bool by_4 = by & 4, by_2 = by & 2;
  const unsigned halves = by & 1 ? 0x5432 : 0x7654;  // of a pair of words: the middle, or the upper word
  // From `two` elements before the result to its end: as many words fewer with each step.
  const unsigned all[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  unsigned six[6], five[5], four[4];
#pragma unroll
  for (int i = 0; i < 6; ++i) six[i] = by_4 ? all[i] : all[i + 2];
#pragma unroll
  for (int i = 0; i < 5; ++i) five[i] = by_2 ? six[i] : six[i + 1];
#pragma unroll
  for (int i = 0; i < 4; ++i) four[i] = __byte_perm(five[i], five[i + 1], halves);
  return make_uint4(four[0], four[1], four[2], four[3]);
}

// The vectors that a lane has of its warp's part of a row, 32 apart.
struct OfLane {
  int first;   // in the row
  int before;  // from there to the row's first whole one; above 0 the lane has none at v = 0
  int left;    // and to the end of the part

  __device__ OfLane(const WholeVectors& row, int first_of_warp, int end_of_part)
      : first(first_of_warp + int(threadIdx.x) % warp_size),
        before(row.begin - first),
        left(min(row.end, end_of_part) - first) {}
  __device__ bool has(int v) const { return v * warp_size < left && (v > 0 || before <= 0); }
  // From the first element of the lane's first vector to that of its v-th.
  __device__ static constexpr int next(int v) { return v * warp_size * vector; }

  // x and residual, from `at`; 0 where there is none.
  template <int vectors>
  __device__ void load(const FusedNorm& p, std::size_t at, uint4 (&x)[vectors],
                       uint4 (&residual)[vectors]) const {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);
      if (!has(v)) continue;
      x[v] = ladder::load(p.x + at + next(v));
      residual[v] = ladder::load(p.residual + at + next(v));
    }
  }
};

// gamma for them. A vector of the row lies in two of gamma: a lane loads the upper one, and the lower one
// comes from the lane before.
template <int vectors>
struct GammaOfLane {
  uint4 own[vectors];
  uint4 before = make_uint4(0, 0, 0, 0);  // lane 31: the lower one of lane 0's first
  int by;

  __device__ GammaOfLane(const FusedNorm& p, const WholeVectors& row, const OfLane& part) : by(row.by()) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) own[v] = make_uint4(0, 0, 0, 0);
    // A branch: it keeps the loads of x and residual ahead of it, and additions after it. With fewer vectors
    // the compiler's own order is faster.
    if (vectors > 2 && !__any_sync(0xFFFFFFFFu, part.left > 0)) return;
    const __nv_bfloat16* const from = p.gamma + row.gamma(part.first) * vector;
    const int most_before = by > 0;  // a lane may have none but for the next lane
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (v * warp_size < part.left && (v > 0 || part.before <= most_before))
        own[v] = load(from + v * warp_size * vector);
    constexpr int last = warp_size - 1;
    if (by > 0 && threadIdx.x % warp_size == last && part.before + last <= 0 && part.left + last > 0)
      before = load(from - warp_size * vector);
  }
  // own[v] becomes the eight elements for the v-th vector. A whole warp.
  __device__ void align() {
    const int lane = threadIdx.x % warp_size, lane_before = (lane + warp_size - 1) % warp_size;
    auto received = [&](unsigned word) { return __shfl_sync(0xFFFFFFFFu, word, lane_before); };
#pragma unroll
    for (int v = vectors - 1; v >= 0; --v) {
      const uint4 for_lane_0 = v > 0 ? own[v - 1] : before;
      const uint4 sent = lane < warp_size - 1 ? own[v] : for_lane_0;
      const uint4 lower = make_uint4(received(sent.x), received(sent.y), received(sent.z), received(sent.w));
      own[v] = shifted(lower, own[v], by);
    }
  }
};

}  // namespace ladder::every_shape::norm_rows
