// The descriptors of tcgen05.mma (PTX ISA 9.7.16.4) and what they may say together (9.7.16.2, 9.7.16.10).
#pragma once

#include <cstdint>
#include <string>

#include "common/simulator/tensor_core/shared_matrix.h"

namespace simulator {

enum class TensorKind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// e2m1_pair: two to a byte; the other types narrower than 8 bits lie in tensor memory one to a byte, and in
// shared memory as 16 packed ones that are padded to 16 bytes.
enum class TensorElement : uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8, e2m1_pair };
enum class TensorResult : uint8_t { f16, f32, s32 };

// How an instruction was written, as far as its descriptors have to fit.
struct TensorForm {
  TensorKind kind = TensorKind::f16;
  uint32_t cta_group = 1;
  bool sparse = false, ws = false;
  uint32_t scale_vector = 0;  // scale factors of a row along a K that is not 96; 0: no block scaling
};

// M and N are those of both CTAs of a pair.
struct InstructionDescriptor {
  uint32_t m = 0, n = 0, k = 0;                                         // k: with what a sparse A leaves out
  TensorElement element[2] = {TensorElement::f16, TensorElement::f16};  // of A, B
  TensorResult result = TensorResult::f32;
  bool negated[2] = {}, mn_major[2] = {};
  bool saturate = false;
  bool ue4m3 = false;         // scale factors; else UE8M0
  uint32_t scale_id[2] = {};  // byte within a word of tensor memory, of A's and B's scale factors
  uint32_t selector = 0;      // sparse: sub-columns of the metadata
};

// What of the ISA's rules the bits break, with the field's name; empty: none, and `to` is what they say.
std::string parse_instruction_descriptor(const TensorForm& form, uint32_t bits, InstructionDescriptor& to);

// The same of a shared-memory descriptor, of A (matrix 0) or B (1).
std::string parse_matrix_descriptor(const InstructionDescriptor& instruction, uint32_t matrix, uint64_t bits,
                                    MatrixDescriptor& to);

// Where the rows of D lie in tensor memory (PTX ISA 9.7.16.10.5). N is cut into `parts` of which each has its
// own lanes, 128 / parts after those before; each CTA has `rows` of M; without `half`, row r of it is in lane
// r of each part, else in lane 32 · (r div 16) + r mod 16, or 16 more.
struct TensorLayout {
  char id;
  uint32_t parts, rows;
  bool half;

  uint32_t lane(uint32_t row, uint32_t part) const {
    return half ? row / 16 * 32 + row % 16 : part * (128 / parts) + row;
  }
};
TensorLayout layout_of(const TensorForm& form, const InstructionDescriptor& instruction);

uint32_t elements_per_chunk(TensorElement element);  // in 16 bytes of shared memory
uint32_t elements_per_word(TensorElement element);   // in 32 bits of tensor memory, of A

}  // namespace simulator
