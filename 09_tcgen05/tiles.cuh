// The scheduler: which tile of C a cluster works on next. The warps that load, multiply and store each walk
// through the tiles by themselves, and need not exchange anything: either all count alike, or all read the
// same responses of cluster launch control.
//
// Who waits for whom, with launch control, through the mbarriers of Responses:
//   schedule  empty, in the leader alone: every role of both CTAs has read the response before
//             full: to read the response itself, since no request may follow one that failed
//   advance   full, in its own CTA: the 16 bytes of the response have arrived
#pragma once

#include "common/ptx/cluster.cuh"
#include "common/ptx/cluster_launch_control.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"
#include "common/rung.h"

namespace ladder::rung_09 {

// A stage of a multistage buffer of n, and the parity of the phase that its barriers are in, which flips
// whenever the buffer starts over.
template <int n>
struct Stage {
  int index = 0, parity = 0;
  // Of the buffers, or of the barriers, the one of this stage.
  template <class T>
  __device__ ptx::SharedAddress of(T (&all)[n]) const {
    return ptx::shared_address(&all[index]);
  }
  __device__ void advance() {
    if (++index == n) {
      index = 0;
      parity ^= 1;
    }
  }
};

// By one thread; fence_mbarrier_init() must follow.
template <int n>
__device__ void init_barriers(ptx::Mbarrier (&barriers)[n], int arrivals) {
  for (ptx::Mbarrier& barrier : barriers) ptx::mbarrier_init(ptx::shared_address(&barrier), arrivals);
}

// The index-th tile, in tiles: row and column. Tiles that run at the same time share rows and columns of A
// and B, which come from L2 after the first read: down `group_m` tiles, then on to the next column.
__device__ inline int2 tile_of_cluster(int index, int tiles_m, int tiles_n, int group_m) {
  const int first = index / (group_m * tiles_n) * group_m, height = min(group_m, tiles_m - first);
  const int in_group = index - first * tiles_n;
  return make_int2(first + in_group % height, in_group / height);
}

enum class Schedule {
  one_tile,       // a cluster for each tile
  persistent,     // as many clusters as run at once; each steps over what the others take
  launch_control  // a cluster for each tile, but a running one takes over from one that has not started
};

// Responses of cluster launch control, requested ahead.
struct Responses {
  static constexpr int depth = 2;
  alignas(16) unsigned char response[depth][16];
  ptx::Mbarrier full[depth], empty[depth];
};

// The tiles of a cluster, for one thread. C is the kernel's Config.
template <class C>
class Tiles {
 public:
  // `tiles_m`, `tiles_n`: C in tiles of the cluster.
  __device__ Tiles(int tiles_m, int tiles_n, Responses& responses)
      : tiles_m_(tiles_m), tiles_n_(tiles_n), responses_(responses), index_(int(blockIdx.x) / C::ctas) {}

  __device__ bool valid() const { return index_ >= 0 && index_ < tiles_m_ * tiles_n_; }

  __device__ void advance() {
    if constexpr (C::schedule == Schedule::one_tile) {
      index_ = -1;
    } else if constexpr (C::schedule == Schedule::persistent) {
      index_ += int(gridDim.x) / C::ctas;
    } else {
      ptx::mbarrier_wait(stage_.of(responses_.full), stage_.parity);
      const int first_cta = ptx::canceled_cluster(stage_.of(responses_.response));
      index_ = first_cta < 0 ? -1 : first_cta / C::ctas;
      // The next response is written through the async proxy: not before this read.
      ptx::fence_proxy_async();
      ptx::mbarrier_arrive(stage_.of(responses_.empty), 0);
      stage_.advance();
    }
  }

  // Of the tile's first element in C.
  __device__ int row() const { return tile_of_cluster(index_, tiles_m_, tiles_n_, C::group_m).x * C::tile_m; }
  __device__ int col() const { return tile_of_cluster(index_, tiles_m_, tiles_n_, C::group_m).y * C::tile_n; }

 private:
  int tiles_m_, tiles_n_;
  Responses& responses_;
  int index_;  // -1: there are no more
  Stage<Responses::depth> stage_;
};

// Requests tiles ahead of the roles that work on them, until there are none. By one thread of the leader.
template <class C>
__device__ void schedule(Responses& responses) {
  Stage<Responses::depth> stage;
  for (int first_cta = 0; first_cta >= 0; stage.advance()) {
    const ptx::SharedAddress full = stage.of(responses.full);
    const ptx::SharedAddress response = stage.of(responses.response);
    // Parity 1 first: the phase before the first counts as complete, so the buffers start out empty.
    ptx::mbarrier_wait(stage.of(responses.empty), stage.parity ^ 1);
    for (int cta = 0; cta < C::ctas; ++cta)
      ptx::mbarrier_arrive_expect_bytes(full, sizeof responses.response[0], cta);
    ptx::try_cancel<C::ctas>(response, full);
    ptx::mbarrier_wait(full, stage.parity);
    // Another request after one that failed is undefined, so this thread reads the response, too.
    first_cta = ptx::canceled_cluster(response);
    ptx::fence_proxy_async();
  }
}

}  // namespace ladder::rung_09
