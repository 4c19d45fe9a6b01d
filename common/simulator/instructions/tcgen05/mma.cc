#include "common/simulator/instructions/tcgen05/mma.h"

#include <algorithm>
#include <bit>

#include "common/simulator/access/check_tcgen05.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/tcgen05/common.h"
#include "common/simulator/instructions/tcgen05/pipeline.h"
#include "common/simulator/machine/machine.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

[[noreturn]] void illegal(Warp& warp, uint32_t lane, const std::string& what) {
  fault(warp, FindingKind::illegal_instruction, what, static_cast<int>(lane));
}

uint32_t address_of(Warp& warp, uint32_t lane, const Tcgen05MmaUse::Address& address) {
  return warp.reg<uint32_t>(address.reg)[lane] + address.offset;
}

// ---- Shared memory

// A (matrix 0) or B (1).
void set_chunks(Warp& warp, uint32_t lane, Tcgen05Mma& made, uint32_t matrix) {
  const char* const name = matrix ? "B" : "A";
  const uint64_t bits = warp.reg<uint64_t>(made.use->matrix[matrix])[lane];
  MatrixDescriptor descriptor;
  const std::string problem = parse_matrix_descriptor(made.is, matrix, bits, descriptor);
  if (!problem.empty()) {
    illegal(warp, lane,
            std::string("the shared-memory descriptor of ") + name + ": " + problem + " (PTX ISA, Table 40)");
  }
  check_tcgen05_pattern(warp, lane, descriptor, std::string("the shared-memory descriptor of ") + name);
  const uint32_t per = elements_per_chunk(made.is.element[matrix]);
  const uint32_t k = matrix == 0 && made.use->sparse ? made.is.k / 2 : made.is.k;
  const uint32_t across = (matrix ? made.is.n : made.is.m) / made.ctas + (matrix ? made.shift : 0);
  std::vector<uint32_t>& chunks = made.chunks[matrix];
  chunks = made.is.mn_major[matrix] ? chunks_of(descriptor, true, (across + per - 1) / per, k)
                                    : chunks_of(descriptor, false, across, k / per);
  check_tcgen05_chunks(warp, lane, chunks, name);
}

// ---- Tensor memory

// The first lane for a layout that has rows in all parts of it, or in one half of every 32 lanes.
uint32_t check_alignment(Warp& warp, uint32_t lane, const Tcgen05Mma& made, uint32_t address,
                         const char* name) {
  const uint32_t first = tcgen05_lane(address);
  if (first == 0 || (made.layout.half && first == 16)) return first;
  illegal(warp, lane,
          std::string("the address of ") + name + " is in lane " + std::to_string(first) + ": layout " +
              made.layout.id + (made.layout.half ? " has lane alignment 0 or 16" : " has lane alignment 0") +
              " (PTX ISA 9.7.16.10.5)");
}

// The lanes of D, and of A and metadata, in the CTA.
Tcgen05Lanes lanes_of(const Tcgen05Mma& made, uint32_t first) {
  if (!made.layout.half) return Tcgen05Lanes::of(0, made.layout.parts * made.layout.rows);
  Tcgen05Lanes lanes;
  for (uint32_t row = 0; row < made.layout.rows; row += 16)
    lanes = lanes | Tcgen05Lanes::of(made.layout.lane(row, 0) + first, 16);
  return lanes;
}

Tcgen05Lanes disabled_lanes(const Tcgen05Mma& made, uint32_t r) {
  Tcgen05Lanes lanes;
  for (uint32_t i = 0; i < 4; ++i) lanes.half[i / 2] |= uint64_t{made.disabled[4 * r + i]} << 32 * (i % 2);
  return lanes;
}

// Columns of tensor memory that a row's metadata take. Where it is one, the selector says which of two
// neighbours (PTX ISA 9.7.16.10.8.4, in figures; CUTLASS).
uint32_t metadata_columns(const InstructionDescriptor& is) {
  return elements_per_chunk(is.element[0]) >= 16 ? 2 : 1;
}

