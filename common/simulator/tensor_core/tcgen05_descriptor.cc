#include "common/simulator/tensor_core/tcgen05_descriptor.h"

#include <array>
#include <cstdio>

namespace simulator {
namespace {

uint32_t field(uint64_t bits, int first, int count) {
  return static_cast<uint32_t>(bits >> first & ((uint64_t{1} << count) - 1));
}
std::string value(const char* name, uint32_t is) {
  return std::string(name) + " is " + std::to_string(is) + ": ";
}

// Reserved bits of the tables: first bit, count.
std::string check_reserved(uint32_t bits, std::initializer_list<std::array<int, 2>> fields,
                           const char* table) {
  for (const auto& [first, count] : fields) {
    if (field(bits, first, count) == 0) continue;
    char text[120];
    std::snprintf(text, sizeof text, "bits %d-%d are not 0: they are reserved (PTX ISA, %s)", first,
                  first + count - 1, table);
    return text;
  }
  return {};
}

bool scales(Tcgen05Kind kind) {
  return kind == Tcgen05Kind::mxf8f6f4 || kind == Tcgen05Kind::mxf4 || kind == Tcgen05Kind::mxf4nvf4;
}
bool packed(Tcgen05Kind kind) {
  return kind == Tcgen05Kind::mxf4 || kind == Tcgen05Kind::mxf4nvf4;
}

// atype, btype
std::string parse_element(Tcgen05Kind kind, const char* name, uint32_t code, Tcgen05Element& to) {
  using E = Tcgen05Element;
  const auto none = [&](const char* there_are) { return value(name, code) + there_are; };
  switch (kind) {
    case Tcgen05Kind::f16:
      if (code > 1) return none(".kind::f16 has F16 = 0, BF16 = 1");
      to = code ? E::bf16 : E::f16;
      return {};
    case Tcgen05Kind::tf32:
      if (code != 2) return none(".kind::tf32 has TF32 = 2");
      to = E::tf32;
      return {};
    case Tcgen05Kind::i8:
      if (code > 1) return none(".kind::i8 has unsigned 8b = 0, signed 8b = 1");
      to = code ? E::s8 : E::u8;
      return {};
    case Tcgen05Kind::f8f6f4:
    case Tcgen05Kind::mxf8f6f4: {
      static constexpr E types[] = {E::e4m3, E::e5m2, E::e4m3, E::e2m3, E::e3m2, E::e2m1};
      if (code == 2 || code > 5) return none("there are E4M3 = 0, E5M2 = 1, E2M3 = 3, E3M2 = 4, E2M1 = 5");
      to = types[code];
      return {};
    }
    default:
      if (code != 1) return none(".kind::mxf4 and .kind::mxf4nvf4 have E2M1 = 1");
      to = E::e2m1_pair;
      return {};
  }
}

// Tables 42 to 44, but for M and N.
std::string parse_fields(const Tcgen05Form& form, uint32_t bits, InstructionDescriptor& to) {
  const Tcgen05Kind kind = form.kind;
  const bool scaled = scales(kind);
  std::string problem;
  if (packed(kind)) {
    problem = check_reserved(bits, {{0, 2}, {3, 1}, {6, 1}, {12, 1}, {24, 3}}, "Table 44");
    if (field(bits, 31, 1))
      return "K Dimension is 1: \"K = 96 is only supported for target architecture sm_103a\"";
  } else if (scaled) {
    problem = check_reserved(bits, {{0, 2}, {3, 1}, {6, 1}, {24, 3}, {31, 1}}, "Table 43");
  } else {
    problem = check_reserved(bits, {{6, 1}, {23, 1}, {29, 1}}, "Table 42");
  }
  if (!problem.empty()) return problem;
  if (field(bits, 2, 1) != form.sparse) {
    return value("Sparsity", field(bits, 2, 1)) + (form.sparse ? "a tcgen05.mma with .sp has Sparse = 1"
                                                               : "a tcgen05.mma without .sp has Dense = 0");
  }
  problem = parse_element(kind, "atype", field(bits, 7, 3), to.element[0]);
  if (problem.empty())
    problem = parse_element(kind, "btype", field(bits, 10, packed(kind) ? 2 : 3), to.element[1]);
  if (!problem.empty()) return problem;
  for (int i = 0; i < 2; ++i) {
    to.negated[i] = field(bits, 13 + i, 1);
    to.mn_major[i] = field(bits, 15 + i, 1);
    const char* const of = i ? "B Matrix" : "A Matrix";
    if (to.negated[i] && kind == Tcgen05Kind::i8)
      return std::string("Negate ") + of + " is 1: .kind::i8 does not support it (PTX ISA, Table 51)";
    if (to.mn_major[i] && packed(kind)) {
      return std::string("Transpose ") + of +
             " is 1: .kind::mxf4 and .kind::mxf4nvf4 do not support it (PTX ISA, Table 51)";
    }
  }
  if (scaled) {
    to.result = Tcgen05Result::f32;
    to.ue4m3 = !field(bits, 23, 1);
    to.scale_id[0] = field(bits, 29, 2);
    to.scale_id[1] = field(bits, 4, 2);
    if (to.ue4m3 && kind != Tcgen05Kind::mxf4nvf4) return "Scale Matrix Type is 0: this kind has UE8M0 = 1";
    if (to.ue4m3 && form.scale_vector != 4)
      return "Scale Matrix Type is UE4M3: that is for .scale_vec::4X or .block16 (PTX ISA, Table 57)";
    for (int i = 0; i < 2; ++i) {
      const char* const name = i ? "Matrix B Scale Factor Data ID" : "Matrix A Scale Factor Data ID";
      if (form.scale_vector == 2 && to.scale_id[i] % 2)
        return value(name, to.scale_id[i]) + "it must be 0 or 2";
      if (form.scale_vector == 4 && to.scale_id[i])
        return value(name, to.scale_id[i]) + "with .scale_vec::4X or .block16 it must be 0";
    }
    return {};
  }
  const uint32_t result = field(bits, 4, 2);
  const bool may_be_f16 = kind == Tcgen05Kind::f16 || kind == Tcgen05Kind::f8f6f4;
  if (kind == Tcgen05Kind::i8 ? result != 2 : result != 1 && !(result == 0 && may_be_f16)) {
    return value("dtype", result) + (kind == Tcgen05Kind::i8 ? ".kind::i8 has S32 = 2"
                                     : may_be_f16            ? "this kind has F16 = 0, F32 = 1"
                                                             : ".kind::tf32 has F32 = 1");
  }
  to.result = result == 2 ? Tcgen05Result::s32 : result == 1 ? Tcgen05Result::f32 : Tcgen05Result::f16;
  if (kind == Tcgen05Kind::f16 && result == 0 &&
      (to.element[0] != Tcgen05Element::f16 || to.element[1] != Tcgen05Element::f16)) {
    return "dtype is F16 and atype or btype BF16: these go with F32 only (PTX ISA, Table 39)";
  }
  to.saturate = field(bits, 3, 1);
  if (to.saturate && kind != Tcgen05Kind::i8) return "Saturate is 1: that is for integer types";
  to.selector = field(bits, 0, 2);
  if (to.selector && !form.sparse) return value("Sparsity selector", to.selector) + "A is dense";
  if (to.selector && (kind == Tcgen05Kind::i8 || kind == Tcgen05Kind::f8f6f4))
    return value("Sparsity selector", to.selector) + "it must be 0 for .kind::i8 and .kind::f8f6f4";
  if (to.selector > 1) return value("Sparsity selector", to.selector) + "it chooses one of two columns";
  if (field(bits, 30, 2) && !form.ws) return value("Maximum shift", field(bits, 30, 2)) + "that is for .ws";
  return {};
}

// Table 39.
std::string check_shape(const Tcgen05Form& form, const InstructionDescriptor& of) {
  const bool pair = form.cta_group == 2, integers = form.kind == Tcgen05Kind::i8;
  const auto is_m = [&](const char* there_are) {
    return value("M", of.m) + "this form has " + there_are + " (PTX ISA, Table 39)";
  };
  const auto is_n = [&](const std::string& there_are) {
    return value("N", of.n) + "this form has " + there_are + " (PTX ISA, Table 39)";
  };
  if (form.ws) {
    if (of.m != 32 && of.m != 64 && of.m != 128) return is_m("M = 32, 64, 128");
    if (of.n != 64 && of.n != 128 && (of.n != 256 || form.sparse))
      return is_n(form.sparse ? "N = 64, 128" : "N = 64, 128, 256");
    return {};
  }
  if (scales(form.kind)) {
    if (!pair && of.m != 128) return is_m("M = 128");
    if (pair && of.m != 256 && (of.m != 128 || form.sparse))
      return is_m(form.sparse ? "M = 256" : "M = 128, 256");
  } else if (pair ? of.m != 128 && of.m != 256 : of.m != 64 && of.m != 128) {
    return is_m(pair ? "M = 128, 256" : "M = 64, 128");
  }
  const uint32_t step = !integers ? 8 * form.cta_group : pair ? 32 : of.n > 32 ? 16 : 8;
  if (of.n < step || of.n > 256 || of.n % step) {
    return is_n(!integers ? (pair ? "N = 16, 32, … 256" : "N = 8, 16, … 256")
                : pair    ? "N = 32, 64, … 256"
                          : "N = 8, 16, 24, 32, 48, … 256");
  }
  return {};
}

}  // namespace

std::string parse_instruction_descriptor(const Tcgen05Form& form, uint32_t bits, InstructionDescriptor& to) {
  std::string problem = parse_fields(form, bits, to);
  if (!problem.empty()) return problem;
  to.n = field(bits, 17, 6) * 8;
  to.m = scales(form.kind) ? field(bits, 27, 2) * 128 : field(bits, 24, 5) * 16;
  to.k = 2 * elements_per_chunk(to.element[0]) * (form.sparse ? 2 : 1);
  problem = check_shape(form, to);
  if (!problem.empty()) return problem;
  const uint32_t step = 16 * form.cta_group;
  if (to.mn_major[1] && elements_per_chunk(to.element[1]) == 16 && to.n % step) {
    return value("N", to.n) + "a transposed B of 8 bits has N in steps of " + std::to_string(step) +
           " (PTX ISA, Table 52)";
  }
  return {};
}

std::string parse_matrix_descriptor(const InstructionDescriptor& instruction, uint32_t matrix, uint64_t bits,
                                    MatrixDescriptor& to) {
  if (const uint32_t fixed = field(bits, 46, 3); fixed != 1) {
    return "bits 46-48 are " + std::to_string(fixed) + ": they have the \"fixed constant value of 0b001\"";
  }
  if (field(bits, 53, 8)) return "bits 53-60 are not 0: they have the fixed constant value of 0";
  if (field(bits, 14, 2) || field(bits, 30, 2))
    return "bits 14-15 or 30-31 are not 0: an address or offset is encoded as (x & 0x3FFFF) >> 4";
  if (field(bits, 52, 1)) {
    return "Leading dimension stride mode is 1: \"the byte address mode for the leading dimension stride is "
           "supported on sm_103a\"";
  }
  const uint32_t mode = field(bits, 61, 3);
  if (mode == 3 || mode == 5 || mode == 7)
    return value("the swizzling mode", mode) + "\"values 3, 5 and 7 are invalid\"";
  const bool words = instruction.element[matrix] == Tcgen05Element::tf32;
  if (instruction.mn_major[matrix] && (mode == 1) != words) {
    return value("the swizzling mode", mode) +
           (words ? "transposed matrices of .kind::tf32 have only 1, 128-Byte with 32B atomic swizzling"
                  : "transposed matrices of this kind have all but 1, 128-Byte with 32B atomic swizzling") +
           " (PTX ISA, Table 54)";
  }
  to = MatrixDescriptor(bits);
  to.wide_atoms = mode == 1;
  if (to.wide_atoms) to.swizzle = 128;
  return {};
}

Tcgen05Layout layout_of(const Tcgen05Form& form, const InstructionDescriptor& of) {
  if (form.cta_group == 2) {
    if (of.m == 256) return {'A', 1, 128, false};
    return form.sparse ? Tcgen05Layout{'C', 1, 64, true} : Tcgen05Layout{'B', 2, 64, false};
  }
  if (of.m == 128) return {'D', 1, 128, false};
  if (of.m == 32) return {'G', 4, 32, false};
  return form.ws ? Tcgen05Layout{'E', 2, 64, false} : Tcgen05Layout{'F', 1, 64, true};
}

uint32_t elements_per_chunk(Tcgen05Element element) {
  switch (element) {
    case Tcgen05Element::f16:
    case Tcgen05Element::bf16:
      return 8;
    case Tcgen05Element::tf32:
      return 4;
    case Tcgen05Element::e2m1_pair:
      return 32;
    default:
      return 16;
  }
}

uint32_t elements_per_word(Tcgen05Element element) {
  return elements_per_chunk(element) / 4;
}

}  // namespace simulator
