// wmma.load, wmma.store, wmma.mma (PTX ISA 9.7.14.4).
//
// The ISA leaves open which elements a lane holds. Here, as an H200 does, wmma is made of mma, with its
// fragments. A 16×16 matrix D is two mma side by side, of 8 columns each; one of 32×8 is two, one above the
// other; 8×32 is 32×8 with A and B exchanged and all of it transposed. A fragment is a list of blocks: eight
// rows of A, columns of B or rows of D, of which lane 4g + t has neighbours in number g: in one register, or
// two of 32 or 64 bits that C and D have.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/simulator/access/addresses.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/instructions/mma/mma.h"

namespace simulator {
namespace {

using ptx::Space;
using ptx::Type;

constexpr int most_blocks = 8, rows_of_block = 8, row_bytes = 16, most_matrices = 4;  // of one ldmatrix
constexpr int image_bytes = 1024;  // the largest matrices: 32 × 16 of 16 bits, 16 × 16 of 32

// Where the first element of a block is. line: a row of a matrix that is stored by rows, otherwise a column.
struct Block {
  int line, position;
};

// One instruction (Inst::data).
struct Use {
  AddressUse address;
  int element, run;   // bytes; elements of a block that a lane has
  int per;            // elements to a register
  bool along;         // these are neighbours in memory
  bool as_rows;       // loaded as ldmatrix does, several blocks at once
  bool strided;       // Inst::b: elements between lines
  int length;         // of a line, in elements
  int blocks, count;  // of registers, which are more where f16 has them repeat the matrix
  std::array<Block, most_blocks> block;
};

// The matrix, line by line.
struct Image {
  alignas(16) std::byte bytes[image_bytes];

