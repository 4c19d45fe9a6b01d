// Any n and k. TMA only takes matrices whose rows are multiples of 16 bytes: A is copied into padded rows
// first where k is not a multiple of 8, and B where n is not; that is part of the launch, and of its time. C
// is stored by threads, in words.
#include "common/every_shape/hopper/any_n_k.h"
#include "common/every_shape/hopper/by_shape.cuh"
#include "common/extension.h"
#include "common/rows/any_rows.cuh"
#include "common/rows/padded_rows.cuh"

namespace ladder::every_shape {
namespace {

using ptx::Swizzle, rung_08::warp_size;

// In the workspace: A, if its rows need it, then B.
bool pads_a(const Gemm& p) {
  return p.k % 8 != 0;
}
bool pads_b(const Gemm& p) {
  return p.n % 8 != 0;
}
std::size_t bytes_of_a(const Gemm& p) {
  return pads_a(p) ? padded_rows::bytes_of(p.m, p.k) : 0;
}
struct AnyNK : general::Bf16 {
  struct Parameters {
    int pitch_a, pitch_b;
  };

  template <class C>
  static cudaError_t map_operands(typename C::Operands* p, const Gemm& gemm) {
    const cudaError_t error = ptx::make_tensor_map(&p->map_a, gemm.a, p->m, p->k, C::share_a, C::block_k,
                                                   Swizzle::bytes128, p->extra.pitch_a);
    if (error != cudaSuccess) return error;
    return ptx::make_tensor_map(&p->map_b, gemm.b, p->k, p->n, C::block_k, C::box_n, Swizzle::bytes128,
                                p->extra.pitch_b);
  }
  template <class C>
  static cudaError_t map_output(typename C::Operands*, const Gemm&) {
    return cudaSuccess;
  }

  // A warp's 16 rows, 64 columns at a time, through a box in shared memory: a lane stores a word of each row.
  template <class C>
  __device__ static void epilogue(const general::Accumulator<C>& accumulator, const auto& scales,
                                  unsigned char (&boxes)[2][C::box_c], const typename C::Operands& p,
                                  int row0, int col0, int& next_box) {
    const int lane = threadIdx.x % warp_size;
#pragma unroll
    for (int box = 0; box < C::block_n / 64; ++box) {
      __syncwarp();  // the warp has read what the box held before
      general::store_box<C>(accumulator[0], 0, box, scales, ptx::shared_address(boxes[next_box]));
      __syncwarp();  // the box is complete
      const int col = col0 + box * 64;
#pragma unroll
      for (int r = 0; r < 16; ++r) {
        const int chunk = lane / 4 ^ r % 8;
        const unsigned pair =
            *reinterpret_cast<const unsigned*>(&boxes[next_box][r * C::row + chunk * 16 + lane % 4 * 4]);
        if (row0 + r < p.m && col < p.n)
          any_rows::store_64(p.c + std::size_t(row0 + r) * p.n + col, pair, p.n - col);
      }
      next_box ^= 1;
    }
  }
};

}  // namespace

std::size_t workspace_of_padding(const Gemm& p) {
  return bytes_of_a(p) + (pads_b(p) ? padded_rows::bytes_of(p.k, p.n) : 0);
}

cudaError_t launch_padded(const Gemm& p, cudaStream_t stream) {
  Gemm padded = p;
  auto* const workspace = static_cast<unsigned char*>(p.typed->workspace);
  cudaError_t error = cudaSuccess;
  if (pads_a(p)) {
    auto* const a = reinterpret_cast<__nv_bfloat16*>(workspace);
    error = padded_rows::launch(padded_rows::pad_kernel, p.a, a, p.m, p.k, stream);
    padded.a = a;
  }
  if (error == cudaSuccess && pads_b(p)) {
    auto* const b = reinterpret_cast<__nv_bfloat16*>(workspace + bytes_of_a(p));
    error = padded_rows::launch(padded_rows::pad_kernel, p.b, b, p.k, p.n, stream);
    padded.b = b;
  }
  if (error != cudaSuccess) return error;
  return launch_by_shape<AnyNK, tile_64x64, tile_128x128, tile_128x256>(
      padded, stream,
      {pads_a(p) ? padded_rows::pitch_of(p.k) : p.k, pads_b(p) ? padded_rows::pitch_of(p.n) : p.n});
}

Text kernel_of_padded(const Gemm& p) {
  Text name("padded rows, ");
  name.append(kernel_by_shape<AnyNK, tile_64x64, tile_128x128, tile_128x256>(p).c_str());
  return name;
}

}  // namespace ladder::every_shape
