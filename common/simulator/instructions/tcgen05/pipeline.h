// Operations of tcgen05 whose end an mbarrier tells: how they begin (units/tcgen05_pipeline.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/simulator/checks/finding.h"
#include "common/simulator/units/tcgen05_pipeline.h"

namespace simulator {

// While it takes effect: throws Fault.
[[noreturn]] void fail(const Tcgen05Operation& operation, FindingKind kind, std::string what);

// The lane of the warp asks for the operation.
void begin_tcgen05_operation(Warp& warp, uint32_t lane, std::unique_ptr<Tcgen05Operation> operation);

// The lane of the warp commits: the mbarrier (its address in the cluster's shared memory), or one at the same
// offset in every CTA whose bit is set in the mask (0: none is given), is to be told of what it has asked for
// so far.
void begin_tcgen05_commit(Warp& warp, uint32_t lane, uint32_t mbarrier, uint32_t mask);

}  // namespace simulator
