// Operations of tcgen05 whose completion an mbarrier signals: how they begin (units/tcgen05_pipeline.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/simulator/checks/finding.h"
#include "common/simulator/units/tcgen05_pipeline.h"

namespace simulator {

// While it takes effect: throws Fault.
[[noreturn]] void fail(const Tcgen05Operation& operation, FindingKind kind, std::string what);

// The lane of the warp issues the operation.
void begin_tcgen05_operation(Warp& warp, uint32_t lane, std::unique_ptr<Tcgen05Operation> operation);

// The lane of the warp commits: the completion of what it has issued so far will be signalled to the mbarrier
// (its address in the cluster's shared memory) or, with a mask (0: none is given), to the one at the same
// offset in every CTA whose bit is set.
void begin_tcgen05_commit(Warp& warp, uint32_t lane, uint32_t mbarrier, uint32_t mask);

}  // namespace simulator
