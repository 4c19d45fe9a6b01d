// The element-wise operations of cp.reduce.async.bulk (PTX ISA 9.7.9.25.4.2).
#pragma once

#include "common/simulator/ptx/module.h"
#include "common/simulator/units/bulk_copies.h"

namespace simulator {

// In the order in which decoders look for their names.
enum class ReductionOp : uint8_t { add, min, max, inc, dec, op_and, op_or, op_xor };
constexpr const char* reduction_names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

// Null: there is no such operation on such elements. shared: on shared memory, which has fewer.
Reduction reduction_for(ReductionOp op, ptx::Type type, bool shared);
Reduction reduction_for(ReductionOp op, TmaType type);  // of elements of a tensor
// Do operations of different CTAs give the same in any order?
bool commutes(ReductionOp op, ptx::Type type);

}  // namespace simulator
