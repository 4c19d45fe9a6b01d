// The tensor memory of a CTA, and what is known of accesses to that of a cluster.
#pragma once

#include "common/simulator/checks/tcgen05_accesses.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/memory/tcgen05_memory.h"
#include "common/simulator/units/places.h"

namespace simulator {

struct Tcgen05OfCta final : UnitState {
  static constexpr auto place = InCta::tcgen05_memory;
  Tcgen05Memory memory;
};
inline Tcgen05Memory& tcgen05_memory(Cta& cta) {
  return cta.state<Tcgen05OfCta>().memory;
}
inline const Tcgen05Memory& tcgen05_memory(const Cta& cta) {
  return cta.state<Tcgen05OfCta>().memory;
}

struct Tcgen05OfCluster final : UnitState {
  static constexpr auto place = InCluster::tcgen05_memory;
  Tcgen05Accesses accesses;
};
inline Tcgen05Accesses& tcgen05_accesses(Cluster& cluster) {
  return cluster.state<Tcgen05OfCluster>().accesses;
}

}  // namespace simulator
