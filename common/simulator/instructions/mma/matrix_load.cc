// ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.14.5.15 to 17).
//
// An 8×8 matrix of 16-bit elements in a register: lane l has the elements 2·(l % 4) and the next of row l
// / 4. So the register is the matrix's 32 words in order. In shared memory it is eight rows of 16 bytes; the
// lane that gives a row's address counts as the one that accesses it. Matrices of bytes are 8, 16 or 32 such
// rows and lie in registers in other ways:
//   .m8n16: as above, four bytes in place of two elements, each from 4 or 6 bits.
//   .m16n16.trans, 16 rows to two registers: lane l has, of columns l / 4 and l / 4 + 8, rows 4·(l % 4) to
//   the third after. .m16n8.trans, of stmatrix, a row to a column of the matrix: lane l has rows l / 4 and l
//   / 4 + 8 of columns 2·(l % 4) and the next: D of mma.
// The figures leave the order of bytes in .m16n16 open; it is what users have measured (on sm_120), and what
// CUTLASS undoes with prmt. With .b4x16_p64 and .b6x16_p32 a row has 8 or 12 bytes, the rest of the 16 is
// ignored.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/numeric/decompress.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr uint32_t row_bytes = 16;

enum class Form : uint8_t { plain, transposed, of_bytes };

// Eight rows in shared memory, or a register.
union Matrix {
  uint32_t words[32];
  uint16_t halves[8][8];
  uint8_t bytes[8][row_bytes];
  uint8_t lanes[32][4];

  Matrix transposed() const {
    Matrix result;
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) result.halves[i][j] = halves[j][i];
    }
    return result;
  }
};

// Register i of .m16n16.trans: one of the two of 16 rows.
Matrix columns_of_16(const Matrix* rows, int i) {
  Matrix result;
  for (int l = 0; l < warp_size; ++l) {
    for (int b = 0; b < 4; ++b) {
      const int row = 4 * (l % 4) + b;
      result.lanes[l][b] = rows[i / 2 * 2 + row / 8].bytes[row % 8][l / 4 + 8 * (i % 2)];
    }
  }
  return result;
}

// What .m16n8.trans stores of a register: a row has a column.
Matrix columns_of_8(const Matrix& from) {
  Matrix result;
  for (int l = 0; l < warp_size; ++l) {
    for (int b = 0; b < 4; ++b) result.bytes[2 * (l % 4) + b % 2][l / 4 + 8 * (b / 2)] = from.lanes[l][b];
  }
  return result;
}

// Lane 8i + r gives the address of row r of matrix i. f(rows) is called with those lanes executing.
template <int count, class F>
void at_rows(Warp& warp, const Inst& inst, F f) {
  const uint32_t exec = warp.exec;
  const bool full = warp.full;
  warp.exec &= count == 4 ? ~0u : (1u << (8 * count % 32)) - 1;
  warp.full = full && warp.exec == exec;
  if (warp.exec) {
    const AddressUse& use = *static_cast<const AddressUse*>(inst.data);
    Resolved rows;
    resolve(warp, inst, use, rows);
    if (!rows.shared) {
      fault(warp, FindingKind::illegal_address, "a row of a matrix that is not in shared memory");
    }
    f(use, rows);
  }
  warp.exec = exec;
  warp.full = full;
}

// bits: of an element in shared memory.
template <int count, Form form, uint32_t bits>
void run_load(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  Matrix matrices[count] = {};
  at_rows<count>(warp, inst, [&](const AddressUse&, const Resolved& rows) {
    for (int row = 0; row < 8 * count; ++row) {
      uint8_t* to = matrices[row / 8].bytes[row % 8];
      bits < 8 ? decompress(bits, rows.at[row], reinterpret_cast<std::byte*>(to))
               : static_cast<void>(std::memcpy(to, rows.at[row], row_bytes));
    }
  });
  for (int i = 0; i < count; ++i) {
    const Matrix result = form == Form::of_bytes     ? columns_of_16(matrices, i)
                          : form == Form::transposed ? matrices[i].transposed()
                                                     : matrices[i];
    warp.write<uint32_t>(inst.list[i], [&](int l) { return result.words[l]; });
  }
}

template <int count, Form form>
void run_store(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  Matrix matrices[4] = {};
  for (int i = 0; i < count; ++i) {
    std::memcpy(matrices[i].words, warp.reg<uint32_t>(inst.list[i]), sizeof matrices[i].words);
    if (form == Form::transposed) matrices[i] = matrices[i].transposed();
    if (form == Form::of_bytes) matrices[i] = columns_of_8(matrices[i]);
  }
  at_rows<count>(warp, inst, [&](const AddressUse& use, const Resolved& rows) {
    const std::byte* values = reinterpret_cast<const std::byte*>(matrices);
    bool changed = !warp.worker->probing;
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const int row = std::countr_zero(left);
      const std::byte* from = values + static_cast<uint32_t>(row) * row_bytes;
      changed = changed || std::memcmp(rows.at[row], from, row_bytes) != 0;
      std::memcpy(rows.at[row], from, row_bytes);
    }
    stored(warp, inst, use, rows, values, changed);
  });
}

