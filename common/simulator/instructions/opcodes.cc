#include "common/simulator/instructions/opcodes.h"

#include <unordered_map>

#include "common/simulator/instructions/async/opcodes.h"
#include "common/simulator/instructions/control/opcodes.h"
#include "common/simulator/instructions/memory/opcodes.h"
#include "common/simulator/instructions/mma/opcodes.h"
#include "common/simulator/instructions/scalar/opcodes.h"
#include "common/simulator/instructions/sync/opcodes.h"
#include "common/simulator/instructions/tcgen05/opcodes.h"
#include "common/simulator/units/overlap.h"

namespace simulator {

Decode find_opcode(std::string_view name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, Decode> all;
    for (const auto& family : {arithmetic_opcodes(),     bit_opcodes(),           count_opcodes(),
                               compare_opcodes(),        convert_opcodes(),       approximate_opcodes(),
                               move_opcodes(),           barrier_opcodes(),       fence_opcodes(),
                               mbarrier_opcodes(),       warp_opcodes(),          async_copy_opcodes(),
                               tma_map_opcodes(),        memory_opcodes(),        stack_opcodes(),
                               atomic_opcodes(),         control_opcodes(),       cluster_opcodes(),
                               cluster_launch_opcodes(), register_pool_opcodes(), tcgen05_opcodes(),
                               matrix_load_opcodes(),    mma_opcodes(),           wmma_opcodes(),
                               wgmma_opcodes()}) {
      for (const Opcode& opcode : family) all.emplace(opcode.name, opcode.decode);
    }
    return all;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

std::span<Unit* const> all_units() {
  static Unit* const units[] = {&barrier_unit(),          &register_pool_unit(), &async_copy_unit(),
                                &bulk_copy_unit(),        &async_store_unit(),   &tcgen05_pipeline_unit(),
                                &tcgen05_transfer_unit(), &wgmma_unit(),         &tcgen05_allocation_unit(),
                                &cluster_unit(),          &mbarrier_unit(),      &overlap_unit()};
  return units;
}

std::span<const MakeWatch> all_watches() {
  static constexpr MakeWatch watches[] = {watch_wgmma, watch_tcgen05_loads};
  return watches;
}

}  // namespace simulator
