// What the instructions of tcgen05 have in common.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/simulator/checks/async_accesses.h"
#include "common/simulator/tensor_core/shared_matrix.h"

namespace simulator {

class Decoder;
class Warp;
struct Cta;

// .cta_group::1 or ::2, which is the same in all of a kernel.
uint32_t tcgen05_cta_group(Decoder& decoder);

// A finding where more than one thread of the warp executes the current instruction: mma, commit, cp, shift.
void check_single_thread(Warp& warp, const char* name);

// The current instruction of this lane reads chunks of 16 bytes of shared memory, at the same addresses in
// each of some CTAs. Faults where they are not in it; name: "A".
void check_tcgen05_chunks(Warp& warp, uint32_t lane, const std::vector<uint32_t>& chunks, const char* name);
// Strict: a finding where the pattern of the matrix's swizzle is misplaced.
void check_tcgen05_pattern(Warp& warp, uint32_t lane, const MatrixDescriptor& matrix,
                           const std::string& name);
// Counts what it reads, and reports it to the checks.
AsyncAccesses::Id note_tcgen05_chunks(Warp& warp, uint32_t lane, std::span<Cta* const> ctas,
                                      std::span<const std::vector<uint32_t>> matrices);

// The CTAs that an instruction with .cta_group::1 or ::2 works on: [0] is the even one of a pair. A finding
// where the pair is not complete. Returns how many there are.
uint32_t tcgen05_ctas(Warp& warp, uint32_t lane, uint32_t cta_group, Cta* ctas[2]);

}  // namespace simulator
