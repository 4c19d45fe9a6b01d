// The scheduler: which tile of C a cluster works on next. Every role asks for itself, and they need not talk
// about it: either all count alike, or all read the same responses of cluster launch control.
#pragma once

#include "09_tcgen05/variants.h"
#include "common/ptx/cluster.cuh"
#include "common/ptx/cluster_launch_control.cuh"
#include "common/ptx/mbarrier.cuh"
#include "common/ptx/tma.cuh"

namespace ladder::rung_09 {

// A place in a ring of n, and how often it went round: the parity of the phase that its barriers are in.
template <int n>
struct Slot {
  int index = 0, parity = 0;
  __device__ void advance() {
    if (++index == n) {
      index = 0;
      parity ^= 1;
    }
  }
};

enum class Schedule {
  one_tile,    // a cluster for each tile
  persistent,  // as many clusters as run at once, each steps over what the others take
  cancel       // a cluster for each tile, but those that run take over from those that have not started
};

// Responses of cluster launch control, fetched ahead. `full`: the response is there; `empty`, of the leader
// alone: all roles of all CTAs have read the one before.
struct Responses {
  static constexpr int depth = 2;
  alignas(16) unsigned char response[depth][16];
  ptx::Mbarrier full[depth], empty[depth];
};

// The tiles of a cluster, for one thread. C is the Config of gemm.cu.
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
      ptx::mbarrier_wait(ptx::shared_address(&responses_.full[slot_.index]), slot_.parity);
      const int first_cta = ptx::canceled_cluster(ptx::shared_address(responses_.response[slot_.index]));
      index_ = first_cta < 0 ? -1 : first_cta / C::ctas;
      // The next response is written through the async proxy: not before this read.
      ptx::fence_proxy_async();
      ptx::mbarrier_arrive(ptx::shared_address(&responses_.empty[slot_.index]), 0);
      slot_.advance();
    }
  }

  // Tiles that run at the same time share rows and columns of A and B, which come from L2 once they are
  // there: down C::group tiles, then on to the next column. In elements of C, of the tile's first one.
  __device__ int row() const { return (first_of_group() + in_group() % height()) * C::tile_m; }
  __device__ int col() const { return in_group() / height() * C::tile_n; }

 private:
  __device__ int first_of_group() const { return index_ / (C::group * tiles_n_) * C::group; }
  __device__ int height() const { return min(C::group, tiles_m_ - first_of_group()); }
  __device__ int in_group() const { return index_ - first_of_group() * tiles_n_; }

  int tiles_m_, tiles_n_;
  Responses& responses_;
  int index_;  // -1: there is no more
  Slot<Responses::depth> slot_;
};

// Asks for more tiles, ahead of those who work on them, until there are none. By one thread of the cluster's
// first CTA.
template <class C>
__device__ void schedule(Responses& responses) {
  Slot<Responses::depth> slot;
  for (int first_cta = 0; first_cta >= 0; slot.advance()) {
    const ptx::SharedAddress full = ptx::shared_address(&responses.full[slot.index]);
    const ptx::SharedAddress response = ptx::shared_address(responses.response[slot.index]);
    // Parity 1 first: the phase before the first is complete, the slots are free.
    ptx::mbarrier_wait(ptx::shared_address(&responses.empty[slot.index]), slot.parity ^ 1);
    for (int cta = 0; cta < C::ctas; ++cta)
      ptx::mbarrier_arrive_expect_bytes(full, sizeof responses.response[0], cta);
    ptx::try_cancel<C::ctas>(response, full);
    ptx::mbarrier_wait(full, slot.parity);
    // To ask again after a failure is undefined, so this thread reads the response, too.
    first_cta = ptx::canceled_cluster(response);
    ptx::fence_proxy_async();
  }
}

}  // namespace ladder::rung_09