void note_tcgen05_words(Warp& warp, uint32_t lane, Tcgen05Mma& made) {
  const Tcgen05MmaUse& use = *made.use;
  made.tensor = tcgen05_begin(warp, lane, Tcgen05Accesses::Kind::mma);
  const uint32_t first = check_alignment(warp, lane, made, made.d, "D");
  const Tcgen05Lanes lanes = lanes_of(made, first);
  const auto same_lanes = [&](uint32_t address, const char* name) {
    if (check_alignment(warp, lane, made, address, name) == first) return;
    illegal(warp, lane,
            std::string(name) +
                " is in other lanes than D: layouts C and F \"must use the same alignment across "
                "matrices A, D and the sparsity metadata matrix\"");
  };
  if (use.a_in_tensor_memory) same_lanes(made.a, "A");
  if (use.sparse) same_lanes(made.metadata, "the sparsity metadata");
  for (uint32_t r = 0; r < made.ctas; ++r) {
    Cta& cta = *made.cta[r];
    const auto reads = [&](uint32_t address, Tcgen05Lanes in, uint32_t columns, const char* name) {
      tcgen05_access(warp, made.tensor, cta, {in, tcgen05_column(address), columns}, true, false, name);
    };
    if (use.a_in_tensor_memory) reads(made.a, lanes, 8, "A");
    if (use.sparse) reads(made.metadata, lanes, metadata_columns(made.is), "the sparsity metadata");
    // Row or column x has them in lane x mod 32 of every 32, in column x div 32.
    for (int i = 0; i < 2 && use.scale_vector; ++i) {
      const uint32_t count = i ? made.is.n / made.layout.parts : made.layout.rows, rest = count % 32;
      const char* const name = i ? "the scale factors of B" : "the scale factors of A";
      if (count >= 32) reads(made.scale[i], Tcgen05Lanes::all(), count / 32, name);
      Tcgen05Lanes some;
      for (uint32_t l = 0; l < tcgen05_lanes && rest; l += 32) some = some | Tcgen05Lanes::of(l, rest);
      if (rest) reads(made.scale[i] + count / 32, some, 1, name);
    }
    const Tcgen05Region d{lanes & ~disabled_lanes(made, r), tcgen05_column(made.d),
                          made.is.n / made.layout.parts};
    if (d.lanes.any()) tcgen05_access(warp, made.tensor, cta, d, made.accumulate, true, "D");
  }
}

// ---- The instruction

// Which columns of B count as zeros (PTX ISA 9.7.16.4.3): runs of columns that are used and of zeros, by
// turns, from the first of each sub-mask on. The ISA's examples are what its table says with "use" and "skip"
// exchanged.
void set_zero_columns(Warp& warp, uint32_t lane, Tcgen05Mma& made, uint32_t most) {
  const uint64_t bits = warp.reg<uint64_t>(made.use->zero_columns)[lane];
  const auto field = [bits](uint32_t first, uint32_t count) {
    return static_cast<uint32_t>(bits >> first & ((uint64_t{1} << count) - 1));
  };
  made.shift = field(56, 6);
  if (made.shift > most) {
    illegal(warp, lane,
            "the zero-column mask descriptor: Column Shift is " + std::to_string(made.shift) +
                ", and the instruction descriptor's maximum shift " + std::to_string(most));
  }
  if (!field(39, 1)) return;
  const uint32_t zeros = field(40, 8) + 1, used = field(48, 8) + 1, width = made.is.n / made.layout.parts;
  for (uint32_t part = 0; part < made.layout.parts; ++part) {
    const bool begins_with_zeros = field(32 + part, 1);
    for (uint32_t n = 0; n < width; ++n) {
      const uint32_t at = (n + field(8 * part, 8)) % (zeros + used);
      made.zero[part * width + n] = begins_with_zeros ? at < zeros : at >= used;
    }
  }
}

