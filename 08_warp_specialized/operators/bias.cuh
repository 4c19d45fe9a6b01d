// C = f(A·B + bias): the general kernel with another epilogue. Bias and activation are applied to the
// accumulators in registers, before they are rounded: nothing is stored and read again in between. The loads
// of the next tile run meanwhile, as in the rung.
#pragma once

#include "08_warp_specialized/general/kernel.cuh"
#include "08_warp_specialized/operators/activation.cuh"

namespace ladder::rung_08 {

template <class Function>
struct WithBias : general::Bf16 {
  struct Parameters {
    const __nv_bfloat16* bias;
  };

  // A tile's bias, loaded while its last MMAs run, so that nothing waits for it. A lane holds two
  // neighbouring columns of each 64, which is a register for each; the epilogue gets the others by shuffles.
  template <class C>
  struct Scales : general::Bf16::Scales<C> {
    __device__ void load_of_columns(const typename C::Operands& p, int col0) {
#pragma unroll
      for (int box = 0; box < C::block_n / 64; ++box) {
        const int col = col0 + box * 64 + threadIdx.x % warp_size * 2;
        const auto* const from = reinterpret_cast<const unsigned*>(p.extra.bias + col);
        two_columns[box] = col < p.n ? __ldg(from) : 0;  // n is a multiple of 8: both are inside or neither
      }
    }
    // Of this thread's two columns of the j-th 8 of a box: lane i has columns 2i and 2i + 1.
    __device__ float2 bias(int box, int j) const {
      const unsigned both = __shfl_sync(~0u, two_columns[box], j * 4 + threadIdx.x % 4);
      return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(both));
    }

    unsigned two_columns[C::block_n / 64];
  };

  // By a warp: 16 of each 64 rows of a tile whose first column is col0, 64 columns at a time: through two
  // boxes in turn, of which it fills one while TMA reads the other. Bias and activation come box by box, too:
  // those of all columns at once would need more registers than there are.
  template <class C>
  __device__ static void epilogue(general::Accumulator<C>& accumulator, const Scales<C>& scales,
                                  unsigned char (&boxes)[2][C::box_c], const typename C::Operands& p,
                                  int row0, int col0, int& next_box) {
    const bool first_lane = threadIdx.x % warp_size == 0;
#pragma unroll
    for (int box = 0; box < C::block_n / 64; ++box) {
      float2 bias[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) bias[j] = scales.bias(box, j);
#pragma unroll
      for (int i = 0; i < C::rows_each; ++i) {
        activate(accumulator[i], box, bias);
        const SharedAddress to = ptx::shared_address(boxes[next_box]);
        if (first_lane) ptx::bulk_wait_group_read<1>();  // all copies but the newest, the other box's
        __syncwarp();
        general::store_box<C>(accumulator[i], i, box, scales, to);
        ptx::fence_proxy_async();  // threads have written, TMA will read
        __syncwarp();              // the box is complete
        if (first_lane) {
          ptx::tma_store(p.map_c, col0 + box * 64, row0 + i * mma_m, to);
          ptx::bulk_commit_group();
        }
        next_box ^= 1;
      }
    }
  }

  __device__ static void activate(auto& accumulator, int box, const float2 (&bias)[8]) {
    const Function function;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float(&of_rows)[4] = accumulator[box * 8 + j];  // of two rows, 8 apart
#pragma unroll
      for (int half = 0; half < 4; half += 2) {
        of_rows[half] = function(of_rows[half] + bias[j].x);
        of_rows[half + 1] = function(of_rows[half + 1] + bias[j].y);
      }
    }
  }
};

}  // namespace ladder::rung_08
