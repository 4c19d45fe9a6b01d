// Long rows that start anywhere. x and residual land in shared memory by bulk copies: no register waits for
// them, and their number does not depend on how many threads there are. h takes the place of x, in shared
// memory, until the row's sum is known; h and y leave by bulk copies, too.
//
// A row's parts exchange their sums in the shared memory of a cluster, rows_in_clusters; or, where a cluster
// of CTAs this small is too short for the row, in global memory, rows_by_tickets.
#pragma once

#include <algorithm>

#include "08_warp_specialized/norm_shapes/rows_in_ctas.cuh"
#include "08_warp_specialized/norm_shapes/whole_vectors.cuh"
#include "common/ptx/global_order.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::rung_08::norm_shapes {

// A CTA's part of a row: up to `share` vectors.
struct Part {
  WholeVectors row;
  int first;       // the row's vector that lies first in shared memory
  int begin, end;  // those that the part has, from there

  __device__ Part(const FusedNorm& p, int index, int part, int share) : row(p, index), first(part * share) {
    begin = max(row.begin - first, 0);
    end = max(min(row.end - first, share), begin);
  }
  __device__ int bytes() const { return (end - begin) * int(sizeof(uint4)); }
  __device__ std::size_t at() const { return row.at(first + begin); }

  // x and residual -> shared. One thread. A phase of `landed` completes when they have.
  __device__ void load(const FusedNorm& p, uint4* x, uint4* residual, ptx::Mbarrier& landed) const {
    const ptx::SharedAddress barrier = ptx::shared_address(&landed);
    ptx::mbarrier_arrive_expect_bytes(barrier, 2 * bytes());
    if (bytes() == 0) return;
    ptx::bulk_load(ptx::shared_address(x + begin), p.x + at(), bytes(), barrier);
    ptx::bulk_load(ptx::shared_address(residual + begin), p.residual + at(), bytes(), barrier);
  }
  // gamma -> shared: of vector v of the row, for its last elements, to v + 1, and to v for its first. The
  // same.
  __device__ void load_gamma(const FusedNorm& p, uint4* gamma, ptx::Mbarrier& landed) const {
    const ptx::SharedAddress barrier = ptx::shared_address(&landed);
    const int from = row.gamma(first + begin) - (row.by() > 0 ? 1 : 0), to = row.gamma(first + end);
    const int of_gamma = begin < end ? (to - from) * int(sizeof(uint4)) : 0;
    ptx::mbarrier_arrive_expect_bytes(barrier, of_gamma);
    if (of_gamma == 0) return;
    ptx::bulk_load(ptx::shared_address(gamma + begin + (row.by() > 0 ? 0 : 1)), p.gamma + from * vector,
                   of_gamma, barrier);
  }
  // shared -> h or y. One thread, after fence_proxy_async() of those that wrote and a barrier.
  __device__ void store(__nv_bfloat16* to, const uint4* from) const {
    if (bytes() > 0) ptx::bulk_store(to + at(), ptx::shared_address(from + begin), bytes());
    ptx::bulk_commit_group();
  }

  // x + residual takes the place of x. Returns the sum of its squares, of this thread.
  template <int threads>
  __device__ float add(uint4* __restrict__ x, const uint4* __restrict__ residual) const {
    float squares = 0;
#pragma unroll 4
    for (int j = begin + int(threadIdx.x); j < end; j += threads)
      x[j] = add_whole(x[j], residual[j], squares);
    return squares;
  }
  // y may take the place of h.
  template <int threads>
  __device__ void scale(uint4* y, const uint4* h, const uint4* __restrict__ gamma, float scale) const {
    const int from = begin + int(threadIdx.x), by = row.by();
    if (by == 0) {
#pragma unroll 4
      for (int j = from; j < end; j += threads) y[j] = scale_vector(h[j], gamma[j + 1], scale);
    } else {
#pragma unroll 4
      for (int j = from; j < end; j += threads)
        y[j] = scale_vector(h[j], shifted(gamma[j], gamma[j + 1], by), scale);
    }
  }
};

// Shared memory: x, residual, and gamma one vector further on.
constexpr std::size_t bytes_of_parts(int share, int parts) {
  return (std::size_t(share) * parts + 1) * sizeof(uint4);
}