void issue(Warp& warp, uint32_t lane, const Tcgen05MmaUse& use) {
  auto made = std::make_unique<Tcgen05Mma>();
  made->use = &use;
  const uint32_t bits = warp.reg<uint32_t>(use.instruction)[lane];
  const std::string problem = parse_instruction_descriptor(use, bits, made->is);
  if (!problem.empty()) illegal(warp, lane, "the instruction descriptor: " + problem);
  if (use.shifts_a && made->is.m == 64)
    illegal(warp, lane, ".ashift \"is only allowed with M = 128 or M = 256\"");
  made->layout = layout_of(use, made->is);
  made->ctas = tcgen05_ctas(warp, lane, use.cta_group, made->cta);
  made->of_pair = use.cta_group == 2;
  made->d = address_of(warp, lane, use.d);
  made->accumulate = (warp.pred(use.enable) >> lane & 1) != use.enable_negated;
  for (size_t i = 0; i < use.disabled.size(); ++i)
    made->disabled[i] = warp.reg<uint32_t>(use.disabled[i])[lane];
  if (use.zero_columns) set_zero_columns(warp, lane, *made, bits >> 30 ? 4u << (bits >> 30) : 0);
  if (use.a_in_tensor_memory) made->a = address_of(warp, lane, use.a);
  if (use.sparse) {
    made->metadata = address_of(warp, lane, use.metadata);
    if (metadata_columns(made->is) == 1) made->metadata += made->is.selector;
  }
  if (use.scale_vector) {
    // Bits 30-31 are unused: some programs keep the scale factors' data ID there.
    for (int i = 0; i < 2; ++i) made->scale[i] = address_of(warp, lane, use.scale[i]) & 0x3fffffff;
  }
  if (!use.a_in_tensor_memory) set_chunks(warp, lane, *made, 0);
  set_chunks(warp, lane, *made, 1);
  note_tcgen05_words(warp, lane, *made);
  made->shared = note_tcgen05_chunks(warp, lane, {made->cta, made->ctas}, made->chunks);
  if (warp.worker->counting) {
    Counts& counts = warp.worker->counts[warp.frame->program->first + warp.pc - 1];
    counts.macs += uint64_t{made->is.m} * made->is.n * made->is.k;
  }
  begin_tcgen05_operation(warp, lane, std::move(made));
}

void run(Warp& warp, const Inst& inst) {
  check_single_thread(warp, "mma");
  for (uint32_t left = warp.exec; left; left &= left - 1)
    issue(warp, static_cast<uint32_t>(std::countr_zero(left)), *static_cast<const Tcgen05MmaUse*>(inst.data));
}

// ---- Decoding

Tcgen05MmaUse::Address tcgen05_address(Decoder& d, const Operand& operand) {
  if (operand.kind != Operand::Kind::address || operand.elements.size() != 1)
    d.unsupported("an address in tensor memory is missing");
  return {d.src(operand.elements[0], Type::b32), static_cast<uint32_t>(operand.value)};
}

