// What may be wrong with an access to tensor memory. See units/tcgen05_accesses.h. Bounds and allocation are
// always checked; the rest only where checks are on, and then an operation has a number other than 0.
#pragma once

#include <cstdint>

#include "common/simulator/machine/machine.h"
#include "common/simulator/units/tcgen05_accesses.h"

namespace simulator {

// The warp's current instruction issues an operation, for this lane (ld, st: 0).
Tcgen05Accesses::Id tcgen05_begin(Warp& warp, uint32_t lane, Tcgen05Accesses::Kind kind);
// It is going to access these words of the CTA's tensor memory; operand: "D", "the scale factors of A", ""
// where there is only one. Faults where they lie outside, or in columns that are not allocated. Reported:
// reads of what was never written; what nothing orders after an earlier operation. What is written counts as
// written from now on.
void tcgen05_access(Warp& warp, Tcgen05Accesses::Id id, Cta& cta, const Tcgen05Region& region, bool read,
                    bool write, const char* operand);
// The warp has waited for it, and so for all mma, cp and shift that its thread issued before.
void tcgen05_seen(Warp& warp, Tcgen05Accesses::Id id);

}  // namespace simulator
