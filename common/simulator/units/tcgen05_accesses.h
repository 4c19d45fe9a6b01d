// Who accesses tensor memory, and what comes before what (PTX ISA 9.7.16.6).
//
// tcgen05.mma, .cp and .shift, the operations of a thread, run in the order in which they are issued; those
// of another thread join this pipeline where something orders the two threads. All else has to wait: for an
// operation of the pipeline at the mbarrier of a tcgen05.commit, for a warp's tcgen05.ld and .st with
// tcgen05.wait. An operation has ended for those warps that have waited for it, and for those that
// synchronise with them later.
//
// The ISA requires a tcgen05.fence on both sides of such a synchronisation, and promises order in the
// pipeline for some pairs of operations only. Hardware and widely used kernels do without, and without
// tcgen05.wait between loads and stores of the warps that share a quarter of the lanes, as CUTLASS's
// attention kernels do: those are taken for a pipeline, too. `strict` requires all of it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/simulator/checks/shared_shadow.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/units/places.h"
#include "common/simulator/units/tcgen05_memory.h"

namespace simulator {

class Tcgen05Accesses {
 public:
  // Of an operation: in order of issue, with its thread in the lower bits; 0: none. Valid after the operation
  // has ended, too.
  using Id = uint64_t;
  // free: of columns, by tcgen05.dealloc
  enum class Kind : uint8_t { mma, cp, cp_4x256b, shift, ld, st, free };
  // A moment of a warp: its clock; how many moments of any warp came before.
  struct Moment {
    uint32_t warp = 0, clock = 0, life = 0;
    uint64_t count = 0;
  };
  struct Operation {
    Id id = 0;
    Kind kind = Kind::mma;
    uint32_t warp = 0, lane = 0;  // lane: of those of the pipeline
    uint32_t pc = 0;              // in the kernel's counters
    uint32_t quarter = 0;         // of the cluster's lanes, that its warp loads from and stores to
    Moment issued;                // by its own warp
    Moment fenced;                // its warp's first tcgen05.fence::before_thread_sync since; count 0: none
    std::vector<Moment> seen;     // when warps had waited for it
    uint32_t accesses = 0;        // that are still kept
  };
  struct Access {
    Tcgen05Region region;
    bool read = false, write = false;
    const char* operand = "";  // "D", "the scale factors of A"
    Id id = 0;
  };
  struct Problem {
    enum class Kind : uint8_t {
      none,
      unfinished,  // the earlier operation has not been waited for
      unordered,   // it has, or the earlier one is of the pipeline; nothing orders this one after that
      unpiped,     // strict: the ISA does not name the pair
      unfenced_before,
      unfenced_after,  // strict
    } kind = Kind::none;
    Operation earlier;
    Access access;  // its
  };

  void reset(uint32_t ctas, uint32_t warps, bool strict);  // a new cluster; warps: of all of it

  // The warp (or its lane) issues an operation. Its accesses follow.
  Id begin(SharedShadow& shadow, uint32_t warp, uint32_t lane, uint32_t pc, Kind kind);
  // To tensor memory of the CTA of this rank. The first problem with an earlier operation.
  Problem access(SharedShadow& shadow, uint32_t rank, const Access& access);
  // The warp has waited for it, and so for all of the pipeline that its thread issued before.
  void seen(SharedShadow& shadow, uint32_t warp, Id id);
  // The warp uses what its tcgen05.ld loads, for which it has not waited: but for `strict`, it has now.
  void used(SharedShadow& shadow, uint32_t warp, Id id);
  // tcgen05.wait: the warp has waited for all of its own of this kind.
  void waited(SharedShadow& shadow, uint32_t warp, Kind kind);
  void fence_before(SharedShadow& shadow, uint32_t warp);
  void fence_after(const SharedShadow& shadow, uint32_t warp);
  // Forgets the accesses to columns that are freed.
  void forget(uint32_t rank, uint32_t column, uint32_t columns);

 private:
  Moment now(SharedShadow& shadow, uint32_t warp);
  void end(const SharedShadow& shadow, Operation& transfer, const Moment& moment);
  bool is_before(const SharedShadow& shadow, const Moment& moment, uint32_t warp) const;
  bool is_fenced_after(const SharedShadow& shadow, const Moment& moment, uint32_t warp) const;
  Problem::Kind judge(const SharedShadow& shadow, const Access& earlier, const Access& access) const;
  void drop(std::vector<Access>& from, size_t index);

  bool strict_ = false;
  uint32_t warps_ = 0;  // of a CTA
  uint64_t moments_ = 0;
  uint64_t count_ = 0;                         // of operations
  std::map<Id, Operation> operations_;         // those with accesses
  std::vector<std::vector<Access>> accesses_;  // by rank of the CTA
  // [w]: when that warp last executed tcgen05.fence::after_thread_sync, and up to which clock it then knew of
  // the others.
  struct Fence {
    uint64_t count = 0;
    uint32_t life = 0;
    std::vector<uint32_t> known;
  };
  std::vector<Fence> fences_;
};

struct Tcgen05OfCluster final : UnitState {
  static constexpr auto place = InCluster::tcgen05_memory;
  Tcgen05Accesses accesses;
};
inline Tcgen05Accesses& tcgen05_accesses(Cluster& cluster) {
  return cluster.state<Tcgen05OfCluster>().accesses;
}

}  // namespace simulator
