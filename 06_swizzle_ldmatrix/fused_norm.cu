// The sum of squares on tensor cores, fed by ldmatrix: h is kept in shared memory instead of registers, in
// swizzled tiles, and its squares are accumulated from there. The kernel takes as long as before: it is bound
// by memory bandwidth.
#include "common/ptx/ldmatrix.cuh"
#include "common/ptx/mma.cuh"
#include "common/rows/norm.cuh"

namespace ladder::rung_06 {
namespace {

// A tile of h is one warp's: 8 rows of 64 elements, which are 8 chunks of 16 bytes. A row has all 128 bytes
// of the 32 banks, so a column of chunks, which ldmatrix reads as one matrix, lies in the same 4 of them: 8
// wavefronts instead of 1. Swizzled, chunk c of row r lies where chunk c ^ r would: a column covers all
// banks, too.
constexpr int tile_rows = 8, chunks = 8, tile_size = tile_rows * chunks;  // in chunks
constexpr int tile_vectors = tile_size / warp_size;                       // of one thread
enum class Layout { plain, swizzled };

template <Layout layout>
__device__ int chunk_index(int row, int chunk) {
  return row * chunks + (layout == Layout::swizzled ? chunk ^ row : chunk);
}

// Accumulates a tile's sum of squares in the trace of gram. As in 05_mma_sync, H is multiplied by Hᵀ, which
// lies in the same registers, and the diagonal has the squares of each of its 8 rows: first with matrices 0
// and 2, then with 1 and 3. Rows 8 to 15 of gram are not used.
//
// Any 8 chunks could make a matrix here, and the 8 of one row would never conflict. The operands of a GEMM
// leave no such choice, and this tile is stored and read as theirs are.
template <Layout layout>
__device__ void accumulate_squares(float (&gram)[4], const uint4* tile, int lane) {
#pragma unroll
  for (int chunk = 0; chunk < chunks; chunk += 4) {
    const uint4* const row = tile + chunk_index<layout>(lane % tile_rows, chunk + lane / tile_rows);
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
  constexpr bool gamma_early = vectors <= 4;  // 8 vectors would be half of 1024 threads' 64 registers
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= p.rows) return;  // all threads of the row together
  const std::size_t start = std::size_t(row) * p.cols;
  auto column = [&](int v) {
    return (v * int(blockDim.x) + int(threadIdx.x)) * vector;
  };  // of this thread's v-th vector

  extern __shared__ uint4 h[];  // [warp][tile][chunk_index()]
  __shared__ float partial[warp_size];
  const int lane = threadIdx.x % warp_size, warp = (threadIdx.y * blockDim.x + threadIdx.x) / warp_size;
  auto tile = [&](int t) { return h + (warp * tiles + t) * tile_size; };
  // Of this thread's v-th vector. 8 lanes fill a row, and so cover all 32 banks in either layout.
  auto own_chunk = [&](int v) {
    const int in_tile = v % tile_vectors * warp_size + lane;
    return tile(v / tile_vectors) + chunk_index<layout>(in_tile / chunks, in_tile % chunks);
  };

  constexpr int batch = vectors < 4 ? vectors : 4;  // of more there are no registers for x and residual
#pragma unroll
  for (int first = 0; first < vectors; first += batch) {
    uint4 x[batch], residual[batch];
#pragma unroll
    for (int v = 0; v < batch; ++v) {
      x[v] = residual[v] = make_uint4(0, 0, 0, 0);  // past the row's end: its squares are 0
      if (column(first + v) >= p.cols) continue;
      x[v] = load(p.x + start + column(first + v));
      residual[v] = load(p.residual + start + column(first + v));
    }
    __syncwarp();  // else the compiler saves registers, and a load waits for the vector before it
#pragma unroll
    for (int v = 0; v < batch; ++v) *own_chunk(first + v) = add_vector(x[v], residual[v]);
  }

  uint4 gamma[vectors];  // in the registers that h does not need; it arrives during the reduction
  if constexpr (gamma_early) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      if (column(v) < p.cols) gamma[v] = load(p.gamma + column(v));
  }

  __syncwarp();  // the warp's tiles are complete; no other warp reads them, so no barrier of the CTA
  float gram[4] = {};
#pragma unroll
  for (int t = 0; t < tiles; ++t) accumulate_squares<layout>(gram, tile(t), lane);

  const float scale = rsqrtf(row_sum(trace_share(gram, lane), partial) / float(p.cols) + p.eps);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column(v) >= p.cols) break;
    if constexpr (!gamma_early) gamma[v] = load(p.gamma + column(v));
    const uint4 own = *own_chunk(v);  // which this thread wrote itself
    store(p.h + start + column(v), own);
    store(p.y + start + column(v), scale_vector(own, gamma[v], scale));
  }
}

// As many warps per row as `tiles` tiles each need; eight rows to a CTA where that is one warp.
template <int tiles, Layout layout, int most_threads>
cudaError_t launch(const FusedNorm& p, cudaStream_t stream) {
  const int warps = ceil_div(p.cols, tiles * tile_size * vector), rows_per_cta = warps == 1 ? 8 : 1;
  const int bytes = warps * rows_per_cta * tiles * tile_size * int(sizeof(uint4));
  const int all_bytes = bytes + warp_size * int(sizeof(float));  // with partial[]
  auto* kernel = row_in_tiles<tiles, layout, most_threads>;
  if (all_bytes > 48 * 1024) {  // a kernel has more only after cudaFuncSetAttribute()
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

Variants<FusedNorm> fused_norm() {
  return {{.name = "unswizzled",
           .what = "rows as they are: ldmatrix meets 8-way bank conflicts",
           .launch = launch_by_width<Layout::plain>},
          {.name = "swizzle_ldmatrix",
           .what = "h in swizzled tiles, the row sum by ldmatrix and tensor cores",
           .launch = launch_by_width<Layout::swizzled>}};
}

}  // namespace ladder::rung_06
