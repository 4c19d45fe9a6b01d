// Long rows, of a multiple of 8 columns: a cluster holds a row's h in shared memory, and stays for many rows.
// A row's y goes out while the next row comes in, vector by vector and at the same place: the SM reads and
// writes at the same time, and only the sum over the cluster is waited for.
//
// All of a vector is done by one thread: it copies x and residual into its part of a ring buffer, stages
// ahead, and waits for its own copies. Only the sums need barriers.
#pragma once

#include <algorithm>

#include "common/norm.cuh"
#include "common/ptx/cluster.cuh"
#include "common/ptx/cp_async.cuh"
#include "common/ptx/mbarrier.cuh"

namespace ladder::rung_08::norm_shapes {

// A CTA has up to `share` vectors of a row, and as much of kept[]; cols is at most cluster · share · 8.
template <int cluster, int stages, int most_threads>
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
  auto there = [&](int step) { return place(step) < share && index(step) < p.cols / vector; };
  auto at = [&](int row, int step) { return std::size_t(row) * p.cols + std::size_t(index(step)) * vector; };

  // The ring buffer, [stage][x, residual][thread].
  uint4* const ring = kept + share;
  auto slot = [&](int stage) { return ring + stage * 2 * threads + int(threadIdx.x); };
  int stage = 0, next_row = int(blockIdx.x) / cluster, next_step = 0;
  auto copy_next = [&](int to_stage) {
    if (next_row < p.rows) {
      if (there(next_step)) {
        const ptx::SharedAddress to = ptx::shared_address(slot(to_stage));
        ptx::cp_async_16(to, p.x + at(next_row, next_step));
        ptx::cp_async_16(to + threads * int(sizeof(uint4)), p.residual + at(next_row, next_step));
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

  uint4 gamma = make_uint4(0, 0, 0, 0);  // of the next vector of y
  float scale = 0;                       // of the row before
  int count = 0;                         // rows done
  for (int r = int(blockIdx.x) / cluster;; r += clusters) {
    const bool more = r < p.rows;  // after the last row, only y goes out
    const bool before = r >= clusters;
    float squares = 0;
    for (int step = 0; step < steps; ++step) {
      const bool y_there = before && there(step);
      uint4 y = make_uint4(0, 0, 0, 0);
      if (y_there) y = scale_vector(kept[place(step)], gamma, scale);
      if (before && step + 1 < steps && there(step + 1)) gamma = load(p.gamma + index(step + 1) * vector);
      if (more) {
        ptx::cp_async_wait_group<stages - 2>();
        if (there(step)) {
          const uint4 h = add_vector(slot(stage)[0], slot(stage)[threads], squares);
          store(p.h + at(r, step), h);
          kept[place(step)] = h;
        }
        copy_next(stage == 0 ? stages - 1 : stage - 1);  // the stage of the step before
        stage = stage == stages - 1 ? 0 : stage + 1;
      }
      if (y_there) store(p.y + at(r - clusters, step), y);
    }
    if (!more) break;
    if (there(0)) gamma = load(p.gamma + index(0) * vector);
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
template <int cluster, int stages, int most_threads>
cudaError_t launch_through_shared(const FusedNorm& p, cudaStream_t stream) {
  constexpr int line_vectors = 8;  // of 128 bytes
  auto* kernel = rows_through_shared<cluster, stages, most_threads>;
  const int share = ceil_div(ceil_div(p.cols / vector, cluster), line_vectors) * line_vectors;
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
