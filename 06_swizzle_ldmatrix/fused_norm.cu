// The row sum on tensor cores, fed by ldmatrix: h waits in shared memory instead of registers, in swizzled
// tiles, and its sum of squares is taken from there. The sum gets no faster, and the kernel takes as long as
// before: it waits for memory.
#include "06_swizzle_ldmatrix/norm_vectors.cuh"
#include "06_swizzle_ldmatrix/variants.h"
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"

namespace ladder::rung_06 {
namespace {

// The sum over the threads of a row: blockDim.x of them, a warp or the whole CTA, which has up to 32 warps.
__device__ float row_sum(float value) {
  value = warp_sum(value);
  if (blockDim.x == warp_size) return value;
  __shared__ float partial[warp_size];
  const int lane = threadIdx.x % warp_size;
  if (lane == 0) partial[threadIdx.x / warp_size] = value;
  __syncthreads();  // partial[] is complete
  return warp_sum(lane < int(blockDim.x) / warp_size ? partial[lane] : 0.0f);
}

// A tile of h is one warp's: 8 rows of 64 elements, which are 8 chunks of 16 bytes. A row has all 128 bytes
// of the 32 banks, so a column of chunks, which ldmatrix reads as one matrix, lies in the same 4 of them: 8
// wavefronts instead of 1. Swizzled, chunk c of row r is in place c ^ r: a column, too, meets all banks.
constexpr int tile_rows = 8, chunks = 8, tile_size = tile_rows * chunks;  // in chunks
constexpr int tile_vectors = tile_size / warp_size;                       // of one thread
enum class Layout { plain, swizzled };

template <Layout layout>
__device__ int place(int row, int chunk) {
  return row * chunks + (layout == Layout::swizzled ? chunk ^ row : chunk);
}

// Adds a tile's sum of squares to the trace of gram. As in 05_mma_sync, H meets Hᵀ, which lies in the same
// registers, and each of its 8 rows meets itself on the diagonal: first with matrices 0 and 2, then with 1
// and 3. Rows 8 to 15 of gram do not count.
//
// A sum does not mind which chunks make a column: the 8 of one row would never conflict. The operands of a
// GEMM leave no such choice, and this tile is stored and read as theirs are.
template <Layout layout>
__device__ void add_squares(float (&gram)[4], const uint4* tile, int lane) {
#pragma unroll
  for (int chunk = 0; chunk < chunks; chunk += 4) {
    const uint4* const row = tile + place<layout>(lane % tile_rows, chunk + lane / tile_rows);
    unsigned h[4];
    ptx::ldmatrix_x4(h, ptx::shared_address(row));
    ptx::mma_m16n8k16(gram, h, {h[0], h[2]});
    ptx::mma_m16n8k16(gram, {h[1], h[0], h[3], h[2]}, {h[1], h[3]});
  }
}

// This lane's share of the trace: it has row g, columns 2t and 2t+1.
__device__ float trace_share(const float (&gram)[4], int lane) {
  const int g = lane / 4, t = lane % 4;
  return g == 2 * t ? gram[0] : g == 2 * t + 1 ? gram[1] : 0.0f;
}

// A row is blockDim.x threads with `tiles` tiles per warp; blockDim.y rows share a CTA where a row is one
// warp's. cols is a multiple of 8 and at most blockDim.x · tiles · 16. From the last read to the first write
// h is in shared memory, 2 bytes per element: 16 KiB for 8192 columns.
template <int tiles, Layout layout, int most_threads>
__global__ void __launch_bounds__(most_threads) row_in_tiles(FusedNorm p) {
  constexpr int vectors = tiles * tile_vectors;
  constexpr bool gamma_early = vectors <= 4;  // of 1024 threads' 64 registers, 8 vectors would be half
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) {
    return (v * int(blockDim.x) + int(threadIdx.x)) * vector;
  };  // of this thread's v-th vector

  extern __shared__ uint4 h[];  // [warp][tile][place]
  const int lane = threadIdx.x % warp_size, warp = (threadIdx.y * blockDim.x + threadIdx.x) / warp_size;
  auto tile = [&](int t) { return h + (warp * tiles + t) * tile_size; };
  // Of this thread's v-th vector. 8 lanes fill a row, and so meet all 32 banks in either layout.
  auto slot = [&](int v) {
    const int in_tile = v % tile_vectors * warp_size + lane;
    return tile(v / tile_vectors) + place<layout>(in_tile / chunks, in_tile % chunks);
  };

  constexpr int batch = vectors < 4 ? vectors : 4;  // of more there are no registers for x and residual
#pragma unroll
  for (int first = 0; first < vectors; first += batch) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int v = 0; v < batch; ++v) {
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);  // past the row's end: adds nothing to the sum
      if (column(first + v) >= p.cols) continue;
      x[v] = load(p.x + start + column(first + v));
      residual[v] = load(p.residual + start + column(first + v));
    }
    __syncwarp();  // or the compiler saves registers: waits for one vector before it reads the next
