// Rows too long for a cluster. Their parts go to any SMs, and their sums through global memory. A CTA stays
// for many parts, and its warps have five jobs: one takes a ticket, which says what part of what row is next;
// eight load x and residual and store h, in shared memory as well; one sends the part's sum; one receives the
// sums of all the row's parts; eight write y. Shared memory has room for several parts, so no job waits for
// the next one as a rule.
#pragma once

#include <algorithm>

#include "common/every_shape/hopper/rows/whole_vectors.cuh"
#include "common/ptx/global_order.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/predicated_store.cuh"

namespace ladder::every_shape::norm_rows {

// In the workspace. A sum comes in one word with the number of the launch, so what an earlier launch has left
// is not taken for it, and nothing has to be cleared.
struct SumsInMemory {
  static constexpr int words_of_line = 16;
  // The launches before, and how many tickets of this one are taken: 32 bits each.
  unsigned long long* tickets;
  unsigned long long* of_parts;  // [rows, parts]: the launch's number and the sum, 32 bits each

  explicit SumsInMemory(void* workspace)
      : tickets(static_cast<unsigned long long*>(workspace)), of_parts(tickets + words_of_line) {}
  static std::size_t bytes(int rows, int parts) {
    return (words_of_line + std::size_t(rows) * parts) * sizeof(unsigned long long);
  }
};

// Receives sums and adds them, in the same order in every launch. By a warp; each lane has the result.
__device__ inline float receive_sums(const unsigned long long* words, int count, unsigned launch) {
  constexpr int at_once = 4;  // loads in flight, of a lane
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

// Room for a part in shared memory, and what its warps hand each other. Each mbarrier's phase completes when
// what stands beside it is there.
template <int warps>
struct Stage {
  ptx::Mbarrier taken;     // the ticket: index, launch
  ptx::Mbarrier added;     // the sum of squares of each warp
  ptx::Mbarrier stored;    // h
  ptx::Mbarrier received;  // scale
  ptx::Mbarrier written;   // y, and the part's sum is sent: the stage is free
  int index;               // of the part: row · parts + part of the row; -1: there are no more
  unsigned launch;         // its number
  float squares[warps];
  float scale;
};

// A row is cut into `parts` of `share` vectors, of which each warp has up to `share_of_warp`.
struct Cuts {
  int parts, share, share_of_warp;
};
struct OfWarp {
  WholeVectors row;
  OfLane part;
  bool has_ends;

  __device__ OfWarp(const FusedNorm& p, const Cuts& cuts, int index, int warp)
      : row(p, index / cuts.parts),
        part(row, index % cuts.parts * cuts.share + warp * cuts.share_of_warp,
             index % cuts.parts * cuts.share + min((warp + 1) * cuts.share_of_warp, cuts.share)),
        has_ends(index % cuts.parts == 0 && warp == 0) {}
};

// No warp waits for one that cannot go on. A ticket is taken when there is a stage for its part, and from
// then on the part's sum waits for no other CTA. So a row's sum is known some time after its last ticket is
// taken; and there are stages enough on the GPU for all of a row.
template <int warps, int stages, int vectors>
__global__ void __launch_bounds__((2 * warps + 3) * warp_size, 1)
    rows_by_tickets(FusedNorm p, Cuts cuts, SumsInMemory sums) {
  __shared__ Stage<warps> stage_of[stages];
  extern __shared__ uint4 h_of_warps[];  // [stages, warps, vectors, 32]
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (threadIdx.x < stages) {
    Stage<warps>& stage = stage_of[threadIdx.x];
    ptx::mbarrier_init(ptx::shared_address(&stage.taken), 1);
    ptx::mbarrier_init(ptx::shared_address(&stage.added), warps);
    ptx::mbarrier_init(ptx::shared_address(&stage.stored), warps);
    ptx::mbarrier_init(ptx::shared_address(&stage.received), 1);
    ptx::mbarrier_init(ptx::shared_address(&stage.written), warps + 1);
  }
  __syncthreads();

  for (int n = 0;; ++n) {
    Stage<warps>& stage = stage_of[n % stages];
    const int phase = n / stages % 2;
    auto wait = [&](ptx::Mbarrier& barrier) { ptx::mbarrier_wait(ptx::shared_address(&barrier), phase); };
    auto arrive = [&](ptx::Mbarrier& barrier) {  // for the warp
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&barrier));
    };
    auto h_of_lane = [&](int of_warp, int v) -> uint4& {
      return h_of_warps[((n % stages * warps + of_warp) * vectors + v) * warp_size + lane];
    };

    if (warp == 2 * warps) {
      if (lane > 0) break;
      if (n >= stages) ptx::mbarrier_wait(ptx::shared_address(&stage.written), 1 - phase);
      const unsigned long long ticket = atomicAdd(sums.tickets, 1ull);
      const unsigned total = p.rows * cuts.parts;
      // Each CTA takes one ticket for which there is no part. After the last the next launch begins anew.
      if (unsigned(ticket) == total + gridDim.x - 1)
        ptx::store_relaxed(sums.tickets, (ticket >> 32) + 1 << 32);
      const int index = unsigned(ticket) < total ? int(ticket) : -1;
      stage.index = index;
      stage.launch = unsigned(ticket >> 32) + 1;
      ptx::mbarrier_arrive(ptx::shared_address(&stage.taken));
      if (index < 0) break;
      continue;
    }

    wait(stage.taken);
    const int index = stage.index;
    if (index < 0) break;
    if (warp < warps) {
      const OfWarp own(p, cuts, index, warp);
      const std::size_t at = own.row.at(own.part.first);
      uint4 x[vectors], residual[vectors];
      own.part.load(p, at, x, residual);
      End end(p, own.row, own.has_ends);
      float squares = end.add(p);
#pragma unroll
      for (int v = 0; v < vectors; ++v) x[v] = add_whole(x[v], residual[v], squares);
      squares = warp_sum(squares);
      if (lane == 0) stage.squares[warp] = squares;
      arrive(stage.added);  // ahead of the stores: all CTAs of the row wait for the sum
      end.store_h(p, own.row);
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        ptx::store_16_bytes_if(own.part.has(v), p.h + at + own.part.next(v), x[v]);
        h_of_lane(warp, v) = x[v];
      }
      arrive(stage.stored);
    } else if (warp < 2 * warps) {
      wait(stage.stored);  // gamma is not loaded before: x and residual come first
      const OfWarp own(p, cuts, index, warp - warps);
      GammaOfLane<vectors> gamma(p, own.row, own.part);
      End end(p, own.row, own.has_ends);
      end.add(p);
      gamma.align();
      wait(stage.received);
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        ptx::store_16_bytes_if(own.part.has(v), p.y + own.row.at(own.part.first) + own.part.next(v),
                               scale_vector(h_of_lane(warp - warps, v), gamma.own[v], stage.scale));
      end.store_y(p, own.row, stage.scale);
      arrive(stage.written);
    } else if (warp == 2 * warps + 1) {
      wait(stage.added);
      float sum = 0;
#pragma unroll
      for (float of_warp : stage.squares) sum += of_warp;
      if (lane == 0)
        ptx::store_relaxed(sums.of_parts + index,
                           (unsigned long long)(stage.launch) << 32 | __float_as_uint(sum));
      arrive(stage.written);
    } else {
      const float sum =
          receive_sums(sums.of_parts + index / cuts.parts * cuts.parts, cuts.parts, stage.launch);
      if (lane == 0) stage.scale = rsqrtf(sum / float(p.cols) + p.eps);
      arrive(stage.received);
    }
  }
}

