// Registers of one function, from what its instructions read and write.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/simulator/ptx/module.h"

namespace simulator {

struct Access {
  std::vector<uint32_t> reads, writes;  // register numbers
  bool early_clobber = false;
  bool partial_write = false;  // guarded: lanes that the guard leaves out keep their value
};
// By width: predicates (a bit per lane), 2, 4, 8, 16 bytes per lane.
constexpr std::array<uint32_t, 5> slot_bytes{4, 64, 128, 256, 512};
struct RegisterSlots {
  std::array<uint32_t, 5> begin{}, count{};
};
struct Allocated {
  std::vector<uint32_t> offset;  // per register; from `begin` on
  uint32_t end = 0;              // bytes
  RegisterSlots slots;
  uint32_t words_live = 0;              // most 32-bit registers alive at once
  std::vector<uint32_t> uninitialised;  // registers that may be read before they are written
  std::vector<bool> read;               // per register: is it ever read?
};
Allocated allocate_registers(const ptx::Function& function, const std::vector<Access>& accesses,
                             uint32_t begin);

}  // namespace simulator
