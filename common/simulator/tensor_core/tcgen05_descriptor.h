// The descriptors of tcgen05.mma (PTX ISA 9.7.16.4) and what they may say together (9.7.16.2, 9.7.16.10).
#pragma once

#include <cstdint>
#include <string>

#include "common/simulator/tensor_core/shared_matrix.h"

namespace simulator {

enum class Tcgen05Kind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

// e2m1_pair: two to a byte; the other types narrower than 8 bits lie in tensor memory one to a byte, and in
// shared memory as 16 packed ones that are padded to 16 bytes.
enum class Tcgen05Element : uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8, e2m1_pair };
enum class Tcgen05Result : uint8_t { f16, f32, s32 };

// How an instruction was written, as far as its descriptors have to fit.
struct Tcgen05Form {
  Tcgen05Kind kind = Tcgen05Kind::f16;
  uint32_t cta_group = 1;
  bool sparse = false, ws = false;
  uint32_t scale_vector = 0;  // scale factors of a row along a K that is not 96; 0: no block scaling
};

// M and N are those of both CTAs of a pair.
struct InstructionDescriptor {
  uint32_t m = 0, n = 0, k = 0;  // k: with what a sparse A leaves out
  Tcgen05Element element[2] = {Tcgen05Element::f16, Tcgen05Element::f16};  // of A, B
  Tcgen05Result result = Tcgen05Result::f32;
  bool negated[2] = {}, mn_major[2] = {};
  bool saturate = false;
  bool ue4m3 = false;         // scale factors; else UE8M0
  uint32_t scale_id[2] = {};  // byte within a word of tensor memory, of A's and B's scale factors
  uint32_t selector = 0;      // sparse: sub-columns of the metadata
};

// What of the ISA's rules the bits break, with the field's name; empty: none, and `to` is what they say.
std::string parse_instruction_descriptor(const Tcgen05Form& form, uint32_t bits, InstructionDescriptor& to);

// The same of a shared-memory descriptor, of A (matrix 0) or B (1).
std::string parse_matrix_descriptor(const InstructionDescriptor& instruction, uint32_t matrix, uint64_t bits,
                                    MatrixDescriptor& to);

// Where the rows of D lie in tensor memory (PTX ISA 9.7.16.10.5). N is cut into `parts` of which each has its
// own lanes, 128 / parts after those before; each CTA has `rows` of M; without `half`, row r of it is in lane
// r of each part, else in lane 32 · (r div 16) + r mod 16, or 16 more.
struct Tcgen05Layout {
  char id;
  uint32_t parts, rows;
  bool half;

  uint32_t lane(uint32_t row, uint32_t part) const {
    return half ? row / 16 * 32 + row % 16 : part * (128 / parts) + row;
  }
};
Tcgen05Layout layout_of(const Tcgen05Form& form, const InstructionDescriptor& instruction);

uint32_t elements_per_chunk(Tcgen05Element element);  // in 16 bytes of shared memory
uint32_t elements_per_word(Tcgen05Element element);   // in 32 bits of tensor memory, of A

}  // namespace simulator
