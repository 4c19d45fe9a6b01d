// Long rows: a cluster holds a row's h in shared memory, up to a million columns, and stays for many rows. A
// row's y goes out while the next row comes in, vector by vector and at the same place: the SM reads and
// writes at the same time, and only the sum over the cluster is waited for.
//
// All of a vector is done by one thread: it copies x and residual into its part of a ring buffer, stages
// ahead, and waits for its own copies. Only the sums need barriers.
#pragma once

#include <algorithm>

#include "08_warp_specialized/norm_shapes/unaligned.cuh"
#include "common/ptx/cluster.cuh"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mbarrier.cuh"

namespace ladder::rung_08::norm_shapes {

// A CTA has up to `share` vectors of a row, and as much of kept[]; cols is at most cluster · share · 8, less
// 7 where rows are not aligned.
template <int cluster, int stages, int most_threads, bool aligned>
__global__ void __launch_bounds__(most_threads, 1024 / most_threads)
    rows_through_shared(FusedNorm p, int share) {
  extern __shared__ uint4 kept[];          // h of the CTA's part of the row, then the ring buffer
  __shared__ float partial[2][warp_size];  // of the warps; by turns, as sums[] and arrived[]
  __shared__ float sums[2][cluster];       // of the cluster's CTAs
  __shared__ ptx::Mbarrier arrived[2];     // a phase completes when sums[] have arrived
  __shared__ ptx::Mbarrier all_read;       // a phase completes when every CTA has read the sums of a row
  const int threads = blockDim.x, steps = ceil_div(share, threads);
  auto arm = [&](int turn) {
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived[turn]), sizeof sums[turn]);
  };
  if (threadIdx.x == 0) {
    for (int turn = 0; turn < 2; ++turn) {
      ptx::mbarrier_init(ptx::shared_address(&arrived[turn]), 1);
      arm(turn);
    }
    ptx::mbarrier_init(ptx::shared_address(&all_read), cluster);
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_arrive_relaxed();

  const int rank = ptx::cluster_rank(), clusters = int(gridDim.x) / cluster;
  auto place = [&](int step) { return step * threads + int(threadIdx.x); };  // in the CTA's part
  auto index = [&](int step) { return rank * share + place(step); };         // in the row
  auto there = [&](const Row& row, int step) {
    return place(step) < share && index(step) < (aligned ? p.cols / vector : row.vectors);
  };

  // The ring buffer, [stage][x, residual][thread].
  uint4* const ring = kept + share;
  auto slot = [&](int stage) { return ring + stage * 2 * threads + int(threadIdx.x); };
  int stage = 0, next_row = int(blockIdx.x) / cluster, next_step = 0;
  auto copy_next = [&](int to_stage) {
    if (next_row < p.rows) {
      const Row row(p, next_row, aligned);
      if (there(row, next_step)) {
        const std::size_t at = row.at(index(next_step));
        uint4* const to = slot(to_stage);
        if (aligned || of_matrix(row, index(next_step)).whole()) {
          ptx::cp_async_16(ptx::shared_address(to), p.x + at);
          ptx::cp_async_16(ptx::shared_address(to + threads), p.residual + at);
        } else {  // the last vector of the matrix
          to[0] = load_cut(p.x + at, of_matrix(row, index(next_step)));
          to[threads] = load_cut(p.residual + at, of_matrix(row, index(next_step)));
        }
      }
      if (++next_step == steps) {
        next_step = 0;
        next_row += clusters;
      }
    }
    ptx::cp_async_commit_group();  // or an empty one: the wait counts them
  };
  for (int s = 0; s < stages - 1; ++s) copy_next(s);
  ptx::cluster_wait();  // every CTA has initialised its barriers

  GammaVectors gamma{};  // of the next vector of y
  float scale = 0;       // of the row before
  int count = 0;         // rows done
  for (int r = int(blockIdx.x) / cluster;; r += clusters) {
    const bool more = r < p.rows;  // after the last row, only y goes out
    const bool before = r >= clusters;
    const Row row(p, r, aligned), row_before(p, r - clusters, aligned);
    float squares = 0;
    for (int step = 0; step < steps; ++step) {
      const bool y_there = before && there(row_before, step);
      uint4 y = make_uint4(0, 0, 0, 0);
      if (y_there) y = scale_vector(kept[place(step)], gamma.of_row(row_before), scale);
      if (before && step + 1 < steps && there(row_before, step + 1))
        gamma = GammaVectors(p, row_before, index(step + 1), aligned);
      if (more) {
        ptx::cp_async_wait_group<stages - 2>();
        if (there(row, step)) {
          const uint4 x = slot(stage)[0], residual = slot(stage)[threads];
          uint4 h;
          if constexpr (aligned) {
            h = add_vector(x, residual, squares);
            store(p.h + row.at(index(step)), h);
          } else {
            h = add_cut(x, residual, of_row(p, row, index(step)), squares);
            if (row.column(index(step)) >= 0)
              store_cut(p.h + row.at(index(step)), h, of_matrix(row, index(step)));
          }
          kept[place(step)] = h;
        }
        copy_next(stage == 0 ? stages - 1 : stage - 1);  // the stage of the step before
        stage = stage == stages - 1 ? 0 : stage + 1;
      }
      if (y_there) {
        __nv_bfloat16* const to = p.y + row_before.at(index(step));
        if constexpr (aligned) {
          store(to, y);
        } else {
          store_cut(to, y, of_row(p, row_before, index(step)));
        }
      }
    }
    if (!more) break;
    if (there(row, 0)) gamma = GammaVectors(p, row, index(0), aligned);
    const int turn = count % 2;
    const float of_cta = row_sum(squares, partial[turn]);
    const ptx::SharedAddress barrier = ptx::shared_address(&arrived[turn]);
    if (threadIdx.x < cluster) {
      // sums[turn] of the peers was read two rows ago.
      if (count >= 2) ptx::mbarrier_wait(ptx::shared_address(&all_read), turn);
      ptx::store_async(ptx::shared_address(&sums[turn][rank]), of_cta, barrier, threadIdx.x);
    }
    ptx::mbarrier_wait(barrier, count / 2 % 2);
    if (threadIdx.x == 0) arm(turn);
    float sum = 0;
#pragma unroll
    for (float one : sums[turn]) sum += one;  // in the same order in every CTA
    scale = rsqrtf(sum / float(p.cols) + p.eps);
    // Since the __syncthreads() of this row, all threads have read the sums of the row before, and thread 0
    // has armed their barrier. After the last row no CTA waits for that, so none is told: it may have exited.
    if (count >= 1 && r + clusters < p.rows && threadIdx.x < cluster)
      ptx::mbarrier_arrive(ptx::shared_address(&all_read), threadIdx.x);
    ++count;
  }
}

