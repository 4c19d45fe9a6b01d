// What counters need to know of a kernel's code, taken from its PTX once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/simulator/counters/counts.h"
#include "common/simulator/program/program.h"
#include "common/simulator/reports/access_counts.h"

namespace simulator {

struct DescribedInstruction {
  std::string
      mix;  // "fma.f32", "ld.global.v4.f32": opcode, space, vector and types, without rounding, cache hints …
  MemoryUse memory;
  bool wgmma = false;                        // reads shared memory by itself
  bool tcgen05 = false;                      // may do so, too
  bool matrices = false;                     // ldmatrix, stmatrix: an access like another, named separately
  Overlap AccessCounts::*overlap = nullptr;  // which sum its own is part of; null: none
  uint64_t macs = 0;                         // mma: multiply-adds that the warp does together
  uint32_t place = 0;                        // index in KernelDescription::places
};

// Neighbouring accesses that ptxas may issue as one.
struct Adjacent {
  uint32_t place = 0;
  std::string mix;     // of each
  uint32_t count = 0;  // accesses
  uint32_t bytes = 0;  // together
  bool load = true, shared = true;
  uint32_t instruction = 0;  // the first, as an index in KernelDescription::instructions
};

struct KernelDescription {
  struct Place {
    std::string file;  // empty: unknown
    uint32_t line = 0;
    bool operator==(const Place&) const = default;
  };
  std::string name;  // demangled
  std::vector<Place> places;
  std::vector<DescribedInstruction> instructions;  // by Program::first + pc
  std::vector<Adjacent> adjacent;
};

KernelDescription describe(const Program& kernel, const std::vector<const Program*>& functions);

// "fma.rn.f32" → "fma.f32".
std::string mix_name(const ptx::Instruction& instruction, const MemoryUse& memory);

// What a warp does of M · N · K in an instruction for the tensor cores ("m16n8k16"); 0: it is another.
uint64_t multiply_adds(const ptx::Instruction& instruction);

// One line per kind of access and line of source, of those that were executed. counts: by instruction.
std::vector<std::string> notes(const KernelDescription& kernel, const std::vector<Counts>& counts);

}  // namespace simulator
