// Rows of bf16 that start at any element, where n or k is not a multiple of 8: what the variants any_n_k of
// the rungs have in common. The matrices themselves are aligned to 256 bytes.
#pragma once

#include <cstdint>

#include "common/ptx/cp_async.cuh"
#include "common/rung.h"

namespace ladder::any_rows {

// The most elements, 8, 4, 2 or 1, that are aligned in every row where the rows are `pitch` elements apart.
inline __host__ __device__ int aligned_elements(int pitch) {
  return pitch % 8 == 0 ? 8 : pitch % 4 == 0 ? 4 : pitch % 2 == 0 ? 2 : 1;
}

// Global -> shared, by a CTA: a tile of `rows` x `cols` elements, both even, that begins at an even row and
// column of its matrix. place(row, col) is where an element goes, as a word in shared memory; `aligned` ones
// are neighbours there. Zeros are written past rows_left and cols_left.
//
// `odd`: the pitch is. Then even rows start on a 4-byte boundary, and odd ones between two of them, where
// cp.async cannot begin. Of those a thread loads the two words that an aligned word of the tile lies in; it
// holds them until store(), so that the work in between hides the loads.
template <bool odd, int rows, int cols, int threads>
class TileCopy {
 public:
  template <class Place>
  __device__ void issue(const __nv_bfloat16* from, int pitch, int aligned, int rows_left, int cols_left,
                        Place place) {
    if constexpr (odd)
      issue_odd(from, pitch, rows_left, cols_left, place);
    else if (aligned == 8)
      issue_even<8>(from, pitch, rows_left, cols_left, place);
    else if (aligned == 4)
      issue_even<4>(from, pitch, rows_left, cols_left, place);
    else
      issue_even<2>(from, pitch, rows_left, cols_left, place);
  }

  // Writes what issue() has left in registers.
  template <class Place>
  __device__ void store(Place place) const {
    if constexpr (odd) {
#pragma unroll
      for (int i = 0; i < held_words; ++i)
        *place(first_row_ + i * held_rows + 1, first_col_) = __funnelshift_r(held_[i][0], held_[i][1], 16);
    }
  }

 private:
  // Of the words of an odd row and the even one before it this thread has one each, and in pairs of rows
  // further down.
  static constexpr int words = cols / 2, held_rows = threads / words * 2;
  static constexpr int held_words = odd ? rows / held_rows : 1;
  static_assert(threads % words == 0 && rows % held_rows == 0 && cols % 8 == 0, "all copy as much");
  const int first_row_ = threadIdx.x / words * 2, first_col_ = threadIdx.x % words * 2;
  unsigned held_[held_words][2] = {};

  // A pointer moves on from row to row. The compiler would rather keep the address of every row: the
  // accumulators need those registers.
  static __device__ void advance(const __nv_bfloat16*& pointer, std::size_t elements) {
    pointer += elements;
    asm volatile("" : "+l"(pointer));
  }

  template <int width, class Place>
  __device__ void issue_even(const __nv_bfloat16* from, int pitch, int rows_left, int cols_left,
                             Place place) {
    constexpr int per_row = cols / width, step = threads / per_row;
    const int first_row = threadIdx.x / per_row, col = threadIdx.x % per_row * width;
    from += std::size_t(first_row) * pitch + col;
    rows_left = col < cols_left ? rows_left - first_row : 0;
#pragma unroll
    for (int down = 0; down < rows; down += step) {
      ptx::cp_async<2 * width>(ptx::shared_address(place(first_row + down, col)), from,
                               down < rows_left ? 2 * width : 0);
      advance(from, std::size_t(step) * pitch);
    }
  }

  // A row has an odd number of elements: the last word that an odd row needs ends where the row does.
  template <class Place>
  __device__ void issue_odd(const __nv_bfloat16* from, int pitch, int rows_left, int cols_left, Place place) {
    from += std::size_t(first_row_) * pitch + first_col_;
    cols_left -= first_col_;
    const int present = min(max(cols_left, 0), 2);  // elements
    const int rows_low = present > 0 ? rows_left - first_row_ : 0, rows_high = present > 1 ? rows_low : 0;
#pragma unroll
    for (int i = 0; i < held_words; ++i) {
      const int down = i * held_rows;
      unsigned* const to = place(first_row_ + down, first_col_);
      if (present == 1 && down + 1 == rows_low)  // the matrix's last element: a word would end past it
        *to = *reinterpret_cast<const unsigned short*>(from);
      else
        ptx::cp_async<4>(ptx::shared_address(to), from, down < rows_low ? 2 * present : 0);
      const unsigned* const word = reinterpret_cast<const unsigned*>(from + pitch - 1);
      held_[i][0] = down + 1 < rows_low ? word[0] : 0;
      held_[i][1] = down + 1 < rows_high ? word[1] : 0;
      advance(from, std::size_t(held_rows) * pitch);
    }
  }
};

// A warp stores the first `present` of 64 neighbours of a row of C; lane l has elements 2l and 2l + 1. Words
// of 4 bytes fill 128 bytes together: wider ones would fill no more. In a row that starts between two words,
// those stored are an element further on, and both ends are stored by themselves.
__device__ inline void store_64(__nv_bfloat16* to, unsigned pair, int present) {
  const int first = threadIdx.x % 32 * 2;
  if (reinterpret_cast<std::uintptr_t>(to) % 4 == 0) {
    if (first + 1 < present)
      *reinterpret_cast<unsigned*>(to + first) = pair;
    else if (first < present)
      to[first] = __ushort_as_bfloat16(static_cast<unsigned short>(pair));
  } else {
    const unsigned next = __shfl_down_sync(0xFFFFFFFFu, pair, 1);
    if (first == 0 && present > 0) to[0] = __ushort_as_bfloat16(static_cast<unsigned short>(pair));
    if (first + 2 < min(present, 64))
      *reinterpret_cast<unsigned*>(to + first + 1) = __funnelshift_r(pair, next, 16);
    else if (first + 1 < present)
      to[first + 1] = __ushort_as_bfloat16(static_cast<unsigned short>(pair >> 16));
  }
}

}  // namespace ladder::any_rows
