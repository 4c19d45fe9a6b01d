// An access to shared memory that a cp.async is still to write, in the words of a finding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/simulator/access/address_use.h"
#include "common/simulator/machine/machine.h"

namespace simulator {

// "the copy by thread (27,0,0) at gemm.cu:127": some thread's, and where it was issued.
std::string name_of_copy(const Warp& warp, uint32_t by, uint32_t lane, uint32_t pc);

// The lane's access, `bytes` at offset[lane] as in check_shared(), meets this copy: which it is, what its
// thread has waited for and, of a load, how far from the address there are bytes that are complete; then what
// is to be done, the likeliest first.
std::vector<std::string> about_unfinished_copy(const Warp& warp, uint32_t lane, const uint32_t offset[32],
                                               uint32_t bytes, const AddressUse& use,
                                               const PendingCopies::Copy& copy);

}  // namespace simulator
