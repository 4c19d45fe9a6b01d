// Counts of a line of source, or of a kernel, by kind.
#pragma once

#include "common/simulator/counters/counts.h"

namespace simulator {

struct AccessCounts {
  Counts total;  // all instructions
  Counts global_load, global_store, shared_load, shared_store, local, atomic;
  Counts async_copy;          // cp.async: sectors that it reads, wavefronts that write them to shared memory
  Counts bulk_copy;           // cp.async.bulk, a request each: sectors and bytes of global memory
  Counts wgmma;               // what it reads of shared memory, a request each
  Counts tcgen05;             // the same of tcgen05.mma and .cp
  Counts ldmatrix, stmatrix;  // these are part of shared_load and shared_store

  // What overlaps (units/overlap.h). Waits: for groups of cp.async, of bulk stores, of wgmma; for mbarriers;
  // for tcgen05.ld and .st. mma: of any kind. Loads of global memory, by ldmatrix, others of shared memory.
  Overlap async_wait, bulk_wait, wgmma_wait, mbarrier_wait, tcgen05_wait, mma;
  Overlap global_use, matrix_use, shared_use, barrier;
};

}  // namespace simulator