// On an SM, up to 64 KiB of x and residual are in flight, and 128 of h wait for a sum.
constexpr int loading_warps = 8, stages = 4, vectors_of_lane = 8;
inline int parts_by_tickets(const FusedNorm& p) {
  return ceil_div(most_vectors(p), loading_warps * vectors_of_lane * warp_size);
}

// cudaErrorCooperativeLaunchTooLarge: there are too few stages for the parts of a row.
inline cudaError_t launch_by_tickets(const FusedNorm& p, int sms, cudaStream_t stream) {
  auto* kernel = rows_by_tickets<loading_warps, stages, vectors_of_lane>;
  const int parts = parts_by_tickets(p), ctas = std::min(sms, p.rows * parts), share = share_of(p, parts);
  if (ctas * stages < parts) return cudaErrorCooperativeLaunchTooLarge;
  constexpr int bytes = loading_warps * stages * vectors_of_lane * warp_size * int(sizeof(uint4));
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  const Cuts cuts{parts, share, whole_lines(ceil_div(share, loading_warps))};
  kernel<<<unsigned(ctas), (2 * loading_warps + 3) * warp_size, bytes, stream>>>(p, cuts,
                                                                                 SumsInMemory(p.workspace));
  return cudaGetLastError();
}

}  // namespace ladder::every_shape::norm_rows
