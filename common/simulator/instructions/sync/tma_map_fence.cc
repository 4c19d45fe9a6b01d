#include "common/simulator/instructions/sync/tma_map_fence.h"

#include <bit>
#include <mutex>
#include <string>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/units/bulk_copies.h"
#include "common/simulator/units/tma_map.h"

namespace simulator {
namespace {

// .release: the changes that this CTA has made so far.
void run_release(Warp& warp, const Inst&) {
  Grid& grid = *warp.cta->grid;
  const std::lock_guard lock(grid.mutex);
  for (auto& [address, map] : grid.state<ChangedMaps>().at) map.released |= map.cta == warp.cta->index;
}

void acquire(Warp& warp, uint64_t address) {
  Grid& grid = *warp.cta->grid;
  const std::lock_guard lock(grid.mutex);
  const auto& changed = grid.state<ChangedMaps>().at;
  if (const auto map = changed.find(address); map != changed.end())
    warp.cta->state<BulkCopies>().acquired_maps[address] = map->second.changes;
}

// .acquire: of the map at each lane's address.
void run_acquire(Warp& warp, const Inst& inst) {
  const AddressUse& use = *static_cast<const AddressUse*>(inst.data);
  Resolved at;
  named_addresses(warp, inst, use, at);
  for (uint32_t left = warp.exec; left; left &= left - 1) acquire(warp, at.address[std::countr_zero(left)]);
}

}  // namespace

void decode_tma_map_fence(Decoder& d) {
  d.has("tensormap::generic");
  d.one_of({"cta", "cluster", "gpu", "sys"});
  if (d.has("release")) {
    d.inst().inner = run_release;
    return;
  }
  if (!d.has("acquire")) d.unsupported("unknown fence");
  AddressUse use;
  use.generic = true;
  use = memory_address(d, d.operand(0), use, 16);
  if (d.operand(1).kind != ptx::Operand::Kind::immediate || d.operand(1).value != tma_map_bytes)
    d.unsupported("the size must be 128");
  d.memory() = {};
  d.inst().data = d.keep(use);
  d.inst().inner = run_acquire;
}

void tma_map_changed(Warp& warp, uint64_t address, bool released) {
  Grid& grid = *warp.cta->grid;
  const std::lock_guard lock(grid.mutex);
  ChangedMap& map = grid.state<ChangedMaps>().at[address];
  ++map.changes;
  map.released = released;
  map.cta = warp.cta->index;
  map.source = source_of(*warp.frame, warp.pc - 1, std::countr_zero(warp.exec));
}

void check_tma_map(Warp& warp, uint32_t lane, uint64_t address) {
  const uint64_t window = address >> 48 << 48;
  if (window == local_window || window == shared_window) {
    fault(warp, FindingKind::illegal_address,
          std::string("the tensor map is in ") + (window == local_window ? "local" : "shared") +
              " memory: it must be \"in .param space or .const space or .global space\" (PTX ISA, "
              "cp.async.bulk.tensor); a parameter that is no __grid_constant__ may be copied to local memory",
          static_cast<int>(lane));
  }
  if (!warp.worker->checking) return;
  Grid& grid = *warp.cta->grid;
  std::unique_lock lock(grid.mutex);
  const auto& changed = grid.state<ChangedMaps>().at;
  const auto found = changed.find(address);
  if (found == changed.end()) return;
  const ChangedMap map = found->second;
  lock.unlock();
  const auto acquired = warp.cta->state<BulkCopies>().acquired_maps.find(address);
  const bool seen =
      acquired != warp.cta->state<BulkCopies>().acquired_maps.end() && acquired->second == map.changes;
  if (map.released && seen) return;
  finding(warp, FindingKind::missing_fence,
          std::string("the tensor map was changed, and no fence.proxy.tensormap::generic.") +
              (map.released ? "acquire" : "release") + " came after that",
          static_cast<int>(lane), {"it was changed at " + map.source});
}

}  // namespace simulator
