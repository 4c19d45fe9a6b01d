// ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.14.5.15 to 17).
//
// An 8×8 matrix of 16-bit elements in a register: lane l has the elements 2·(l % 4) and the next of row l
// / 4. So the register is the matrix's 32 words in order. In shared memory it is eight rows of 16 bytes; the
// lane that gives a row's address counts as the one that accesses it.
#include <bit>
#include <cstring>

#include "common/simulator/execution/addresses.h"
#include "common/simulator/execution/memory_operand.h"
#include "common/simulator/execution/warp_matrix.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr uint32_t row_bytes = 16;

struct Matrix {
  uint32_t words[32];

  Matrix transposed() const {
    uint16_t from[8][8], to[8][8];
    std::memcpy(from, words, sizeof from);
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) to[i][j] = from[j][i];
    }
    Matrix result;
    std::memcpy(result.words, to, sizeof to);
    return result;
  }
};

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

template <int count, bool transpose>
void run_load(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  Matrix matrices[count] = {};
  at_rows<count>(warp, inst, [&](const AddressUse&, const Resolved& rows) {
    for (int row = 0; row < 8 * count; ++row) {
      std::memcpy(matrices[row / 8].words + row % 8 * 4, rows.at[row], row_bytes);
    }
  });
  for (int i = 0; i < count; ++i) {
    const Matrix result = transpose ? matrices[i].transposed() : matrices[i];
    warp.write<uint32_t>(inst.list[i], [&](int l) { return result.words[l]; });
  }
}

template <int count, bool transpose>
void run_store(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  Matrix matrices[4] = {};
  for (int i = 0; i < count; ++i) {
    std::memcpy(matrices[i].words, warp.reg<uint32_t>(inst.list[i]), sizeof matrices[i].words);
    if (transpose) matrices[i] = matrices[i].transposed();
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

template <bool store>
void decode(Decoder& d) {
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  if (!d.has("m8n8")) d.unsupported("only matrices of 8 by 8 are implemented");
  const int number = d.one_of({"x1", "x2", "x4"});
  const bool transpose = d.has("trans");
  AddressUse use;
  use.kind = store ? AccessKind::store : AccessKind::load;
  use.rows_of_matrices = true;
  use.element = 2;
  memory_space(d, use);
  if (!use.generic && use.space != Space::shared) d.unsupported("matrices are loaded from shared memory");
  if (number < 0 || d.type() != Type::b16) d.unsupported("unknown form");
  d.own_guard();
  std::vector<uint32_t> list;
  registers_of(d, d.operand(store ? 1 : 0), size_t{1} << number, Type::b32, !store, list);
  d.inst().list = d.list(std::move(list));
  memory_address(d, d.operand(store ? 0 : 1), use, row_bytes);
  static constexpr Handler loads[3][2] = {{run_load<1, false>, run_load<1, true>},
                                          {run_load<2, false>, run_load<2, true>},
                                          {run_load<4, false>, run_load<4, true>}};
  static constexpr Handler stores[3][2] = {{run_store<1, false>, run_store<1, true>},
                                           {run_store<2, false>, run_store<2, true>},
                                           {run_store<4, false>, run_store<4, true>}};
  d.inst().inner = (store ? stores : loads)[number][transpose];
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
      {"ldmatrix", decode<false>}, {"stmatrix", decode<true>}, {"movmatrix", decode_move}};
  return table;
}

}  // namespace simulator