#pragma unroll
    for (int v = 0; v < batch; ++v) *slot(first + v) = add_vector(x[v], residual[v]);
  }

  uint4 gamma[vectors];  // in the registers that h does not need; it arrives during the reduction
  if constexpr (gamma_early) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
  }

  __syncwarp();  // the warp's tiles are complete; no other warp reads them, so the CTA need not wait
  float gram[4] = {};
#pragma unroll
  for (int t = 0; t < tiles; ++t) add_squares<layout>(gram, tile(t), lane);

  const float scale = rsqrtf(row_sum(trace_share(gram, lane)) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if constexpr (!gamma_early) gamma[v] = load(p.gamma + column(v));
    const uint4 own = *slot(v);  // which this thread wrote itself
    store(p.h + start + column(v), own);
    store(p.y + start + column(v), scale_vector(own, gamma[v], scale));
  }
}

// Any width, one row per CTA: for rows too long for shared memory, and for widths that are no multiple of 8,
// where rows start anywhere: those go by single elements. h is read back from L2; FMAs make the sum.
constexpr int any_width_threads = 512;
__global__ void __launch_bounds__(any_width_threads) row_of_any_width(FusedNorm p) {
  constexpr int threads = any_width_threads;
  const std::size_t start = std::size_t(blockIdx.x) * p.cols;
  const int in_vectors = p.cols % vector == 0 ? p.cols : 0;  // columns that vectors take, the rest are single

  float squares = 0;
  for (int col = threadIdx.x * vector; col < in_vectors; col += threads * vector) {
    const uint4 h = add_vector(load(p.x + start + col), load(p.residual + start + col));
    store(p.h + start + col, h);
    for (const unsigned pair : {h.x, h.y, h.z, h.w})
      squares += low_half(pair) * low_half(pair) + high_half(pair) * high_half(pair);
  }
  for (int col = in_vectors + threadIdx.x; col < p.cols; col += threads) {
    const float sum = __bfloat162float(p.x[start + col]) + __bfloat162float(p.residual[start + col]);
    p.h[start + col] = __float2bfloat16_rn(sum);
    squares += __bfloat162float(p.h[start + col]) * __bfloat162float(p.h[start + col]);
  }

  const float scale = rsqrtf(row_sum(squares) / float(p.cols) + p.eps);
  for (int col = threadIdx.x * vector; col < in_vectors; col += threads * vector)
    store(p.y + start + col, scale_vector(load(p.h + start + col), load(p.gamma + col), scale));
  for (int col = in_vectors + threadIdx.x; col < p.cols; col += threads) {
    const float h = __bfloat162float(p.h[start + col]);
    p.y[start + col] = __float2bfloat16_rn(h * scale * __bfloat162float(p.gamma[col]));
  }
}

cudaError_t launch_any_width(const FusedNorm& p, cudaStream_t stream) {
  row_of_any_width<<<p.rows, any_width_threads, 0, stream>>>(p);
  return cudaGetLastError();
}

// As many warps per row as `tiles` tiles each need; eight rows to a CTA where that is one warp.
template <int tiles, Layout layout, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int warps = ceil_div(p.cols, tiles * tile_size * vector), rows_per_cta = warps == 1 ? 8 : 1;
  const int bytes = warps * rows_per_cta * tiles * tile_size * int(sizeof(uint4));
  const int all_bytes = bytes + warp_size * int(sizeof(float));  // with partial[]
  auto* kernel = row_in_tiles<tiles, layout, most_threads>;
  if (all_bytes > 48 * 1024) {  // more must be asked for
    int device, limit;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error == cudaSuccess && all_bytes > limit) return launch_any_width(p, stream);
    if (error == cudaSuccess)
      error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
  }
  kernel<<<ceil_div(p.rows, rows_per_cta), dim3(warps * warp_size, rows_per_cta), bytes, stream>>>(p);
  return cudaGetLastError();
}

// Few tiles per warp, so that several CTAs fit on an SM and one reads while another reduces; up to 32 warps.
template <Layout layout>
cudaError_t launch_by_width(const FusedNorm& p, cudaStream_t stream) {
  constexpr int tile_columns = tile_size * vector;  // of one warp: 512
  if (p.cols % vector != 0 || p.cols > 32 * 4 * tile_columns) return launch_any_width(p, stream);
  if (p.cols <= 1 * tile_columns) return launch<1, layout, 256>(p, stream);
  if (p.cols <= 2 * tile_columns) return launch<2, layout, 256>(p, stream);
  if (p.cols <= 16 * 1 * tile_columns) return launch<1, layout, 512>(p, stream);
  if (p.cols <= 32 * 2 * tile_columns) return launch<2, layout, 1024>(p, stream);
  return launch<4, layout, 1024>(p, stream);
}

}  // namespace

cudaError_t fused_norm_unswizzled(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<Layout::plain>(p, stream);
}
cudaError_t fused_norm_swizzle_ldmatrix(const FusedNorm& p, cudaStream_t stream) {
  return launch_by_width<Layout::swizzled>(p, stream);
}

}  // namespace ladder::rung_06