// As many clusters as run at once, with the same number of rows each.
template <int cluster, int stages, int most_threads, bool aligned>
cudaError_t launch_through_shared(const FusedNorm& p, cudaStream_t stream) {
  constexpr int line_vectors = 8;  // of 128 bytes
  auto* kernel = rows_through_shared<cluster, stages, most_threads, aligned>;
  const int most_vectors = aligned ? p.cols / vector : ceil_div(p.cols + vector - 1, vector);
  const int share = ceil_div(ceil_div(most_vectors, cluster), line_vectors) * line_vectors;
  const int steps = ceil_div(share, most_threads);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = cluster;
  config.blockDim = ceil_div(ceil_div(share, steps), warp_size) * warp_size;
  config.dynamicSmemBytes = (share + stages * 2 * config.blockDim.x) * sizeof(uint4);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(config.dynamicSmemBytes));
  if (error == cudaSuccess && cluster > 8)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  int at_once = 0;
  if (error == cudaSuccess) error = cudaOccupancyMaxActiveClusters(&at_once, kernel, &config);
  if (error != cudaSuccess) return error;
  if (at_once == 0) return cudaErrorInvalidConfiguration;
  config.gridDim = unsigned(ceil_div(p.rows, ceil_div(p.rows, at_once))) * cluster;
  return cudaLaunchKernelEx(&config, kernel, p, share);
}

}  // namespace ladder::rung_08::norm_shapes