// By how many registers a lane has: 1, 2, 4.
using Handlers = std::array<Handler, 3>;
template <Form form, uint32_t bits>
constexpr Handlers loads{run_load<1, form, bits>, run_load<2, form, bits>, run_load<4, form, bits>};
template <Form form>
constexpr Handlers stores{run_store<1, form>, run_store<2, form>, run_store<4, form>};

struct Shape {
  std::string_view name, type, from;  // from: .src_fmt, where type is .dst_fmt
  bool transposed;
  uint32_t bits;  // of an element in shared memory
  Handlers run;
  uint32_t registers = 1;  // of a matrix
};
constexpr std::string_view bytes = "b8x16", fours = "b4x16_p64", sixes = "b6x16_p32";
constexpr Shape load_shapes[] = {{"m8n8", "b16", "", false, 16, loads<Form::plain, 16>},
                                 {"m8n8", "b16", "", true, 16, loads<Form::transposed, 16>},
                                 {"m8n16", bytes, fours, false, 4, loads<Form::plain, 4>},
                                 {"m8n16", bytes, sixes, false, 6, loads<Form::plain, 6>},
                                 {"m16n16", "b8", "", true, 8, loads<Form::of_bytes, 8>, 2},
                                 {"m16n16", bytes, fours, true, 4, loads<Form::of_bytes, 4>, 2},
                                 {"m16n16", bytes, sixes, true, 6, loads<Form::of_bytes, 6>, 2}};
constexpr Shape store_shapes[] = {{"m8n8", "b16", "", false, 16, stores<Form::plain>},
                                  {"m8n8", "b16", "", true, 16, stores<Form::transposed>},
                                  {"m16n8", "b8", "", true, 8, stores<Form::of_bytes>}};

void decode(Decoder& d, bool store, std::span<const Shape> shapes) {
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  const int number = d.one_of({"x1", "x2", "x4"});
  const bool transposed = d.has("trans");
  const auto& words = d.ptx().modifiers;
  const auto is_there = [&](std::string_view word) {
    return word.empty() || std::find(words.begin(), words.end(), word) != words.end();
  };
  const Shape* shape = nullptr;
  for (const Shape& each : shapes) {
    if (transposed == each.transposed && is_there(each.name) && is_there(each.type) && is_there(each.from))
      shape = &each;
  }
  const uint32_t registers = shape && number >= 0 ? shape->registers << number : 0;
  if (registers == 0 || registers > 4) d.unsupported("unknown form");
  for (const std::string_view word : {shape->name, shape->type, shape->from}) d.has(word);
  AddressUse use;
  use.kind = store ? AccessKind::store : AccessKind::load;
  use.rows_of_matrices = true;
  use.element = shape->bits == 16 ? 2 : 1;
  use.used = (1u << row_bytes * shape->bits / std::max(shape->bits, 8u)) - 1;
  memory_space(d, use);
  if (!use.generic && use.space != Space::shared) d.unsupported("matrices are loaded from shared memory");
  d.own_guard();
  std::vector<uint32_t> list;
  registers_of(d, d.operand(store ? 1 : 0), registers, Type::b32, !store, list);
  d.inst().list = d.list(std::move(list));
  memory_address(d, d.operand(store ? 0 : 1), use, row_bytes);
  d.inst().inner = shape->run[static_cast<size_t>(std::countr_zero(registers))];
}
void decode_load(Decoder& d) {
  decode(d, false, load_shapes);
}
void decode_store(Decoder& d) {
  decode(d, true, store_shapes);
}

void run_move(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  Matrix matrix;
  std::memcpy(matrix.words, warp.reg<uint32_t>(inst.a), sizeof matrix.words);
  matrix = matrix.transposed();
  warp.write<uint32_t>(inst.d, [&](int l) { return matrix.words[l]; });
}

void decode_move(Decoder& d) {
  if (!d.has("sync") || !d.has("aligned") || !d.has("m8n8") || !d.has("trans") || d.type() != Type::b16) {
    d.unsupported("unknown form");
  }
  d.own_guard();
  d.inst().d = d.dst(0, Type::b32);
  d.inst().a = d.src(1, Type::b32);
  d.inst().inner = run_move;
}

}  // namespace

std::span<const Opcode> matrix_load_opcodes() {
  static const Opcode table[] = {
      {"ldmatrix", decode_load}, {"stmatrix", decode_store}, {"movmatrix", decode_move}};
  return table;
}

}  // namespace simulator
