// What becomes of the sums.
#pragma once

#include "08_warp_specialized/mainloop.cuh"
#include "common/ptx/ldmatrix.cuh"

namespace ladder::rung_08 {

// What a thread's sums are multiplied by, if anything: a row's by the norm's scale, or all by those of A and
// B.
template <class C>
class Scales {
 public:
  // The smaller one first: a sum times both leaves fp32's range on the way only if it does in the end. Their
  // product might be infinite, and 0 times that is no number.
  __device__ void load_of_tensors(const Operands& p) {
    smaller_ = fminf(*p.scale_a, *p.scales_b);
    larger_ = fmaxf(*p.scale_a, *p.scales_b);
  }
  // Of each 64 rows a warp has 16, and a thread two, 8 apart.
  __device__ void load_of_rows(const Operands& p, int first_row) {
#pragma unroll
    for (int i = 0; i < C::rows_each; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first_row + i * mma_m + half * 8 + threadIdx.x % warp_size / 4;
        of_rows_[i][half] = row < p.m ? row_scale(p.norm, row, p.m, p.k) : 0;
      }
    }
  }
  // A sum of the i-th of a thread's pairs of rows.
  __device__ float scaled(float sum, int i, int half) const {
    if constexpr (C::design.scale_rows) sum *= of_rows_[i][half];
    if constexpr (C::tensor_scaled) sum = sum * smaller_ * larger_;
    return sum;
  }

 private:
  float of_rows_[C::rows_each][2], smaller_, larger_;
};

// Sums -> shared -> C. Each warp stores its own 16 rows, 64 columns at a time, through two buffers in turn:
// while TMA reads one, the other is filled. Nobody waits for the last ones before the next tile.
template <class C>
__device__ void store(const float (&sum)[C::rows_each][C::block_n / 8][4], const Scales<C>& scales,
                      unsigned char (&buffers)[2][C::box_c], const Operands& p, int first_row, int first_col,
                      int& turn) {
  const int lane = threadIdx.x % warp_size;
  const int to = lane % 16;  // the row whose address this lane gives to stmatrix
#pragma unroll
  for (int i = 0; i < C::rows_each; ++i) {
#pragma unroll
    for (int box = 0; box < C::block_n * element / row; ++box) {
      const SharedAddress buffer = ptx::shared_address(buffers[turn]);
      const int at_row = first_row + i * mma_m, at_col = first_col + box * row / element;
      if (C::design.tma_store && lane == 0) ptx::bulk_wait_group_read<1>();
      __syncwarp();  // the buffer is free
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        unsigned both[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const float(&from)[4] = sum[i][box * 8 + j + q / 2];
          const __nv_bfloat162 pair = __floats2bfloat162_rn(scales.scaled(from[q % 2 * 2], i, q % 2),
                                                            scales.scaled(from[q % 2 * 2 + 1], i, q % 2));
          both[q] = reinterpret_cast<const unsigned&>(pair);
        }
        ptx::stmatrix_x4(buffer + to * row + (j + lane / 16 ^ to % 8) * 16, both);
      }
      if constexpr (C::design.tma_store) {
        ptx::fence_proxy_async();
        __syncwarp();  // the box is complete
        if (lane == 0) {
          ptx::tma_store(p.map_c, at_col, at_row, buffer);
          ptx::bulk_commit_group();
        }
      } else {
        __syncwarp();  // the box is complete
#pragma unroll
        for (int r = lane / 8; r < 16; r += warp_size / 8) {
          const int chunk = lane % 8, col = at_col + chunk * 8;
          const uint4 bits = *reinterpret_cast<const uint4*>(&buffers[turn][r * row + (chunk ^ r % 8) * 16]);
          if (at_row + r < p.m && col < p.n)
            *reinterpret_cast<uint4*>(p.c + std::size_t(at_row + r) * p.n + col) = bits;
        }
      }
      turn ^= 1;
    }
  }
}

// Split-K: all CTAs of the cluster have sums of the whole tile, each over its part of k. Each sends every
// peer the columns that are the peer's, straight from its registers, and stores its own when all have come.
// They are added in the order of parts: the result does not depend on who comes first.
//
// A CTA waits for what is sent to it, so its shared memory is there as long as anybody sends; and it need not
// wait until its own have landed.
template <class C>
__device__ void combine(const float (&sum)[1][C::block_n / 8][4], const Scales<C>& scales,
                        typename C::Shared& shared, const Operands& p, int part, int first_row, int first_col,
                        int thread) {
  const SharedAddress combined = ptx::shared_address(&shared.combined);
#pragma unroll
  for (int to = 0; to < C::cluster_k; ++to) {
#pragma unroll
    for (int j = 0; j < C::own; ++j) {
      const float(&mine)[4] = sum[0][to * C::own + j];
      float4& slot = shared.out.of_part[part][j][thread];
      if (to != part) {
        ptx::store_async(ptx::shared_address(&slot), mine, combined, to);
      } else {
        slot = make_float4(mine[0], mine[1], mine[2], mine[3]);
      }
    }
  }
  ptx::mbarrier_wait(combined, 0);
  const int at_row = first_row + thread % warp_size / 4;
#pragma unroll
  for (int j = 0; j < C::own; ++j) {
    float4 all{};
#pragma unroll
    for (int from = 0; from < C::cluster_k; ++from) {
      const float4 one = shared.out.of_part[from][j][thread];
      all = {all.x + one.x, all.y + one.y, all.z + one.z, all.w + one.w};
    }
    all = {scales.scaled(all.x, 0, 0), scales.scaled(all.y, 0, 0), scales.scaled(all.z, 0, 1),
           scales.scaled(all.w, 0, 1)};
    const int at_col = first_col + (part * C::own + j) * 8 + thread % 4 * 2;
    auto* const to = reinterpret_cast<__nv_bfloat162*>(p.c + std::size_t(at_row) * p.n + at_col);
    if (at_row < p.m && at_col < p.n) to[0] = __floats2bfloat162_rn(all.x, all.y);
    if (at_row + 8 < p.m && at_col < p.n) to[4 * std::size_t(p.n)] = __floats2bfloat162_rn(all.z, all.w);
  }
}

}  // namespace ladder::rung_08