// A cluster has a row.
template <int cluster, int threads, int least_ctas>
__global__ void __launch_bounds__(threads, least_ctas) rows_in_clusters(FusedNorm p, int share) {
  extern __shared__ __align__(128) uint4 vectors[];
  __shared__ float partial[warp_size];            // of the warps
  __shared__ float sums[cluster];                 // of the cluster's CTAs
  __shared__ ptx::Mbarrier landed, gamma_landed;  // a phase completes when what is copied has
  __shared__ ptx::Mbarrier arrived;               // and when sums[] have arrived
  uint4 *const x = vectors, *const residual = x + share, *const gamma = residual + share;
  const int rank = ptx::cluster_rank();
  const Part part(p, int(blockIdx.x) / cluster, rank, share);
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier* barrier : {&landed, &gamma_landed, &arrived})
      ptx::mbarrier_init(ptx::shared_address(barrier), 1);
    ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&arrived), sizeof sums);
    ptx::fence_mbarrier_init();
    part.load(p, x, residual, landed);
    part.load_gamma(p, gamma, gamma_landed);
  }
  ptx::cluster_arrive_relaxed();  // sum_over_cluster() waits
  End end(p, part.row, rank == 0 && threadIdx.x < warp_size);
  __syncthreads();  // the barriers are initialised

  ptx::mbarrier_wait(ptx::shared_address(&landed), 0);
  const float squares = part.add<threads>(x, residual) + end.store_h(p, part.row);
  ptx::fence_proxy_async();                        // h, before the copy that thread 0 issues
  const float of_cta = row_sum(squares, partial);  // a barrier: h is complete
  if (threadIdx.x == 0) part.store(p.h, x);
  const float sum = sum_over_cluster(of_cta, sums, ptx::shared_address(&arrived));
  const float scale = rsqrtf(sum / float(p.cols) + p.eps);

  ptx::mbarrier_wait(ptx::shared_address(&gamma_landed), 0);
  part.scale<threads>(residual, x, gamma, scale);  // in the place of residual: the copy of h may still read x
  end.store_y(p, part.row, scale);
  ptx::fence_proxy_async();
  __syncthreads();  // y is complete
  if (threadIdx.x == 0) {
    part.store(p.y, residual);
    ptx::bulk_wait_group_read<0>();  // shared memory is there as long as it is read
  }
}

// The sums of a launch's parts in global memory. Each comes in one word with the number of the launch, so
// what an earlier launch has left is not taken for it, and nothing has to be cleared.
struct SumsInMemory {
  unsigned long long* tickets;  // the launches before, and how many parts of this one are taken: 32 bits each
  unsigned long long* words;    // [rows, parts]: the launch's number and the sum, the same

  explicit SumsInMemory(void* workspace)
      : tickets(static_cast<unsigned long long*>(workspace)), words(tickets + 32) {}
  static std::size_t bytes(const FusedNorm& p, int parts) {
    return (32 + std::size_t(p.rows) * parts) * sizeof(unsigned long long);
  }
};

__device__ inline void send_sum(unsigned long long* word, unsigned launch, float sum) {
  ptx::store_relaxed(word, (unsigned long long)(launch) << 32 | __float_as_uint(sum));
}

// Waits for a row's sums, and adds them in the same order in every CTA. A warp, which has them all.
__device__ inline float receive_sums(const unsigned long long* words, int parts, unsigned launch) {
  constexpr int at_once = 8;  // loads in flight, of a lane
  float sum = 0;
  // The last part has started last. The others' words are read when its sum is there, not over and over.
  if (threadIdx.x % warp_size == 0)
    while (ptx::load_relaxed(words + parts - 1) >> 32 != launch) __nanosleep(64);
  __syncwarp();
  for (int first = threadIdx.x % warp_size; first < parts; first += at_once * warp_size) {
    unsigned long long word[at_once];
    bool all;
    do {
      all = true;
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (first + i * warp_size < parts) word[i] = ptx::load_relaxed(words + first + i * warp_size);
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (first + i * warp_size < parts) all = all && word[i] >> 32 == launch;
    } while (!all);
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      if (first + i * warp_size < parts) sum += __uint_as_float(unsigned(word[i]));
  }
  return warp_sum(sum);
}

