// Who keeps what where (machine/unit_state.h): of each grid, cluster, CTA, warp, activation and CPU
// thread a unit has a place for its state, and no other unit uses it.
#pragma once

#include <cstdint>

namespace simulator {

enum class InGrid : uint8_t { bulk_copies };
enum class InCta : uint8_t {
  mbarriers,
  register_pool,
  bulk_copies,
  async_stores,
  warpgroups,
  tcgen05_pipeline,
  tcgen05_allocator,
  tcgen05_memory,
};
enum class InCluster : uint8_t { tcgen05_memory, overlap };
enum class InWarp : uint8_t {
  mbarriers,
  async_copies,
  bulk_copies,
  wgmma,
  tcgen05_transfers,
  tcgen05_allocator,
  overlap,
};
enum class InFrame : uint8_t { wgmma, tcgen05_transfers, overlap };
enum class InWorker : uint8_t { mbarriers };

}  // namespace simulator
