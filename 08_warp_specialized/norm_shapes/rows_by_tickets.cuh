// Rows too long for a cluster. Their parts go to any SMs, and their sums through global memory. A CTA stays
// for many parts, and its warps work in pairs: one takes a ticket, which says what part is next, and adds x
// and residual; the other waits for the row's sum, and writes y. Meanwhile h is in shared memory, where a
// pair has room for several parts, so loads and sums are not waited for in turn.
#pragma once

#include <algorithm>

#include "08_warp_specialized/norm_shapes/whole_vectors.cuh"
#include "common/ptx/global_order.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/predicated_store.cuh"

namespace ladder::rung_08::norm_shapes {

// In the workspace. A sum comes in one word with the number of the launch, so what an earlier launch has left
// is not taken for it, and nothing has to be cleared.
struct SumsInMemory {
  static constexpr int copies = 32;  // of a row's sum, each in a line of its own: fewer CTAs poll each
  static constexpr int words_of_line = 16;
  // The launches before, and how many tickets of this one are taken: 32 bits each.
  unsigned long long* tickets;
  unsigned long long* of_rows;   // [rows, copies, words_of_line]: the launch's number and the sum, the same
  unsigned long long* of_parts;  // [rows, parts]

  SumsInMemory(void* workspace, int rows)
      : tickets(static_cast<unsigned long long*>(workspace)),
        of_rows(tickets + words_of_line),
        of_parts(of_rows + std::size_t(rows) * copies * words_of_line) {}
  static std::size_t bytes(int rows, int parts) {
    return (words_of_line + std::size_t(rows) * (copies * words_of_line + parts)) *
           sizeof(unsigned long long);
  }
  __device__ unsigned long long* of_row(int row, int copy) const {
    return of_rows + (std::size_t(row) * copies + copy) * words_of_line;
  }
};

__device__ inline void send_sum(unsigned long long* word, unsigned launch, float sum) {
  ptx::store_relaxed(word, (unsigned long long)(launch) << 32 | __float_as_uint(sum));
}
__device__ inline float receive_sum(const unsigned long long* word, unsigned launch) {
  for (;;) {
    const unsigned long long seen = ptx::load_relaxed(word);
    if (seen >> 32 == launch) return __uint_as_float(unsigned(seen));
    __nanosleep(100);
  }
}
// The sum of many, added in the same order in every launch. A warp, which has it all.
__device__ inline float receive_sums(const unsigned long long* words, int count, unsigned launch) {
  constexpr int at_once = 8;  // loads in flight, of a lane
  float sum = 0;
  for (int first = threadIdx.x % warp_size; first < count; first += at_once * warp_size) {
    unsigned long long word[at_once];
    bool all;
    do {
      all = true;
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (first + i * warp_size < count) word[i] = ptx::load_relaxed(words + first + i * warp_size);
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (first + i * warp_size < count) all = all && word[i] >> 32 == launch;
    } while (!all);
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      if (first + i * warp_size < count) sum += __uint_as_float(unsigned(word[i]));
  }
  return warp_sum(sum);
}

// Between the two warps of a pair.
template <int stages>
struct Pair {
  ptx::Mbarrier added[stages];  // a phase completes when a part's h is there, and its `index`
  ptx::Mbarrier read[stages];   // and when its y is written
  int index[stages];            // of the part: row · parts + part of the row; -1: there are no more
  unsigned launch;              // its number; there with the first part
};

// No warp waits for one that cannot go on. The first of a pair takes a ticket when it has a stage for the
// part, and waits for no other warp before it has sent the part's sum. Only then, if it has the row's last
// part, it waits for the others' sums, and sends the row's. So that is known some time after the row's last
// ticket is taken; and there are stages enough on the GPU for all of a row.
template <int pairs, int stages, int vectors>
__global__ void __launch_bounds__(2 * pairs * warp_size, 1)
    rows_by_tickets(FusedNorm p, int parts, int share, SumsInMemory sums) {
  __shared__ Pair<stages> pair_of[pairs];
  extern __shared__ uint4 h_of_pairs[];  // [pairs, stages, vectors, 32]
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, total = p.rows * parts;
  if (threadIdx.x < pairs)
    for (int stage = 0; stage < stages; ++stage)
      for (ptx::Mbarrier* barrier : {&pair_of[threadIdx.x].added[stage], &pair_of[threadIdx.x].read[stage]})
        ptx::mbarrier_init(ptx::shared_address(barrier), 1);
  __syncthreads();

  Pair<stages>& pair = pair_of[warp % pairs];
  uint4* const h_of_lane = h_of_pairs + warp % pairs * stages * vectors * warp_size + lane;
  auto phase = [](int n) { return n / stages % 2; };

  if (warp < pairs) {
    for (int n = 0;; ++n) {
      const int stage = n % stages;
      if (n >= stages) ptx::mbarrier_wait(ptx::shared_address(&pair.read[stage]), phase(n - stages));
      unsigned long long ticket = 0;
      if (lane == 0) {
        ticket = atomicAdd(sums.tickets, 1ull);
        // Each pair takes one ticket for which there is no part. After the last the next launch begins anew.
        if (unsigned(ticket) == total + gridDim.x * pairs - 1)
          ptx::store_relaxed(sums.tickets, (ticket >> 32) + 1 << 32);
      }
      ticket = __shfl_sync(0xFFFFFFFFu, ticket, 0);
      const unsigned launch = unsigned(ticket >> 32) + 1;
      const int index = unsigned(ticket) < unsigned(total) ? int(ticket) : -1;
      if (index < 0) {
        if (lane == 0) {
          pair.index[stage] = index;
          ptx::mbarrier_arrive(ptx::shared_address(&pair.added[stage]));
        }
        break;
      }

      const int own = index % parts;
      const WholeVectors row(p, index / parts);
      const OfLane part(row, own * share, (own + 1) * share);
      const std::size_t at = row.at(part.first);
      uint4 x[vectors], residual[vectors];
      part.load(p, at, x, residual);
      const End end(p, row, own == 0);
      float squares = end.store_h(p, row);
#pragma unroll
      for (int v = 0; v < vectors; ++v) x[v] = add_whole(x[v], residual[v], squares);
      squares = warp_sum(squares);
      if (lane == 0) send_sum(sums.of_parts + index, launch, squares);  // all of the row wait for it
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        ptx::store_16_bytes_if(part.has(v), p.h + at + part.next(v), x[v]);
        h_of_lane[(stage * vectors + v) * warp_size] = x[v];
      }
      __syncwarp();
      if (lane == 0) {
        pair.index[stage] = index;
        if (n == 0) pair.launch = launch;
        ptx::mbarrier_arrive(ptx::shared_address(&pair.added[stage]));
      }
      if (own == parts - 1)
        send_sum(sums.of_row(index / parts, lane), launch,
                 receive_sums(sums.of_parts + index - own, parts, launch));
    }
  } else {
    for (int n = 0;; ++n) {
      const int stage = n % stages;
      ptx::mbarrier_wait(ptx::shared_address(&pair.added[stage]), phase(n));
      const int index = pair.index[stage];
      if (index < 0) break;
      const int own = index % parts;
      const WholeVectors row(p, index / parts);
      const OfLane part(row, own * share, (own + 1) * share);
      GammaOfLane<vectors> gamma(p, row, part);
      const End end(p, row, own == 0);
      gamma.align();
      float sum = 0;
      if (lane == 0)
        sum = receive_sum(sums.of_row(index / parts, int(blockIdx.x) % SumsInMemory::copies), pair.launch);
      const float scale = rsqrtf(__shfl_sync(0xFFFFFFFFu, sum, 0) / float(p.cols) + p.eps);
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        ptx::store_16_bytes_if(
            part.has(v), p.y + row.at(part.first) + part.next(v),
            scale_vector(h_of_lane[(stage * vectors + v) * warp_size], gamma.own[v], scale));
      end.store_y(p, row, scale);
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&pair.read[stage]));
    }
  }
}

// On an SM, up to 84 KiB of x and residual are in flight, and 126 of h wait for a sum.
constexpr int pairs = 6, stages = 3, vectors_of_lane = 14;
inline int parts_by_tickets(const FusedNorm& p) {
  return ceil_div(most_vectors(p), vectors_of_lane * warp_size);
}

// cudaErrorCooperativeLaunchTooLarge: there are too few stages for the parts of a row.
inline cudaError_t launch_by_tickets(const FusedNorm& p, int sms, cudaStream_t stream) {
  auto* kernel = rows_by_tickets<pairs, stages, vectors_of_lane>;
  const int parts = parts_by_tickets(p), ctas = std::min(sms, p.rows * parts);
  if (ctas * pairs * stages < parts) return cudaErrorCooperativeLaunchTooLarge;
  constexpr int bytes = pairs * stages * vectors_of_lane * warp_size * int(sizeof(uint4));
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  kernel<<<unsigned(ctas), 2 * pairs * warp_size, bytes, stream>>>(p, parts, share_of(p, parts),
                                                                   SumsInMemory(p.workspace, p.rows));
  return cudaGetLastError();
}

}  // namespace ladder::rung_08::norm_shapes