// Each CTA has a part of a row, the one its ticket says. It waits for other parts of its row only. Those
// with smaller tickets have started; the rest start when parts of earlier rows are done, if there is room on
// the GPU for all of a row at once. This holds in any order in which CTAs start.
template <int threads, int least_ctas>
__global__ void __launch_bounds__(threads, least_ctas)
    rows_by_tickets(FusedNorm p, int parts, int share, SumsInMemory sums) {
  extern __shared__ __align__(128) uint4 vectors[];
  __shared__ float partial[warp_size], sum;  // of the warps, of the row
  __shared__ unsigned launch, index;         // of the part
  __shared__ ptx::Mbarrier landed;           // a phase of x and residual, and one of gamma
  uint4 *const x = vectors, *const residual = x + share, *const gamma = residual;
  if (threadIdx.x == 0) {
    const unsigned long long ticket = atomicAdd(sums.tickets, 1ull);
    index = unsigned(ticket);
    launch = unsigned(ticket >> 32) + 1;
    ptx::mbarrier_init(ptx::shared_address(&landed), 1);
    ptx::fence_mbarrier_init();
    Part(p, int(index) / parts, int(index) % parts, share).load(p, x, residual, landed);
    // After the last ticket the next launch begins anew.
    if (index + 1 == gridDim.x) ptx::store_relaxed(sums.tickets, (unsigned long long)(launch) << 32);
  }
  __syncthreads();  // the barrier is initialised, the part known
  const int row = int(index) / parts, own = int(index) % parts;
  const Part part(p, row, own, share);
  End end(p, part.row, own == 0 && threadIdx.x < warp_size);

  ptx::mbarrier_wait(ptx::shared_address(&landed), 0);
  const float squares = part.add<threads>(x, residual) + end.store_h(p, part.row);
  // h before its copy; and residual has been read before gamma is copied there.
  ptx::fence_proxy_async();
  const float of_cta = row_sum(squares, partial);
  if (threadIdx.x == 0) {
    part.load_gamma(p, gamma, landed);
    part.store(p.h, x);
  }
  if (threadIdx.x < warp_size) {
    unsigned long long* const words = sums.words + std::size_t(row) * parts;
    if (threadIdx.x == 0) send_sum(words + own, launch, of_cta);
    __syncwarp();
    const float all = receive_sums(words, parts, launch);
    if (threadIdx.x == 0) {
      sum = all;
      ptx::bulk_wait_group_read<0>();  // y takes the place of h
    }
  }
  __syncthreads();  // the sum is there, h has been read
  const float scale = rsqrtf(sum / float(p.cols) + p.eps);

  ptx::mbarrier_wait(ptx::shared_address(&landed), 1);
  part.scale<threads>(x, x, gamma, scale);
  end.store_y(p, part.row, scale);
  ptx::fence_proxy_async();
  __syncthreads();  // y is complete
  if (threadIdx.x == 0) {
    part.store(p.y, x);
    ptx::bulk_wait_group_read<0>();  // shared memory is there as long as it is read
  }
}

template <class Kernel>
cudaError_t reserve_shared(Kernel* kernel, std::size_t bytes) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
}

inline int share_of(const FusedNorm& p, int parts) {
  constexpr int vectors_of_line = line / vector;
  return ceil_div(ceil_div(most_vectors(p), parts), vectors_of_line) * vectors_of_line;
}

template <int cluster, int threads, int least_ctas>
cudaError_t launch_in_clusters(const FusedNorm& p, cudaStream_t stream) {
  auto* kernel = rows_in_clusters<cluster, threads, least_ctas>;
  const int share = share_of(p, cluster);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(p.rows) * cluster;
  config.blockDim = threads;
  config.dynamicSmemBytes = bytes_of_parts(share, 3);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t error = reserve_shared(kernel, config.dynamicSmemBytes);
  if (error == cudaSuccess && cluster > 8)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  return error == cudaSuccess ? cudaLaunchKernelEx(&config, kernel, p, share) : error;
}

// As many parts of a row as have 960 vectors or fewer, 30 KiB of x and residual each: seven such CTAs share
// an SM.
inline int parts_by_tickets(const FusedNorm& p) {
  return ceil_div(most_vectors(p), 960);
}

// cudaErrorCooperativeLaunchTooLarge: not all parts of a row run at once.
inline cudaError_t launch_by_tickets(const FusedNorm& p, int sms, cudaStream_t stream) {
  constexpr int threads = 128, ctas = 7;
  auto* kernel = rows_by_tickets<threads, ctas>;
  const int parts = parts_by_tickets(p), share = share_of(p, parts);
  const std::size_t bytes = bytes_of_parts(share, 2);
  int on_sm = 0;
  cudaError_t error = reserve_shared(kernel, bytes);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_sm, kernel, threads, bytes);
  if (error != cudaSuccess) return error;
  if (on_sm * sms < parts) return cudaErrorCooperativeLaunchTooLarge;
  kernel<<<unsigned(p.rows) * parts, threads, bytes, stream>>>(p, parts, share, SumsInMemory(p.workspace));
  return cudaGetLastError();
}

}  // namespace ladder::rung_08::norm_shapes
