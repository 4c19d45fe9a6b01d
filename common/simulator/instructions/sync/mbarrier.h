// mbarrier objects (PTX ISA 9.7.13.15): eight bytes of shared memory each, which hold the counts; what orders
// memory, and that there is an object at all, is kept beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/simulator/instructions/sync/mbarrier_life.h"

namespace simulator {

struct Cta;
class Warp;

// `count` arrivals at the object at this address in the CTA's shared memory, by a lane of the warp: its
// memory accesses so far come before what those do who wait for the phase. Faults where there is no object or
// more arrive than are expected.
void arrive_at_mbarrier(Warp& warp, Cta& cta, uint32_t address, uint32_t count);

// This many bytes that the object at this address counts have arrived. Returns what is wrong with that;
// empty: nothing.
std::string complete_bytes(Cta& cta, uint32_t address, uint32_t bytes);

// Faults where there is no object at this address; a finding where nothing orders its initialisation before
// this.
void check_mbarrier(Warp& warp, Cta& cta, uint32_t address);
// One arrival that no thread makes, such as that of a tcgen05.commit. clock: what comes before it. Returns
// what is wrong with that; empty: nothing.
std::string arrive_asynchronously(Cta& cta, uint32_t address, const std::vector<uint32_t>& clock);

// fence.mbarrier_init: publishes the objects that the warp has initialised.
void publish_mbarriers(Warp& warp);

// One more arrival is expected in this phase and no other (cp.async.mbarrier.arrive without .noinc).
void expect_one_more(Warp& warp, Cta& cta, uint32_t address);

}  // namespace simulator
