// Rows that start anywhere: cols is not a multiple of 8. x, residual, h and y share their alignment, so a row
// is cut at the 16-byte boundaries of the matrix. Its first and its last vector may lie half in a
// neighbouring row: they are read whole, as all others, and what is not of the row is left out of the sum. h
// does not depend on the row, so a vector of h is stored whole, by the row of its first element.
#pragma once

#include "common/every_shape/hopper/rows/whole_vectors.cuh"
#include "common/ptx/predicated_store.cuh"

namespace ladder::every_shape::norm_rows {

// Where row `index` lies among the matrix's vectors.
struct Row {
  std::size_t start;   // the element at the boundary at or before the row's first
  std::size_t matrix;  // elements of the matrix
  int shift;           // elements from `start` to the row's first
  int vectors;         // of the row, the cut ones included

  __device__ Row(const FusedNorm& p, int index) {
    const std::size_t first = std::size_t(index) * p.cols;
    shift = first % vector;
    start = first - shift;
    matrix = std::size_t(p.rows) * p.cols;
    vectors = (shift + p.cols - 1) / vector + 1;
  }
  __device__ std::size_t at(int v) const { return start + std::size_t(v) * vector; }
  __device__ int column(int v) const { return v * vector - shift; }  // of its first element; may be negative
};

// Which of eight elements exist: those from `begin` to `end`.
struct Cut {
  int begin, end;
  __device__ bool whole() const { return begin <= 0 && end >= vector; }
  __device__ bool has(int i) const { return begin <= i && i < end; }
};

__device__ inline Cut of_row(const FusedNorm& p, const Row& row, int v) {
  return {-row.column(v), p.cols - row.column(v)};
}
// Of a vector of x or of h, all is read or stored but what lies past the matrix.
__device__ inline Cut of_matrix(const Row& row, int v) {
  return {0, row.matrix - row.at(v) < vector ? int(row.matrix - row.at(v)) : vector};
}

// Each of a vector's words by f(word, index of its first element).
template <class F>
__device__ uint4 each_word(uint4 bits, const F& f) {
  return make_uint4(f(bits.x, 0), f(bits.y, 2), f(bits.z, 4), f(bits.w, 6));
}

// The rest is 0.
__device__ inline uint4 keep(uint4 bits, Cut cut) {
  return each_word(bits, [&](unsigned word, int i) {
    return word & ((cut.has(i) ? 0xFFFFu : 0) | (cut.has(i + 1) ? 0xFFFF0000u : 0));
  });
}

// `from` is aligned. Elements that are not there are not read. In a kernel's loop over its vectors this
// branch would come between the loads: there, whole vectors are loaded first, and the one that is cut later.
__device__ inline uint4 load_cut(const __nv_bfloat16* from, Cut cut) {
  if (cut.whole()) return load(from);
  auto bits = [&](int i) { return cut.has(i) ? unsigned(__bfloat16_as_ushort(from[i])) : 0u; };
  return each_word(make_uint4(0, 0, 0, 0), [&](unsigned, int i) { return bits(i) | bits(i + 1) << 16; });
}

// The same for a store. (A plain `if` around a store of whole vectors would not do: the compiler takes it
// apart, to share its words with the stores of single ones.)
__device__ inline void store_cut(__nv_bfloat16* to, uint4 bits, Cut cut) {
  ptx::store_16_bytes_if(cut.whole(), to, bits);
  if (cut.whole()) return;
  each_word(bits, [&](unsigned word, int i) {
    if (cut.has(i) && cut.has(i + 1)) {
      *reinterpret_cast<unsigned*>(to + i) = word;
    } else if (cut.has(i)) {
      to[i] = __ushort_as_bfloat16(word & 0xFFFF);
    } else if (cut.has(i + 1)) {
      to[i + 1] = __ushort_as_bfloat16(word >> 16);
    }
    return word;
  });
}

// Adds the squares of the elements that exist.
__device__ inline uint4 add_cut(uint4 x, uint4 residual, Cut cut, float& squares) {
  if (cut.whole()) return add_vector(x, residual, squares);
  const uint4 h = add_vector(x, residual);
  add_vector(keep(h, cut), make_uint4(0, 0, 0, 0), squares);
  return h;
}

// Eight elements of gamma, for a row's vector, lie in two vectors of gamma. Those outside the row are not
// read.
__device__ inline uint4 load_gamma(const FusedNorm& p, const Row& row, int v) {
  const int column = v * vector;  // of the upper of the two
  uint4 low = make_uint4(0, 0, 0, 0), high = low;
  if (row.shift > 0 && v > 0) low = load_cut(p.gamma + column - vector, Cut{0, p.cols - column + vector});
  if (column < p.cols) high = load_cut(p.gamma + column, Cut{0, p.cols - column});
  return shifted(low, high, row.shift);
}

}  // namespace ladder::every_shape::norm_rows
