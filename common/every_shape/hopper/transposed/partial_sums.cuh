// Where several CTAs have a part of k of the same tile: they reduce their accumulators, within a cluster
// (split-K) or through global memory (stream-K).
#pragma once

#include "common/every_shape/hopper/transposed/mainloop.cuh"
#include "common/ptx/global_order.cuh"

namespace ladder::every_shape::transposed {

// Which groups of rows CTA `part` reduces and stores.
template <class C>
__device__ int first_group(int part, int parts) {
  return C::groups * part / parts;
}

// By a thread, before fence_mbarrier_init().
template <class C>
__device__ void expect_parts(typename C::Shared& shared, int part, int parts) {
  if (parts == 1) return;
  ptx::mbarrier_init(ptx::shared_address(&shared.combined), 1);
  const int own = first_group<C>(part + 1, parts) - first_group<C>(part, parts);
  ptx::mbarrier_arrive_expect_bytes(ptx::shared_address(&shared.combined),
                                    (parts - 1) * own * C::tile_threads * int(sizeof(float4)));
}

// accumulator of a part of k -> of all of k, for the groups of rows that are this CTA's. Each CTA sends the
// others what is theirs, straight from its registers into their shared memory. They are added in the order of
// k, whichever arrives first. A CTA that waits for what its peers send cannot exit too early.
template <class C>
__device__ void combine(float (&accumulator)[C::groups][4], typename C::Shared& shared, int part, int parts) {
  const SharedAddress combined = ptx::shared_address(&shared.combined);
  ptx::cluster_wait();  // the peers have started, and their barriers are initialised
  const int most = ceil_div(C::groups, parts);
  const int first = first_group<C>(part, parts), end = first_group<C>(part + 1, parts);
  auto* const received = reinterpret_cast<float4*>(shared.received);
  auto slot = [&](int from, int to, int group) {  // of the received, in CTA `to`
    const int peer = from < to ? from : from - 1;
    return (peer * most + group - first_group<C>(to, parts)) * C::tile_threads + int(threadIdx.x);
  };
#pragma unroll
  for (int g = 0; g < C::groups; ++g) {
    const int owner = ((g + 1) * parts - 1) / C::groups;
    if (owner != part)
      ptx::store_async(ptx::shared_address(&received[slot(part, owner, g)]), accumulator[g], combined, owner);
  }
  if (first == end) return;
  ptx::mbarrier_wait(combined, 0);
#pragma unroll
  for (int g = 0; g < C::groups; ++g) {
    if (g < first || g >= end) continue;
    float(&own)[4] = accumulator[g];
    float4 sum{};
    for (int from = 0; from < parts; ++from) {
      const float4 one =
          from == part ? make_float4(own[0], own[1], own[2], own[3]) : received[slot(from, part, g)];
      sum = {sum.x + one.x, sum.y + one.y, sum.z + one.z, sum.w + one.w};
    }
    own[0] = sum.x, own[1] = sum.y, own[2] = sum.z, own[3] = sum.w;
  }
}

// This CTA's part of a tile that another began -> memory, by a warp: the `warp`-th of the tile's.
template <class C>
__device__ void hand_over(const Accumulator<C>& accumulator, const Operands& p, int cta, int warp) {
  const int lane = threadIdx.x % warp_size;
  float4* to = p.partials + std::size_t(cta) * C::partial + warp * warp_size + lane;
#pragma unroll
  for (int i = 0; i < C::design.blocks; ++i) {
#pragma unroll
    for (int g = 0; g < C::groups; ++g, to += C::tile_threads) {
      const float(&one)[4] = accumulator[i][g];
      *to = make_float4(one[0], one[1], one[2], one[3]);
    }
  }
  __syncwarp();
  if (lane == 0) ptx::signal_release(&p.ready[cta * C::consumer_warps + warp], 1);
}

// accumulator of a tile's first k-tiles -> of all. The CTAs that have the later ones began with them, and a
// CTA waits only for those after it, which run at the same time: no deadlock, and as a rule no wait. Each
// lane waits for another part, so that the warp waits once, and then all loads may be on their way at once.
template <class C>
__device__ void finish(Accumulator<C>& accumulator, const Operands& p, const Tiles<C>& tiles, int rank,
                       int warp) {
  const int lane = threadIdx.x % warp_size, later = tiles.later_parts();
  const auto cta = [&](int i) { return (tiles.part() + 1 + i) * p.cluster.size() + rank; };
  for (int i = lane; i < later; i += warp_size) {
    unsigned* const ready = &p.ready[cta(i) * C::consumer_warps + warp];
    while (ptx::load_acquire(ready) == 0) {
    }
    *ready = 0;  // for the next launch
  }
  __syncwarp();
  constexpr int registers = C::design.blocks * C::groups * 4;
#pragma unroll(registers <= 24 ? 4 : registers <= 48 ? 2 : 1)
  for (int part = 0; part < later; ++part) {
    const float4* from = p.partials + std::size_t(cta(part)) * C::partial + warp * warp_size + lane;
#pragma unroll
    for (int i = 0; i < C::design.blocks; ++i) {
#pragma unroll
      for (int g = 0; g < C::groups; ++g, from += C::tile_threads) {
        const float4 one = *from;
        float(&sum)[4] = accumulator[i][g];
        sum[0] += one.x, sum[1] += one.y, sum[2] += one.z, sum[3] += one.w;
      }
    }
  }
}

}  // namespace ladder::every_shape::transposed
