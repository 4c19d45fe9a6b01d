// What one wgmma.mma_async computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/simulator/tensor_core/sparse.h"
#include "common/simulator/units/wgmma_queue.h"

namespace simulator {

struct WgmmaElement;  // of A or B: a type

// How an instruction was written (Inst::data). Registers, in Inst::list: D, then A where that is in registers
// (four). Inst::a, b: descriptors; c: scale-d; d: the metadata of a sparse A.
struct WgmmaUse {
  uint32_t n = 0, k = 0;  // m is 64; sparse: k counts what is not stored, too
  const WgmmaElement *a = nullptr, *b = nullptr;
  bool a_in_registers = false;
  bool mn_major[2] = {};  // A, B
  bool negated[2] = {};
  bool half = false;  // D is f16
  bool saturate = false;
  bool sparse = false;
  uint32_t selector = 0;       // which threads hold the metadata
  bool scale_negated = false;  // !scale-d

  uint32_t results() const { return n / (half ? 4 : 2); }  // registers of D
  bool same_results(const WgmmaUse& other) const;          // "accumulators … of the same shape"
};

const WgmmaElement* wgmma_element(std::string_view type);  // null: none of that name
uint32_t bits_of(const WgmmaElement& element);
// Do these go together? Result: the k that there is, for matrices that are not sparse; 0: none.
uint32_t wgmma_k(const WgmmaElement& a, const WgmmaElement& b, std::string_view result);
bool may_be_mn_major(const WgmmaElement& element);
bool is_floating(const WgmmaElement& element);
bool is_bits(const WgmmaElement& element);
Sparsity sparsity_of(const WgmmaUse& use);

// D += A · B, in the registers of all the warps that still have theirs. shared: the CTA's shared memory.
// False: the metadata of a sparse A are invalid.
bool multiply(const WgmmaOperation& operation, const WgmmaUse& use, const std::byte* shared);

}  // namespace simulator