  std::byte* at(const Use& use, int line, int position) {
    return bytes + (line * use.length + position) * use.element;
  }
};

// One request: `elements` neighbours a lane, from where place(lane) says. to_image: a load.
template <class Place>
void access(Warp& warp, const Inst& inst, const Use& use, Image& image, uint32_t lanes, int elements,
            bool rows, Place place) {
  const uint32_t exec = warp.exec;
  const bool full = warp.full;
  warp.exec &= lanes;
  warp.full = full && warp.exec == exec;
  if (warp.exec) {
    Inst one = inst;
    one.bytes = static_cast<uint8_t>(elements * use.element);
    AddressUse address = use.address;
    address.rows_of_matrices = rows;
    Resolved at;
    const uint32_t* stride = use.strided ? warp.reg<uint32_t>(inst.b) : nullptr;
    named_addresses(warp, one, address, at);
    for (int lane = 0; lane < warp_size; ++lane) {
      const Block from = place(lane);
      const int64_t line = stride ? stride[lane] : use.length;
      at.address[lane] += static_cast<uint64_t>((from.line * line + from.position) * use.element);
    }
    resolve_addresses(warp, one, address, at);
    alignas(16) std::byte values[32 * row_bytes];
    bool changed = !warp.worker->probing;
    for (uint32_t left = warp.exec; left; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const Block from = place(lane);
      std::byte* here = image.at(use, from.line, from.position);
      if (use.address.kind == AccessKind::load) {
        std::memcpy(here, at.at[lane], one.bytes);
      } else {
        std::memcpy(values + lane * one.bytes, here, one.bytes);
        changed = changed || std::memcmp(at.at[lane], here, one.bytes) != 0;
        std::memcpy(at.at[lane], here, one.bytes);
      }
    }
    if (use.address.kind == AccessKind::store) stored(warp, one, address, at, values, changed);
  }
  warp.exec = exec;
  warp.full = full;
}

// All of them, as ptxas chooses them. Elements of 16 bits that lie across are read or written along their
// lines, and transposed in the registers.
void access_all(Warp& warp, const Inst& inst, const Use& use, Image& image) {
  if (use.as_rows) {
    for (int first = 0; first < use.blocks; first += most_matrices) {
      const int count = std::min(use.blocks - first, most_matrices);
      const uint32_t lanes = ~0u >> (32 - rows_of_block * count);
      access(warp, inst, use, image, lanes, row_bytes / use.element, true, [&](int lane) {
        const Block& block = use.block[static_cast<size_t>(std::min(first + lane / 8, use.blocks - 1))];
        return Block{block.line + lane % 8, block.position};
      });
    }
    return;
  }
  for (int i = 0; i < use.blocks; ++i) {
    const Block block = use.block[static_cast<size_t>(i)];
    if (use.along || use.element == 2) {
      access(warp, inst, use, image, ~0u, use.run, false, [&](int lane) {
        return Block{block.line + lane / 4, block.position + lane % 4 * use.run};
      });
      continue;
    }
    for (int j = 0; j < use.run; ++j) {
      access(warp, inst, use, image, ~0u, 1, false, [&](int lane) {
        return Block{block.line + lane % 4 * use.run + j, block.position + lane / 4};
      });
    }
  }
}

// Where element i of a lane is in the image.
std::byte* element(const Use& use, Image& image, int lane, int i) {
  const Block& block = use.block[static_cast<size_t>(i / use.run % use.blocks)];
  const int group = lane / 4, in_group = lane % 4 * use.run + i % use.run;
  return use.along ? image.at(use, block.line + group, block.position + in_group)
                   : image.at(use, block.line + in_group, block.position + group);
}

template <class Word>
void run_load(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  Image image = {};
  access_all(warp, inst, use, image);
  for (int r = 0; r < use.count; ++r) {
    Word words[32];
    for (int lane = 0; lane < warp_size; ++lane) {
      std::byte bytes[sizeof(Word)] = {};
      for (int i = 0; i < use.per; ++i) {
        std::memcpy(bytes + i * use.element, element(use, image, lane, r * use.per + i),
                    static_cast<size_t>(use.element));
      }
      std::memcpy(&words[lane], bytes, sizeof bytes);
    }
    warp.write<Word>(inst.list[r], [&](int lane) { return words[lane]; });
  }
}

template <class Word>
void run_store(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  Image image = {};
  for (int r = 0; r < use.count; ++r) {
    const Word* words = warp.reg<Word>(inst.list[r]);
    for (int lane = 0; lane < warp_size; ++lane) {
      std::byte bytes[sizeof(Word)];
      std::memcpy(bytes, &words[lane], sizeof bytes);
      for (int i = 0; i < use.per; ++i) {
        std::memcpy(element(use, image, lane, r * use.per + i), bytes + i * use.element,
                    static_cast<size_t>(use.element));
      }
    }
  }
  access_all(warp, inst, use, image);
}

struct Shape {
  std::string_view name;
  int m, n, k;
};
constexpr Shape shapes[] = {
    {"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16}, {"m8n32k16", 8, 32, 16},
    {"m16n16k8", 16, 16, 8},   {"m8n8k4", 8, 8, 4},
};

struct Element {
  std::string_view name;
  int bytes;
  bool factor, result;  // of A and B; of C and D
  int k;                // of the shapes that have it; 0: all but that of f64
};
constexpr Element elements[] = {
    {"f16", 2, true, true, 16}, {"bf16", 2, true, false, 16}, {"s8", 1, true, false, 16},
    {"u8", 1, true, false, 16}, {"s32", 4, false, true, 16},  {"tf32", 4, true, false, 8},
    {"f32", 4, false, true, 0}, {"f64", 8, true, true, 4},
};

// Blocks, {row of A or D or column of B, the other}, in the order of mma's registers.
std::vector<Block> blocks_of_result(int m, int n) {
  std::vector<Block> blocks;
  for (int column = 0; column < n; column += 8) {
    for (int row = 0; row < m; row += 8) blocks.push_back({row, column});
  }
  return blocks;
}
std::vector<Block> blocks_of_a(int m, int k, int wide) {
  std::vector<Block> blocks;
  for (int piece = 0; piece < m; piece += 16) {
    for (int at = 0; at < k; at += wide) {
      for (int row = piece; row < std::min(piece + 16, m); row += 8) blocks.push_back({row, at});
    }
  }
  return blocks;
}
std::vector<Block> blocks_of_b(int n, int k, int wide) {
  std::vector<Block> blocks;
  for (int column = 0; column < n; column += 8) {
    for (int at = 0; at < k; at += wide) blocks.push_back({column, at});
  }
  return blocks;
}

template <bool store>
void decode_access(Decoder& d) {
  const int which = store ? 3 : d.one_of({"a", "b", "c"});
  if (which < 0 || (store && !d.has("d"))) d.unsupported("unknown form");
  const bool result = which >= 2;
  const Shape* shape = nullptr;
  const Element* type = nullptr;
  for (const Shape& each : shapes) {
    if (d.has(each.name)) shape = &each;
  }
  for (const Element& each : elements) {
    if (d.has(each.name)) type = &each;
  }
  const int layout = d.one_of({"row", "col"});
  if (!shape || !type || layout < 0 || !(result ? type->result : type->factor) ||
      (type->k ? type->k != shape->k : shape->k == 4)) {
    d.unsupported("this simulator has no such shape for this type");
  }

  Use use = {};
  use.element = type->bytes;
  const bool wide = type->bytes == 8;
  use.per = (wide ? 8 : 4) / use.element;
  use.run = result ? 2 : use.per;
  const bool exchanged = shape->n == 32;
  const int m = exchanged ? shape->n : shape->m, n = exchanged ? shape->m : shape->n;  // as mma sees them
  const bool is_b = which == 1;
  const std::vector<Block> blocks = result              ? blocks_of_result(m, n)
                                    : is_b == exchanged ? blocks_of_a(m, shape->k, 4 * use.run)
                                                        : blocks_of_b(n, shape->k, 4 * use.run);
  use.along = (layout == 0) == (result ? !exchanged : !is_b);
  use.blocks = static_cast<int>(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    use.block[i] = use.along ? block : Block{block.position, block.line};
  }
  const int rows = is_b ? shape->k : shape->m, columns = which == 0 ? shape->k : shape->n;
  use.length = layout == 0 ? columns : rows;
  use.count = !result && type->name == "f16" ? wmma_registers_f16 : use.blocks * use.run / use.per;

  use.address.kind = store ? AccessKind::store : AccessKind::load;
  use.address.element = static_cast<uint8_t>(use.element);
  memory_space(d, use.address);
  if (!use.address.generic && use.address.space != Space::shared && use.address.space != Space::global) {
    d.unsupported("matrices are in global or shared memory");
  }
  use.as_rows = !store && use.address.space == Space::shared && !use.address.generic &&
                use.run * use.element == 4 && (use.along || use.element == 2);
  const int least = use.along || use.element == 2 ? use.run * use.element : use.element;
  d.own_guard();
  std::vector<uint32_t> list;
  const Type as = wide ? Type::b64 : Type::b32;
  registers_of(d, d.operand(store ? 1 : 0), static_cast<size_t>(use.count), as, !store, list);
  d.inst().list = d.list(std::move(list));
  use.address = memory_address(d, d.operand(store ? 0 : 1), use.address, static_cast<uint32_t>(least));
  use.strided = d.operand_count() == 3;
  if (use.strided) d.inst().b = d.src(2, Type::u32);
  d.inst().data = d.keep(use);
  d.inst().inner = store ? (wide ? run_store<uint64_t> : run_store<uint32_t>)
                         : (wide ? run_load<uint64_t> : run_load<uint32_t>);
}

void decode(Decoder& d) {
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  switch (d.one_of({"load", "store", "mma"})) {
    case 0:
      return decode_access<false>(d);
    case 1:
      return decode_access<true>(d);
    case 2:
      return decode_wmma_product(d);
    default:
      d.unsupported("unknown form");
  }
}

}  // namespace

std::span<const Opcode> wmma_opcodes() {
  static const Opcode table[] = {{"wmma", decode}};
  return table;
}

}  // namespace simulator
