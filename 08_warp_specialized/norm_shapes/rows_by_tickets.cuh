// Rows too long for a cluster. Their parts go to any SMs, and their sums through global memory. A CTA stays
// for many parts, and its warps work in pairs: one takes a ticket, which says what part is next, and adds x
// and residual when they have landed; the other waits for the row's sum, and writes y. A pair has several
// parts at once, so loads and sums are not waited for in turn.
#pragma once

#include "08_warp_specialized/norm_shapes/rows_landing.cuh"
#include "common/ptx/global_order.cuh"

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
  ptx::Mbarrier landed;         // a phase completes when x and residual of a part have
  ptx::Mbarrier gamma_landed;   // the same
  ptx::Mbarrier added[stages];  // a phase completes when a part's h is there, and its `index`
  ptx::Mbarrier read[stages];   // and when its y is written
  int index[stages];            // of the part: row · parts + part of the row; -1: there are no more
  unsigned launch;              // its number; there with the first part
};

// In shared memory, all of them at 128 bytes, as the bulk copies want them: h, residual, and gamma one vector
// further on.
__host__ __device__ constexpr int vectors_of_pair(int stages, int share) {
  return (stages + 2) * share + line / vector;
}

// No warp waits for one that cannot go on. The first of a pair takes a ticket when it has a stage for the
// part, and sends the part's sum when its own copies have landed. Only then, if it has the row's last part,
// it waits for the others' sums, and sends the row's. So that is known some time after the row's last ticket
// is taken; and there are stages enough on the GPU for all of a row.
template <int pairs, int stages>
__global__ void __launch_bounds__(2 * pairs * warp_size, 1)
    rows_by_tickets(FusedNorm p, int parts, int share, SumsInMemory sums) {
  extern __shared__ __align__(128) uint4 vectors[];
  __shared__ Pair<stages> pair_of[pairs];
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, total = p.rows * parts;
  if (threadIdx.x < pairs) {
    Pair<stages>& own = pair_of[threadIdx.x];
    for (ptx::Mbarrier* barrier : {&own.landed, &own.gamma_landed})
      ptx::mbarrier_init(ptx::shared_address(barrier), 1);
    for (int stage = 0; stage < stages; ++stage)
      for (ptx::Mbarrier* barrier : {&own.added[stage], &own.read[stage]})
        ptx::mbarrier_init(ptx::shared_address(barrier), 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  Pair<stages>& pair = pair_of[warp % pairs];
  uint4* const of_pair = vectors + warp % pairs * vectors_of_pair(stages, share);
  uint4 *const residual = of_pair + stages * share, *const gamma = residual + share;
  auto phase = [](int n) { return n / stages % 2; };

  if (warp < pairs) {
    for (int n = 0;; ++n) {
      const int stage = n % stages;
      uint4* const x = of_pair + stage * share;
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
          ptx::bulk_wait_group_read<0>();  // shared memory is there as long as it is read
        }
        break;
      }

      const int row = index / parts, own = index % parts;
      const Part part(p, row, own, share);
      if (lane == 0) {
        ptx::bulk_wait_group_read<stages - 1>();  // h of the part that had the stage before
        part.load(p, x, residual, pair.landed);
      }
      const End end(p, part.row, own == 0);
      const float of_end = end.store_h(p, part.row);
      ptx::mbarrier_wait(ptx::shared_address(&pair.landed), n % 2);
      const float of_part = warp_sum(part.template add<warp_size>(lane, x, residual) + of_end);
      // h before its copy; and residual has been read before the next part's is copied there.
      ptx::fence_proxy_async();
      __syncwarp();
      if (lane == 0) {
        send_sum(sums.of_parts + index, launch, of_part);
        pair.index[stage] = index;
        if (n == 0) pair.launch = launch;
        ptx::mbarrier_arrive(ptx::shared_address(&pair.added[stage]));
        part.store(p.h, x);
      }
      if (own == parts - 1) {
        const float of_row = receive_sums(sums.of_parts + std::size_t(row) * parts, parts, launch);
        send_sum(sums.of_row(row, lane), launch, of_row);
      }
    }
  } else {
    for (int n = 0;; ++n) {
      const int stage = n % stages;
      const uint4* const h = of_pair + stage * share;
      ptx::mbarrier_wait(ptx::shared_address(&pair.added[stage]), phase(n));
      const int index = pair.index[stage];
      if (index < 0) break;
      const int row = index / parts, own = index % parts;
      const Part part(p, row, own, share);
      if (lane == 0) part.load_gamma(p, gamma, pair.gamma_landed);
      const End end(p, part.row, own == 0);
      float sum = 0;
      if (lane == 0) sum = receive_sum(sums.of_row(row, int(blockIdx.x) % SumsInMemory::copies), pair.launch);
      const float scale = rsqrtf(__shfl_sync(0xFFFFFFFFu, sum, 0) / float(p.cols) + p.eps);
      ptx::mbarrier_wait(ptx::shared_address(&pair.gamma_landed), n % 2);
      part.template scale<warp_size>(lane, reinterpret_cast<uint4*>(p.y + part.row.at(part.first)), h, gamma,
                                     scale);
      end.store_y(p, part.row, scale);
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&pair.read[stage]));
    }
  }
}

// On an SM, up to 84 KiB of x and residual are in flight, and 126 of h wait for a sum.
constexpr int pairs = 6, stages = 3, most_of_part = 448;  // vectors
inline int parts_by_tickets(const FusedNorm& p) {
  return ceil_div(most_vectors(p), most_of_part);
}

// cudaErrorCooperativeLaunchTooLarge: there are too few stages for the parts of a row.
inline cudaError_t launch_by_tickets(const FusedNorm& p, int sms, cudaStream_t stream) {
  auto* kernel = rows_by_tickets<pairs, stages>;
  const int parts = parts_by_tickets(p), share = share_of(p, parts), ctas = std::min(sms, p.rows * parts);
  if (ctas * pairs * stages < parts) return cudaErrorCooperativeLaunchTooLarge;
  const std::size_t bytes = pairs * vectors_of_pair(stages, share) * sizeof(uint4);
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  if (error != cudaSuccess) return error;
  kernel<<<unsigned(ctas), 2 * pairs * warp_size, bytes, stream>>>(p, parts, share,
                                                                   SumsInMemory(p.workspace, p.rows));
  return cudaGetLastError();
}

}  // namespace ladder::rung_08::norm_shapes
