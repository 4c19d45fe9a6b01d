// The major-ness of a matrix in shared memory, as the descriptors of wgmma and tcgen05 encode it. PTX ISA,
// "Major-ness supported by Strides".
#pragma once

namespace ladder::ptx {

// Which dimension of an operand is contiguous: k, or the other one (m of A, n of B).
enum class Major { k = 0, mn = 1 };

}  // namespace ladder::ptx