// .scale_vec::NX, .blockN: scale factors of a row.
uint32_t scale_vector(Decoder& d, Tcgen05Kind kind) {
  const int given = d.one_of({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"});
  const bool bytes = kind == Tcgen05Kind::mxf8f6f4, nv = kind == Tcgen05Kind::mxf4nvf4;
  if (given < 0 && nv) d.unsupported("for .kind::mxf4nvf4 the scale vector size must be specified");
  const uint32_t found = given == 0 ? 1 : given == 1 ? 2 : given == 2 || given == 3 ? 4 : bytes ? 1 : 2;
  if (bytes ? found != 1 : found == 1 || (found == 4 && !nv))
    d.unsupported("kind and scale vector size do not go together (PTX ISA, Table 56)");
  return found;
}

void collector(Decoder& d, const Tcgen05Form& form) {
  const auto& modifiers = d.ptx().modifiers;
  for (size_t i = 0; i < modifiers.size(); ++i) {
    const std::string_view m = modifiers[i];
    const bool of_a = m == "collector::a::fill" || m == "collector::a::use" || m == "collector::a::lastuse" ||
                      m == "collector::a::discard";
    const bool of_b = m.size() > 15 && m.starts_with("collector::b") && m[12] >= '0' && m[12] <= '3' &&
                      (m.ends_with("::fill") || m.ends_with("::use") || m.ends_with("::lastuse") ||
                       m.ends_with("::discard"));
    if (form.ws ? of_b : of_a) d.modifier(i);  // a hint: what is in memory may not change meanwhile
  }
}

// PTX ISA 9.7.16.10.9.1.
void check_shift_of_a(Decoder& d, const Tcgen05MmaUse& use) {
  if (!use.shifts_a) return;
  if (!use.a_in_tensor_memory || use.ws || use.scale_vector)
    d.unsupported(".ashift takes A in tensor memory, and neither .ws nor block scaling");
  for (const std::string_view modifier : d.ptx().modifiers) {
    if (modifier == "collector::a::use" || modifier == "collector::a::fill")
      d.unsupported("it is illegal to specify .collector::a::use or .collector::a::fill along with .ashift");
  }
}

}  // namespace

void decode_tcgen05_mma(Decoder& d) {
  Tcgen05MmaUse use;
  use.sparse = d.has("sp");
  use.ws = d.has("ws");
  use.cta_group = tcgen05_cta_group(d);
  const int kind = d.one_of({"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8", "kind::mxf8f6f4",
                             "kind::mxf4", "kind::mxf4nvf4"});
  if (kind < 0) d.unsupported("unknown kind");
  use.kind = static_cast<Tcgen05Kind>(kind);
  const bool scales = use.kind >= Tcgen05Kind::mxf8f6f4;
  if (scales != d.has("block_scale")) d.unsupported("kind and .block_scale do not go together");
  if (use.ws && (use.cta_group == 2 || scales)) d.unsupported(".ws has .cta_group::1 and no block scaling");
  if (scales) use.scale_vector = scale_vector(d, use.kind);
  use.shifts_a = d.has("ashift");
  collector(d, use);

  size_t next = 0;
  use.d = tcgen05_address(d, d.operand(next++));
  use.a_in_tensor_memory = d.operand(next).kind == Operand::Kind::address;
  if (use.a_in_tensor_memory) {
    use.a = tcgen05_address(d, d.operand(next++));
  } else {
    use.matrix[0] = d.src(next++, Type::b64);
  }
  check_shift_of_a(d, use);
  use.matrix[1] = d.src(next++, Type::b64);
  if (use.sparse) use.metadata = tcgen05_address(d, d.operand(next++));
  use.instruction = d.src(next++, Type::b32);
  if (scales) {
    for (auto& scale : use.scale) scale = tcgen05_address(d, d.operand(next++));
  } else if (!use.ws && d.operand(next).kind == Operand::Kind::vector) {
    const Operand& mask = d.operand(next++);
    if (mask.elements.size() != 4 * use.cta_group) d.unsupported("disable-output-lane has another size");
    for (const Operand& each : mask.elements) use.disabled.push_back(d.src(each, Type::b32));
  }
  use.enable = d.predicate(d.operand(next++), use.enable_negated);
  if (use.ws && next < d.operand_count()) use.zero_columns = d.src(next++, Type::b64);
  if (!use.ws && next < d.operand_count()) {
    const Operand& scale = d.operand(next++);
    if (use.kind != Tcgen05Kind::f16 && use.kind != Tcgen05Kind::tf32)
      d.unsupported("scale-input-d \"is only valid for .kind::tf32 and .kind::f16\"");
    if (scale.kind != Operand::Kind::immediate || scale.value < 0 || scale.value > 15)
      d.unsupported("scale-input-d is an immediate from 0 to 15");
    use.scale_d = static_cast<uint32_t>(scale.value);
  }
  if (next != d.operand_count()) d.unsupported("another number of operands than expected");
  d.inst().data = d.keep(use);
  d.inst().inner = run;
}

}  // namespace simulator
