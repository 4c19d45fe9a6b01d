// tcgen05.mma: one thread has the tensor core multiply matrices in shared and tensor memory (PTX ISA
// 9.7.16.10).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "common/simulator/tensor_core/tcgen05_descriptor.h"
#include "common/simulator/units/tcgen05_pipeline.h"

namespace simulator {

class Decoder;

// How an instruction was written (Inst::data). An address in tensor memory: a register and what is added.
struct Tcgen05MmaUse : Tcgen05Form {
  struct Address {
    uint32_t reg = 0;
    uint32_t offset = 0;
  };
  bool a_in_tensor_memory = false;
  bool shifts_a = false;  // .ashift: a row of A comes from the next lane, the last one from its own
  Address d, a, scale[2], metadata;
  uint32_t matrix[2] = {};   // registers of the shared-memory descriptors of A (where it is there) and B
  uint32_t instruction = 0;  // register of the instruction descriptor
  uint32_t enable = 0;       // predicate: enable-input-d
  bool enable_negated = false;
  std::vector<uint32_t> disabled;  // registers: disable-output-lane
  uint32_t zero_columns = 0;       // register: of the zero-column mask descriptor; 0: none is given
  uint32_t scale_d = 0;            // D is scaled by 2^-scale_d
};

constexpr uint32_t most_columns = 256, most_shift = 32;

void decode_tcgen05_mma(Decoder& decoder);

class Tcgen05Mma final : public Tcgen05Operation {
 public:
  void land() override;  // product.cc

  const Tcgen05MmaUse* use = nullptr;
  InstructionDescriptor is;
  Tcgen05Layout layout{};
  Cta* cta[2] = {};
  uint32_t ctas = 1;
  // Addresses of the chunks of A and of B, the same in every CTA. A pair's CTAs have half the rows of A and
  // half the columns of B each. B: `shift` columns before those that are used.
  std::vector<uint32_t> chunks[2];
  uint32_t shift = 0;
  uint32_t d = 0, a = 0, scale[2] = {}, metadata = 0;  // addresses in tensor memory
  bool accumulate = false;
  std::array<uint32_t, 8> disabled{};  // lanes of both CTAs that keep their D
  std::bitset<most_columns> zero;      // columns of B that count as zeros
};

}  // namespace simulator
