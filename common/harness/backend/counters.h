// What the simulator counts of one launch. The names are those of the hardware's counters in
// hardware_counters.py, where both have one, so that the two can be laid side by side.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ladder {

class JsonObject;

// One kind of memory access, summed over warps.
struct AccessCounts {
  std::uint64_t requests = 0;          // instructions of a warp with at least one active lane
  std::uint64_t sectors = 0;           // distinct 32-byte sectors, request by request; 0 for shared memory
  std::uint64_t bytes = 0;             // requested by the active lanes
  std::uint64_t wavefronts = 0;        // of shared memory: passes over its banks
  std::uint64_t ideal_wavefronts = 0;  // of shared memory: what they would be without bank conflicts

  AccessCounts& operator+=(const AccessCounts& other) {
    requests += other.requests;
    sectors += other.sectors;
    bytes += other.bytes;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    return *this;
  }
  double sectors_per_request() const { return requests > 0 ? double(sectors) / double(requests) : 0; }
};

struct Counters {
  std::uint64_t ctas = 0, warps = 0;
  std::uint64_t ctas_left_out = 0;  // that did not run (SIMULATOR_CTAS); the rest is of the others
  std::uint64_t instructions = 0;   // PTX instructions executed by a warp; nvcc makes fewer or more of them
  std::uint64_t lanes = 0;          // active in them, summed
  AccessCounts global_load, global_store, shared_load, shared_store, local, atomic;
  AccessCounts bulk_copy;   // cp.async.bulk, TMA: sectors of global memory
  AccessCounts async_copy;  // cp.async: sectors that it reads, wavefronts that write them to shared memory
  AccessCounts wgmma;       // what it reads of shared memory, once for the four warps
  AccessCounts tcgen05;     // what its mma and cp read there
  AccessCounts ldmatrix, stmatrix;                         // these are part of shared_load and shared_store
  std::uint64_t tensor_instructions = 0, tensor_macs = 0;  // mma of a warp; multiply-adds that they do
  std::map<std::string, std::uint64_t> mix;  // instruction with type, such as "fma.rn.f32" → how many
  // What overlaps (common/simulator/units/overlap.h): numbers by name, and in words.
  std::vector<std::pair<std::string, double>> overlap;
  std::vector<std::string> overlap_lines;
  std::vector<std::string> notes;  // what the hardware may do differently, a line each
  std::string listing;             // the kernel's source with each line's counts; empty: not requested

  double active_lanes() const { return instructions > 0 ? double(lanes) / double(instructions) : 0; }
  std::uint64_t wavefronts() const {
    return shared_load.wavefronts + shared_store.wavefronts + async_copy.wavefronts + wgmma.wavefronts +
           tcgen05.wavefronts;
  }
  std::uint64_t ideal_wavefronts() const {
    return shared_load.ideal_wavefronts + shared_store.ideal_wavefronts + async_copy.ideal_wavefronts +
           wgmma.ideal_wavefronts + tcgen05.ideal_wavefronts;
  }
};

JsonObject counters_json(const Counters& counters);         // flat: one number per name
JsonObject instruction_mix_json(const Counters& counters);  // the most frequent first

// Several lines under the heading `what`: accesses by kind, instructions, notes.
std::string counters_text(const std::string& what, const Counters& counters);

}  // namespace ladder
