#include "common/simulator/instructions/tcgen05/copy.h"

#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "common/simulator/access/check_async.h"
#include "common/simulator/access/check_tcgen05.h"
#include "common/simulator/counters/counts.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/instructions/tcgen05/common.h"
#include "common/simulator/instructions/tcgen05/pipeline.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/numeric/decompress.h"
#include "common/simulator/tensor_core/tcgen05_descriptor.h"
#include "common/simulator/units/tcgen05_memory.h"
#include "common/simulator/units/tcgen05_pipeline.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr uint32_t chunk_bytes = 16, chunk_columns = 4;
constexpr uint32_t quarter = 32;  // lanes

// Row r goes to this lane, and to `copies` - 1 more, each `apart` after the one before.
struct Shape {
  const char* name;
  uint32_t rows, chunks;  // chunks: of 16 bytes in a row
  const char* multicast;  // null: none
  uint32_t copies, apart;
  uint32_t lane(uint32_t row) const {
    if (rows == 4) return quarter * row;
    return rows == 64 && apart == quarter ? row / quarter * 2 * quarter + row % quarter : row;
  }
};
constexpr Shape shapes[] = {
    {"128x256b", 128, 2, nullptr, 1, 0},        {"4x256b", 4, 2, nullptr, 1, 0},
    {"128x128b", 128, 1, nullptr, 1, 0},        {"64x128b", 64, 1, "warpx2::02_13", 2, 64},
    {"64x128b", 64, 1, "warpx2::01_23", 2, 32}, {"32x128b", 32, 1, "warpx4", 4, 32}};

struct CopyUse {
  uint32_t cta_group = 1;
  const Shape* shape = nullptr;  // null: shift
  uint32_t bits = 8;             // of an element in shared memory; 8: it is copied as it is
};

class Tcgen05Copy final : public Tcgen05Operation {
 public:
  void land() override {
    const Shape& shape = *use->shape;
    for (uint32_t r = 0; r < ctas; ++r) {
      Tcgen05Memory& memory = tcgen05_memory(*cta[r]);
      for (uint32_t row = 0; row < shape.rows; ++row) {
        for (uint32_t c = 0; c < shape.chunks; ++c) {
          const std::byte* from = cta[r]->shared.data() + chunks[row * shape.chunks + c];
          std::byte bytes[chunk_bytes];
          std::memcpy(bytes, from, sizeof bytes);
          if (use->bits != 8) decompress(use->bits, from, bytes);
          uint32_t words[chunk_columns];
          std::memcpy(words, bytes, sizeof words);
          for (uint32_t copy = 0; copy < shape.copies; ++copy) {
            const uint32_t to = tcgen05_lane(address) + shape.lane(row) + copy * shape.apart;
            for (uint32_t w = 0; w < chunk_columns; ++w)
              memory.column(tcgen05_column(address) + c * chunk_columns + w)[to] = words[w];
          }
        }
      }
    }
  }

  const CopyUse* use = nullptr;
  uint32_t address = 0;
  Cta* cta[2] = {};
  uint32_t ctas = 1;
  std::vector<uint32_t> chunks;  // addresses, the same in every CTA
};

class Tcgen05Shift final : public Tcgen05Operation {
 public:
  static constexpr uint32_t columns = 8, rows = quarter - 1;  // ".31x256b"
  void land() override {
    for (uint32_t r = 0; r < ctas; ++r) {
      for (uint32_t c = 0; c < columns; ++c) {
        uint32_t* to = tcgen05_memory(*cta[r]).column(tcgen05_column(address) + c) + tcgen05_lane(address);
        std::memmove(to, to + 1, rows * sizeof *to);
      }
    }
  }

  uint32_t address = 0;
  Cta* cta[2] = {};
  uint32_t ctas = 1;
};

[[noreturn]] void illegal(Warp& warp, uint32_t lane, const std::string& what) {
  fault(warp, FindingKind::illegal_instruction, what, static_cast<int>(lane));
}

void set_chunks(Warp& warp, uint32_t lane, const Inst& inst, Tcgen05Copy& made) {
  MatrixDescriptor descriptor;
  const std::string problem =
      parse_matrix_descriptor(InstructionDescriptor{}, 0, warp.reg<uint64_t>(inst.b)[lane], descriptor);
  if (!problem.empty())
    illegal(warp, lane, "the shared-memory descriptor: " + problem + " (PTX ISA, Table 40)");
  check_tcgen05_pattern(warp, lane, descriptor, "the shared-memory descriptor");
  const Shape& shape = *made.use->shape;
  made.chunks = chunks_of(descriptor, false, shape.rows, shape.chunks);
  check_tcgen05_chunks(warp, lane, made.chunks, "its matrix");
  made.shared = note_tcgen05_chunks(warp, lane, {made.cta, made.ctas}, {&made.chunks, 1});
}

