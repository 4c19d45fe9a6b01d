// The machine around a warp: CTAs with their shared memory and barriers, the grid, and the CPU threads that
// run them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/simulator/checks/async_accesses.h"
#include "common/simulator/checks/finding.h"
#include "common/simulator/checks/pending_copies.h"
#include "common/simulator/checks/shared_shadow.h"
#include "common/simulator/counters/counts.h"
#include "common/simulator/machine/unit.h"
#include "common/simulator/machine/unit_state.h"
#include "common/simulator/machine/warp.h"
#include "common/simulator/memory/global_memory.h"
#include "common/simulator/program/kernel.h"

namespace simulator {

class Trace;

// Windows of the generic address space (PTX ISA 5.1 leaves them to the implementation). They lie above what a
// process can map, so that no global address falls into them.
constexpr uint64_t shared_window = 1ull << 48;
constexpr uint64_t local_window = 2ull << 48;
constexpr uint64_t param_window = 3ull << 48;
constexpr uint64_t function_window =
    4ull << 48;  // addresses of functions: this + 16 × index in the kernel's table
constexpr uint64_t window_bytes = 1ull << 32;

// Shared memory begins with bytes that the system keeps (1 KiB since compute capability 8.0): address 0 is
// unused.
constexpr uint32_t shared_reserved = 1024;

constexpr uint32_t max_call_depth = 4096;
constexpr uint32_t max_local_bytes = 512 * 1024;  // per thread

// A warp at a barrier, for reports.
struct BarrierPart {
  uint32_t warp = 0, pc = 0;  // pc: of the instruction, in the kernel's counters
  bool waits = true;          // false: bar.arrive
};

// A barrier of a CTA (PTX ISA 9.7.13.1).
struct Barrier {
  uint32_t expected = 0;              // threads; 0: all of the CTA's that have not exited
  uint32_t arrived = 0;               // threads, in whole warps
  uint64_t warps = 0;                 // that take part in this phase
  uint32_t votes = 0, voters = 0;     // bar.red: threads whose predicate is true; threads
  std::vector<uint32_t> clock;        // what bar.arrive has released
  bool open = false;                  // a warp waits or has arrived
  std::vector<BarrierPart> arrivals;  // bar.arrive, in this phase
  std::vector<BarrierPart> mixed;     // the last phase in which warps waited at different instructions
  bool mixed_all = false;             // it was one of all threads of the CTA
};

// In the shared memory of a cluster (.shared::cluster) the upper bits of an address are the rank of the CTA,
// in the CTA's own addresses too (as on hardware since compute capability 9.0): addresses of shared variables
// differ between the CTAs of a cluster.
constexpr int rank_shift = 24;
constexpr uint32_t offset_in_cta = (1u << rank_shift) - 1;  // of such an address

struct Grid : UnitStates {
  const Kernel* kernel = nullptr;
  const Program* entry = nullptr;
  Launch launch;
  const std::byte* params = nullptr;
  uint64_t ctas = 0;                // that run
  uint32_t threads = 0, warps = 0;  // of a CTA
  uint32_t shared_bytes = 0;        // of a CTA: reserved + static + dynamic
  uint64_t seed = 0;
  uint64_t id = 0;         // of the launch
  uint64_t workspace = 0;  // cooperative launches: what %envreg1:2 points to
  bool counting = false, checking = false;
  Trace* trace = nullptr;        // null: not traced
  Unit* observer = nullptr;      // where there is counting: sees every instruction with Program::observed
  std::span<Unit* const> units;  // in the order in which they get their turn
  Findings findings;
  uint64_t clusters = 0;  // that run
  uint64_t launched = 0;  // clusters of the launch: more, where only some run (Settings::ctas)
  // Clusters wait in queues: i, i + queues, i + 2 · queues … in the i-th. One of each runs at a time, and it
  // alone may cancel the launch of others in its queue (cluster_queue.h), so that which cluster does what
  // does not depend on the number of CPU threads. 0: all are in one queue, and one thread runs them.
  uint64_t queues = 0;
  uint64_t window = 1;                     // a seed changes the order of the clusters within so many
  std::atomic<uint64_t> next{0};           // queue to begin next; queues == 0: cluster
  std::atomic<uint64_t> stopped{~0ull};    // lowest cluster in which a fault ended the launch
  std::mutex mutex;                        // of what follows, and of what units keep of a grid
  std::map<uint64_t, std::string> output;  // printf, by cluster
  std::optional<Finding> fault;            // of cluster `stopped`
};

// CTAs that run at the same time, on one CPU thread, and may address each other's shared memory. Without
// clusters each CTA is one.
struct Cluster : UnitStates {
  uint64_t index = 0;
  uint64_t waiting = 0;                    // the next one of its queue
  std::vector<std::unique_ptr<Cta>> ctas;  // by rank
  SharedShadow shadow;
  PendingCopies pending_copies;
  AsyncAccesses async_accesses;
  // barrier.cluster. What a thread does after its arrival and before its wait is ordered by nothing, so
  // arrivals are kept by lane, in the warps. Clocks: of the arrivals in this phase, of those before it.
  std::vector<uint32_t> arriving, completed;
};

struct Cta : UnitStates {
  Grid* grid = nullptr;
  Worker* worker = nullptr;
  Cluster* cluster = nullptr;
  uint32_t rank = 0;         // in the cluster
  uint32_t shadow_base = 0;  // of this CTA's shared memory (without what the system keeps) in the cluster's
  uint64_t index = 0;
  uint32_t id[3] = {};
  std::vector<std::byte> shared;  // grid->shared_bytes
  std::vector<Warp> warps;
  std::array<Barrier, 16> barriers;
  uint32_t unfinished = 0;             // warps
  uint64_t time = 0, clock_reads = 0;  // %clock: what the turns so far allowed a warp; readings so far
};

// What a CPU thread keeps.
struct Worker : UnitStates {
  Grid* grid = nullptr;
  std::vector<Counts> counts;    // per instruction of the kernel and of all it calls; empty: not counting
  std::vector<Overlap> overlap;  // the same
  uint64_t executed = 0;         // warp-instructions
  uint64_t events = 0;  // instructions that changed memory or arrived at a barrier: has anything happened?
  uint64_t private_events = 0;       // of these: writes to local memory, which no other thread sees
  uint64_t random = 1;               // state of the generator for interleavings
  uint64_t probed = 0;               // `executed` when a deadlock was last looked for
  bool probing = false;              // a deadlock is suspected: a store of what is there already is no event
  std::array<Allocation, 4> recent;  // allocations touched last (copies), the very last one first
  bool counting = false, checking = false;
  std::vector<std::unique_ptr<Frame>> frames;  // free ones
};

// Errors of a handler: throws Fault. The instruction is the one before warp.pc; lane −1: the first of
// warp.exec.
[[noreturn]] void fault(Warp& warp, FindingKind kind, std::string what, int lane = -1);
// What a GPU lets pass: reports it, and in Checks::fail mode ends the launch. Only to be called when
// warp.worker->checking.
void finding(Warp& warp, FindingKind kind, std::string what, int lane = -1,
             std::vector<std::string> details = {});
Site site_of(const Warp& warp, const Program& program, uint32_t pc, int lane);
Site site_of(const Warp& warp, const Frame& frame, uint32_t pc, int lane);
// "gemm.cu:42 (inlined at …)"; without -lineinfo "PTX line 17". In a function of a header that was called,
// for this lane, the program's own line first: "gemm.cu:42 (calls cuda/barrier:300)".
std::string source_of(const Program& program, uint32_t pc);
std::string source_of(const Frame& frame, uint32_t pc, int lane);
const Program* program_at(const Cta& cta, uint32_t pc);  // that has this index in the kernel's counters
std::string place_of(const Cta& cta, uint32_t pc);       // source_of() by such an index
Trace* trace_of(const Warp& warp);                       // null: this warp is not traced
std::string lanes_text(uint32_t lanes);                  // "lanes 0-15, 20"
std::string warps_text(uint32_t warps);                  // "warps 0-3"
std::string lanes_that(uint32_t lanes, const std::string& verb);  // "lane 3 waits", "lanes 0-15 wait"
std::string thread_name(const Cta& cta, uint32_t thread);         // "(3,0,0)"
// What a CTA takes there: rows of 128 bytes, so that chunks of 16 are the same as by the CTA's own addresses.
inline uint32_t shadow_bytes(const Grid& grid) {
  return (grid.shared_bytes - shared_reserved + 127) / 128 * 128;
}
// Where a byte of the CTA's shared memory lies in its cluster's, as the checks count.
inline uint32_t shadow_offset(const Cta& cta, uint64_t address) {
  return cta.shadow_base + static_cast<uint32_t>(address) - shared_reserved;
}
// The warp of this number in the cluster.
inline Warp& warp_of_cluster(const Cluster& cluster, uint32_t in_cluster) {
  const uint32_t warps = static_cast<uint32_t>(cluster.ctas[0]->warps.size());
  return cluster.ctas[in_cluster / warps]->warps[in_cluster % warps];
}
inline std::span<Unit* const> units_of(const Cta& cta) {
  return cta.grid->units;
}
inline uint32_t thread_index(const Warp& warp, uint32_t lane) {
  return warp.index * warp_size + lane;
}

}  // namespace simulator
