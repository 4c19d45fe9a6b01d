// The life of an mbarrier object: from mbarrier.init to mbarrier.inval. Arrivals that no thread makes come
// when the operation whose completion they signal is over, perhaps after that inval. They are for the object
// that was there when they were issued, and count in no other.
#pragma once

#include <cstdint>
#include <string>

namespace simulator {

struct Cta;
class Warp;

// Numbers of phases: units/mbarriers.h.
uint64_t first_phase_of_new_mbarrier(Warp& warp);
uint64_t newest_mbarrier(const Warp& warp);

// Of the object at this address: how many phases are complete.
uint64_t mbarrier_phase(const Cta& cta, uint32_t address);

// The lane is going to initialise an object: a finding where a valid one is there. before: the last object
// that there was before the instruction, whose lanes may all initialise the same.
void check_new_mbarrier(Warp& warp, int lane, Cta& cta, uint32_t address, uint64_t before);

// The warp has seen the last phase complete of the object at this address.
void saw_phase(const Warp& warp, const Cta& cta, uint32_t address);
// For a report of a deadlock: the warp waits there. A line that says so if it is late, for a phase that
// others have seen complete; else empty.
std::string missed_phase(const Warp& warp, const Cta& cta, uint32_t address);

struct MbarrierArrival {
  const char* name;  // "a copy"
  const Warp& warp;  // who issued it, and where
  uint32_t lane, pc;
};
// Is the object gone that had this phase when the arrival was issued? Reports it then.
bool arrives_late(Cta& cta, uint32_t address, uint64_t phase, const MbarrierArrival& arrival);

}  // namespace simulator