void issue_copy(Warp& warp, uint32_t lane, const Inst& inst, uint32_t address) {
  auto made = std::make_unique<Tcgen05Copy>();
  const CopyUse& use = *static_cast<const CopyUse*>(inst.data);
  const Shape& shape = *use.shape;
  made->use = &use;
  made->ctas = tcgen05_ctas(warp, lane, use.cta_group, made->cta);
  made->of_pair = use.cta_group == 2;
  made->address = address;
  const uint32_t first = tcgen05_lane(address);
  Tcgen05Lanes lanes = Tcgen05Lanes::all();
  if (shape.rows == 4) {
    lanes = {};
    for (uint32_t row = 0; row < shape.rows; ++row)
      lanes = lanes | Tcgen05Lanes::of(first + shape.lane(row), 1);
  }
  if (first >= (shape.rows == 4 ? quarter : 1u)) {
    illegal(warp, lane,
            "taddr is in lane " + std::to_string(first) + ", but a ." + shape.name + " begins in " +
                (shape.rows == 4 ? "one of the lanes 0 to 31" : "lane 0"));
  }
  set_chunks(warp, lane, inst, *made);
  made->tensor = tcgen05_begin(
      warp, lane, shape.rows == 4 ? Tcgen05Accesses::Kind::cp_4x256b : Tcgen05Accesses::Kind::cp);
  for (uint32_t r = 0; r < made->ctas; ++r) {
    tcgen05_access(warp, made->tensor, *made->cta[r],
                   {lanes, tcgen05_column(address), shape.chunks * chunk_columns}, false, true, "");
  }
  begin_tcgen05_operation(warp, lane, std::move(made));
}

void issue_shift(Warp& warp, uint32_t lane, const Inst& inst, uint32_t address) {
  auto made = std::make_unique<Tcgen05Shift>();
  const uint32_t cta_group = static_cast<const CopyUse*>(inst.data)->cta_group;
  made->ctas = tcgen05_ctas(warp, lane, cta_group, made->cta);
  made->of_pair = cta_group == 2;
  made->address = address;
  const uint32_t first = tcgen05_lane(address);
  if (first % quarter || first >= tcgen05_lanes) {
    illegal(warp, lane,
            "taddr is in lane " + std::to_string(first) +
                ": \"The lane of the address operand taddr must be aligned to 32\"");
  }
  made->tensor = tcgen05_begin(warp, lane, Tcgen05Accesses::Kind::shift);
  Tcgen05Region region{{}, tcgen05_column(address), Tcgen05Shift::columns};
  for (uint32_t r = 0; r < made->ctas; ++r) {
    for (const bool write : {false, true}) {
      region.lanes = Tcgen05Lanes::of(write ? first : first + 1, Tcgen05Shift::rows);
      tcgen05_access(warp, made->tensor, *made->cta[r], region, !write, write, "");
    }
  }
  begin_tcgen05_operation(warp, lane, std::move(made));
}

template <bool copies>
void run(Warp& warp, const Inst& inst) {
  check_single_thread(warp, copies ? "cp" : "shift");
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t address = warp.reg<uint32_t>(inst.a)[lane] + static_cast<uint32_t>(inst.imm);
    copies ? issue_copy(warp, lane, inst, address) : issue_shift(warp, lane, inst, address);
  }
}

void decode_address(Decoder& d) {
  const Operand& address = d.operand(0);
  if (address.kind != Operand::Kind::address || address.elements.size() != 1)
    d.unsupported("an address in tensor memory is missing");
  d.inst().a = d.src(address.elements[0], Type::b32);
  d.inst().imm = static_cast<uint64_t>(address.value);
}

}  // namespace

void decode_tcgen05_copy(Decoder& d) {
  CopyUse use;
  use.cta_group = tcgen05_cta_group(d);
  for (const Shape& shape : shapes) {
    if (!d.has(shape.name)) continue;
    if (shape.multicast && !d.has(shape.multicast)) continue;
    use.shape = &shape;
    break;
  }
  if (!use.shape) d.unsupported("unknown shape, or without the multicast that goes with it");
  const int source = d.one_of({"b4x16_p64", "b6x16_p32"});
  if (d.has("b8x16") != (source >= 0)) d.unsupported("a source format without a destination format");
  if (source >= 0) use.bits = source == 0 ? 4 : 6;
  decode_address(d);
  d.inst().b = d.src(1, Type::b64);
  if (d.operand_count() != 2) d.unsupported("unexpected operands");
  d.inst().data = d.keep(use);
  d.inst().inner = run<true>;
}

void decode_tcgen05_shift(Decoder& d) {
  CopyUse use;
  use.cta_group = tcgen05_cta_group(d);
  if (!d.has("down")) d.unsupported("only .down is there");
  decode_address(d);
  if (d.operand_count() != 1) d.unsupported("unexpected operands");
  d.inst().data = d.keep(use);
  d.inst().inner = run<false>;
}

}  // namespace simulator
