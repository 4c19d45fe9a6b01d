// cp.async.bulk, cp.reduce.async.bulk, their tensor forms, groups and prefetches (PTX ISA 9.7.9.25.4, .5).
#include <algorithm>
#include <bit>

#include "common/simulator/access/addresses.h"
#include "common/simulator/counters/trace.h"
#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/memory_operand.h"
#include "common/simulator/instructions/async/bulk_copy.h"
#include "common/simulator/instructions/async/bulk_reduction.h"
#include "common/simulator/instructions/async/opcodes.h"
#include "common/simulator/instructions/sync/tma_map_fence.h"
#include "common/simulator/units/bulk_copies.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

constexpr uint32_t chunk = 16;           // bytes: what a bulk copy is a multiple of
constexpr uint32_t box_alignment = 128;  // bytes, in shared memory
constexpr uint64_t map_alignment = 64;   // bytes
constexpr uint32_t gathered_rows = 4;    // of .tile::gather4 and .tile::scatter4

struct Address {
  uint32_t reg = 0;
  bool is_64 = true;
  uint64_t offset = 0;

  uint64_t of(Warp& warp, uint32_t lane) const {
    if (is_64) return warp.reg<uint64_t>(reg)[lane] + offset;
    return warp.reg<uint32_t>(reg)[lane] + static_cast<uint32_t>(offset);
  }
};

struct BulkUse {
  BulkCopy::Kind kind = BulkCopy::Kind::load;
  bool to_own_cta = false;  // load: .shared::cta
  bool pairs = false;       // .cta_group::2
  uint32_t rank = 0;        // of the tensor; 0: bytes, not a box of a tensor
  bool rows = false;        // .tile::gather4, .tile::scatter4: four rows that need not be neighbours
  Address shared, global, source, mbarrier, map;
  uint32_t coordinates[max_tma_rank] = {};  // registers; rows: the column, then each row's
  uint32_t size = 0;                        // register
  uint32_t mask = 0;                        // register: CTAs to copy to; 0: none is given
  uint32_t byte_mask = 0;                   // register; 0: all bytes
  bool reduces = false;
  ReductionOp op = ReductionOp::add;
  Reduction reduction = nullptr;  // of bytes
};

[[noreturn]] void illegal(Warp& warp, uint32_t lane, const std::string& what) {
  fault(warp, FindingKind::illegal_instruction, what, static_cast<int>(lane));
}

void aligned(Warp& warp, uint32_t lane, const char* what, uint64_t value, uint64_t alignment) {
  if (value % alignment == 0) return;
  char text[96];
  std::snprintf(text, sizeof text, "%s 0x%llx is not a multiple of %llu", what,
                static_cast<unsigned long long>(value), static_cast<unsigned long long>(alignment));
  fault(warp, FindingKind::misaligned, text, static_cast<int>(lane));
}

TmaMap map_at(Warp& warp, uint32_t lane, const BulkUse& use) {
  const uint64_t address = use.map.of(warp, lane);
  aligned(warp, lane, "the tensor map's address", address, map_alignment);
  check_tma_map(warp, lane, address);
  std::byte bytes[tma_map_bytes];
  read_memory(warp, static_cast<int>(lane), address, bytes, sizeof bytes);
  const auto map = TmaMap::load(bytes);
  if (!map) {
    illegal(warp, lane, "there is no tensor map at this address: none that cuTensorMapEncodeTiled has made");
  }
  if (map->rank != use.rank) {
    illegal(
        warp, lane,
        "the tensor map has " + std::to_string(map->rank) + " dimensions, not " + std::to_string(use.rank));
  }
  if (const std::string problem = problem_of(*map); !problem.empty())
    illegal(warp, lane, "the tensor map is wrong: " + problem);
  return *map;
}

void add_piece(std::vector<BulkPiece>& pieces, const BulkPiece& piece) {
  if (piece.bytes == 0) return;
  if (!pieces.empty()) {
    BulkPiece& last = pieces.back();
    const bool joins = last.global
                           ? last.global + last.bytes == piece.global &&
                                 (last.written ? last.written + last.bytes == piece.written : !piece.written)
                           : !piece.global;
    if (joins && last.offset + last.bytes == piece.offset) {
      last.bytes += piece.bytes;
      return;
    }
  }
  pieces.push_back(piece);
}

// The rows of a box, clipped to the tensor. What is outside is left out of a store, but for what completes
// the last 16 bytes of a row: an H200 writes it. at_offset: in shared memory.
void add_box(Warp& warp, uint32_t lane, const TmaMap& map, const int32_t* at, AccessKind kind, bool fills,
             uint32_t at_offset, std::vector<BulkPiece>& pieces) {
  const uint32_t bits = bits_of(map.type), pitch = map.pitch(), row_bytes = map.row_bytes();
  const int64_t width = map.box[0], elements = int64_t{map.last[0]} + 1;
  const uint32_t begin = static_cast<uint32_t>(std::clamp<int64_t>(-int64_t{at[0]}, 0, width)) * bits / 8;
  uint32_t end = static_cast<uint32_t>(std::clamp<int64_t>(elements - at[0], 0, width)) * bits / 8;
  if (!fills && bits >= 8) end = std::min(row_bytes, (end + chunk - 1) / chunk * chunk);
  // A piece whose offset counts from the row's begin, without padding.
  const auto add = [&](BulkPiece piece, uint32_t offset) {
    const uint32_t step = is_padded(map.type) ? padded_group * bits / 8 : piece.bytes;
    for (uint32_t done = 0; done < piece.bytes; done += step) {
      const uint32_t from = piece.offset + done;
      add_piece(pieces,
                {piece.global ? piece.global + done : nullptr, piece.written ? piece.written + done : nullptr,
                 offset + (is_padded(map.type) ? from / step * padded_group : from), step});
    }
  };
  uint32_t index[max_tma_rank] = {};
  for (uint32_t row = 0; row < map.rows(); ++row) {
    const uint32_t offset = at_offset + row * pitch;
    bool inside = begin < end;
    uint64_t address = map.address + static_cast<uint64_t>(int64_t{at[0]} * bits / 8) + begin;
    for (uint32_t i = 1; i < map.rank; ++i) {
      const int64_t coordinate = int64_t{at[i]} + int64_t{index[i]} * map.step[i];
      inside = inside && coordinate >= 0 && coordinate <= map.last[i];
      address += static_cast<uint64_t>(coordinate) * map.stride[i - 1];
    }
    if (inside) {
      BulkPiece piece{nullptr, nullptr, begin, end - begin};
      piece.global = global_range(warp, static_cast<int>(lane), kind, piece.bytes, address,
                                  std::max(1u, bits / 8), piece.written);
      if (fills) add({nullptr, nullptr, 0, begin}, offset);
      add(piece, offset);
      if (fills) add({nullptr, nullptr, end, row_bytes - end}, offset);
    } else if (fills) {
      add({nullptr, nullptr, 0, row_bytes}, offset);
    }
    for (uint32_t i = 1; i < map.rank && ++index[i] == map.count(i); ++i) index[i] = 0;
  }
}

// What is to be moved, for one lane. False: a box without any byte of the tensor, which is not stored.
void set_box(Warp& warp, uint32_t lane, const BulkUse& use, BulkCopy& copy) {
  const TmaMap map = map_at(warp, lane, use);
  int32_t at[max_tma_rank] = {};
  for (uint32_t i = 0; i < (use.rows ? gathered_rows + 1 : use.rank); ++i)
    at[i] = static_cast<int32_t>(warp.reg<uint32_t>(use.coordinates[i])[lane]);
  copy.type = map.type;
  copy.fill_nan = map.fill_nan;
  copy.swizzle = map.swizzle;
  const bool loads = copy.kind == BulkCopy::Kind::load;
  copy.extent = map.shared_bytes() * (use.rows ? gathered_rows : 1);
  const int32_t multiple = is_padded(map.type) ? padded_row : map.type == TmaType::b4 ? 2 : 1;
  if (at[0] % multiple != 0) {
    illegal(warp, lane,
            "the first coordinate is " + std::to_string(at[0]) +
                ": with elements of this type it must "
                "be a multiple of " +
                std::to_string(multiple));
  }
  if (!loads && (map.type == TmaType::b4_padded))
    illegal(warp, lane, "elements of 4 bits that are padded in shared memory can only be loaded");
  if (loads && map.type == TmaType::b6_padded && map.swizzle == Swizzle::b128_atom64)
    illegal(warp, lane, "with this swizzle elements of 6 bits can only be stored");
  if (use.rows && map.box[1] != 1) {
    illegal(warp, lane,
            "the tensor map's boxDim[1] is " + std::to_string(map.box[1]) +
                ": with .tile::gather4 and .tile::scatter4 it must be 1");
  }
  // An H200 reports an illegal instruction otherwise: measured for boxes of rank 1 and 2, with and without
  // swizzles. Elements of 4 bits were not measured.
  if (const int64_t start = int64_t{at[0]} * bits_of(map.type) / 8; bits_of(map.type) >= 8 && start % chunk) {
    illegal(warp, lane,
            "the box starts at byte " + std::to_string(start) +
                " of its row of the tensor: it must be a multiple of 16 (PTX ISA 5.5.3.1)");
  }
  if (!loads && std::any_of(at, at + (use.rows ? 1 : use.rank), [](int32_t x) { return x < 0; }))
    illegal(warp, lane, "a store's coordinate is negative");
  AccessKind kind = loads ? AccessKind::load : AccessKind::store;
  if (use.reduces) {
    kind = AccessKind::atomic;
    copy.reduction = reduction_for(use.op, map.type);
    if (!copy.reduction) {
      illegal(warp, lane,
              std::string("there is no reduction .") + reduction_names[static_cast<size_t>(use.op)] +
                  " for elements of the tensor's type");
    }
  }
  aligned(warp, lane, "the box's address in shared memory", copy.shared, box_alignment);
  if (use.rows) {
    for (uint32_t row = 0; row < gathered_rows; ++row) {
      const int32_t corner[] = {at[0], at[1 + row]};
      add_box(warp, lane, map, corner, kind, loads, row * map.shared_bytes(), copy.pieces);
    }
  } else {
    add_box(warp, lane, map, at, kind, loads, 0, copy.pieces);
  }
  copy.bytes = 0;
  for (const BulkPiece& piece : copy.pieces) copy.bytes += piece.bytes;
}

void set_bytes(Warp& warp, uint32_t lane, const BulkUse& use, BulkCopy& copy) {
  copy.bytes = copy.extent = warp.reg<uint32_t>(use.size)[lane];
  aligned(warp, lane, "the size", copy.bytes, chunk);
  aligned(warp, lane, "the address in shared memory", copy.shared, chunk);
  if (copy.kind == BulkCopy::Kind::send) {
    copy.source = static_cast<uint32_t>(use.source.of(warp, lane)) & offset_in_cta;
    aligned(warp, lane, "the source's address in shared memory", copy.source, chunk);
    copy.reduction = use.reduction;
    return;
  }
  if (use.byte_mask) copy.byte_mask = warp.reg<uint16_t>(use.byte_mask)[lane];
  const uint64_t address = use.global.of(warp, lane);
  aligned(warp, lane, "the address in global memory", address, chunk);
  const AccessKind kind = use.reduces                         ? AccessKind::atomic
                          : copy.kind == BulkCopy::Kind::load ? AccessKind::load
                                                              : AccessKind::store;
  copy.reduction = use.reduction;
  BulkPiece piece{nullptr, nullptr, 0, copy.bytes};
  piece.global = global_range(warp, static_cast<int>(lane), kind, copy.bytes, address, chunk, piece.written);
  copy.pieces.push_back(piece);
}

// A request for each copy; the sectors of global memory that it touches.
void count(Warp& warp, const BulkCopy& copy) {
  if (!warp.worker->counting) return;
  Counts& counts = warp.worker->counts[copy.pc];
  ++counts.requests;
  for (const BulkPiece& piece : copy.pieces) {
    if (!piece.global) continue;
    constexpr uint64_t sector = 32;  // bytes; backing memory is aligned as the addresses are
    const uint64_t begin = reinterpret_cast<uintptr_t>(piece.global);
    counts.sectors += (begin + piece.bytes + sector - 1) / sector - begin / sector;
    counts.bytes += piece.bytes;
  }
}

void run_copy(Warp& warp, const Inst& inst) {
  const BulkUse& use = *static_cast<const BulkUse*>(inst.data);
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    BulkCopy copy;
    copy.kind = use.kind;
    copy.pairs = use.pairs;
    copy.warp = &warp;
    copy.lane = lane;
    copy.pc = warp.frame->program->first + warp.pc - 1;
    copy.shared = static_cast<uint32_t>(use.shared.of(warp, lane));
    copy.group = warp.state<BulkGroups>().committed[lane];
    if (copy.kind != BulkCopy::Kind::store) {
      copy.mbarrier = static_cast<uint32_t>(use.mbarrier.of(warp, lane));
      aligned(warp, lane, "the mbarrier's address in shared memory", copy.mbarrier, 8);
    }
    if (use.rank) {
      set_box(warp, lane, use, copy);
    } else {
      set_bytes(warp, lane, use, copy);
    }
    count(warp, copy);
    if (const Trace* trace = trace_of(warp)) copy.issued = trace->now();
    if ((use.to_own_cta || copy.kind == BulkCopy::Kind::store) && copy.shared >> rank_shift != warp.cta->rank)
      illegal(warp, lane, "the address in shared memory is not in this CTA");
    begin_bulk_copy(std::move(copy), use.mask ? warp.reg<uint16_t>(use.mask)[lane] : 0);
  }
}

// Of bytes, to L2. It is checked as a load would be, whatever hardware makes of it.
void run_prefetch(Warp& warp, const Inst& inst) {
  const BulkUse& use = *static_cast<const BulkUse*>(inst.data);
  uint8_t* written = nullptr;
  for (uint32_t left = warp.exec; left; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t bytes = warp.reg<uint32_t>(use.size)[lane];
    const uint64_t address = use.global.of(warp, lane);
    aligned(warp, lane, "the size", bytes, chunk);
    aligned(warp, lane, "the address in global memory", address, chunk);
    if (bytes > 0) global_byte(warp, static_cast<int>(lane), AccessKind::load, bytes, address, written);
  }
}

void run_commit(Warp& warp, const Inst&) {
  for (uint32_t l = 0; l < warp_size; ++l) warp.state<BulkGroups>().committed[l] += warp.exec >> l & 1;
}

// imm: groups that may be left; extra: .read
void run_wait(Warp& warp, const Inst& inst) {
  wait_for_groups(warp, static_cast<uint32_t>(inst.imm), inst.extra != 0);
}

Address address(Decoder& d, const Operand& operand) {
  if (operand.kind != Operand::Kind::address) d.unsupported("not an address");
  const Operand& base = operand.elements[0];
  Address result;
  result.is_64 = d.width(base, 64) == 64;
  if (!result.is_64 && d.width(base, 64) != 32) d.unsupported("an address of 16 bits");
  result.reg = d.src(base, result.is_64 ? Type::u64 : Type::u32);
  result.offset = static_cast<uint64_t>(operand.value);
  return result;
}

void tma_operand(Decoder& d, const Operand& operand, BulkUse& use) {
  use.map = address(d, operand);
  if (operand.elements.size() != 2) d.unsupported("the coordinates are missing");
  const Operand& list = operand.elements[1];
  const bool one = list.kind != Operand::Kind::vector;
  const uint32_t count = use.rows ? gathered_rows + 1 : use.rank;
  if ((one ? 1 : list.elements.size()) != count) d.unsupported("the number of coordinates differs");
  for (uint32_t i = 0; i < count; ++i) use.coordinates[i] = d.src(one ? list : list.elements[i], Type::s32);
}

// The first and the second state space that the instruction names: 0 .shared::cluster, 1 .shared::cta, 2
// .global.
void spaces(Decoder& d, int& to, int& from) {
  to = from = -1;
  for (const std::string_view modifier : d.ptx().modifiers) {
    const int space = modifier == "shared::cluster" ? 0
                      : modifier == "shared::cta"   ? 1
                      : modifier == "global"        ? 2
                                                    : -1;
    if (space < 0) continue;
    (to < 0 ? to : from) = space;
  }
  d.has("shared::cluster");
  d.has("shared::cta");
  d.has("global");
}

void tma_mode(Decoder& d, BulkUse& use) {
  const int rank = d.one_of({"1d", "2d", "3d", "4d", "5d"});
  if (rank < 0) d.unsupported("the number of dimensions is missing");
  if (d.one_of({"im2col", "im2col::w", "im2col::w::128", "im2col_no_offs"}) >= 0)
    d.unsupported("tensor maps in im2col mode are not simulated, only those in tile mode");
  use.rank = static_cast<uint32_t>(rank + 1);
  use.rows = d.one_of({"tile::gather4", "tile::scatter4"}) >= 0;
  if (use.rows && use.rank != 2) d.unsupported("rows are gathered from two dimensions only");
  d.has("tile");
}

// From operand `next` on: {, ctaMask} {, cache policy}.
void trailing_operands(Decoder& d, size_t next, BulkUse& use) {
  if (d.has("multicast::cluster")) use.mask = d.src(d.operand(next++), Type::u16);
  if (d.has("L2::cache_hint")) d.src(d.operand(next++), Type::b64);
  if (use.kind == BulkCopy::Kind::store && use.rank == 0 && !use.reduces && d.has("cp_mask"))
    use.byte_mask = d.src(d.operand(next++), Type::u16);
  if (next != d.operand_count()) d.unsupported("unexpected operands");
}

void decode_prefetch(Decoder& d) {
  BulkUse use;
  d.has("L2");
  d.has("global");
  const bool tensor = d.has("tensor");
  if (tensor) {
    tma_mode(d, use);
    tma_operand(d, d.operand(0), use);
  } else {
    use.global = address(d, d.operand(0));
    use.size = d.src(1, Type::u32);
  }
  trailing_operands(d, tensor ? 1 : 2, use);
  d.inst().data = d.keep(use);
  d.inst().inner = tensor ? run_nothing : run_prefetch;
}

void decode_copy(Decoder& d) {
  BulkUse use;
  const bool tensor = d.has("tensor");
  if (tensor) tma_mode(d, use);
  int to = -1, from = -1;
  spaces(d, to, from);
  enum { cluster, cta, global };
  use.to_own_cta = to == cta;
  if (from == global && (to == cluster || to == cta)) {
    use.kind = BulkCopy::Kind::load;
  } else if (from == cta && to == global) {
    use.kind = BulkCopy::Kind::store;
  } else if (from == cta && to == cluster && !tensor) {
    use.kind = BulkCopy::Kind::send;
  } else {
    d.unsupported(
        "bulk copies go from .global to .shared, from .shared::cta to .global or to .shared::cluster");
  }
  const bool stores = use.kind == BulkCopy::Kind::store;
  if (!d.has(stores ? "bulk_group" : "mbarrier::complete_tx::bytes"))
    d.unsupported(
        "a bulk copy to .global completes through .bulk_group, any other through "
        ".mbarrier::complete_tx::bytes");
  const int group = d.one_of({"cta_group::1", "cta_group::2"});
  if (group >= 0 && !(tensor && use.kind == BulkCopy::Kind::load))
    d.unsupported(".cta_group is for loads of a tensor");
  use.pairs = group == 1;
  if (use.reduces = d.has("reduce"); use.reduces) {
    int op = -1;
    for (int i = 0; i < 8; ++i) op = d.has(reduction_names[i]) ? i : op;
    if (op < 0 || use.kind == BulkCopy::Kind::load) d.unsupported("unknown reduction");
    use.op = static_cast<ReductionOp>(op);
    bool ordered = true;
    if (!tensor) {
      d.has("noftz");
      const Type type = d.type();
      use.reduction = reduction_for(use.op, type, use.kind == BulkCopy::Kind::send);
      if (!use.reduction) d.unsupported("there is no such reduction");
      ordered = !commutes(use.op, type);
    } else {
      ordered = use.op == ReductionOp::add || use.op == ReductionOp::inc || use.op == ReductionOp::dec;
    }
    if (stores && ordered) d.program().order_sensitive = true;
  }
  size_t next = 0;
  if (tensor && stores) {
    tma_operand(d, d.operand(next++), use);
    use.shared = address(d, d.operand(next++));
  } else {
    (stores ? use.global : use.shared) = address(d, d.operand(next++));
    const Operand& source = d.operand(next++);
    if (tensor) {
      tma_operand(d, source, use);
    } else {
      (stores ? use.shared : use.kind == BulkCopy::Kind::send ? use.source : use.global) = address(d, source);
      use.size = d.src(next++, Type::u32);
    }
    if (!stores) use.mbarrier = address(d, d.operand(next++));
  }
  trailing_operands(d, next, use);
  d.memory().kind = MemoryUse::Kind::bulk;
  d.inst().data = d.keep(use);
  d.inst().inner = run_copy;
}

}  // namespace

void decode_bulk_copy(Decoder& d) {
  if (d.has("commit_group")) {
    d.inst().inner = run_commit;
  } else if (d.has("wait_group")) {
    if (d.operand(0).kind != Operand::Kind::immediate)
      d.unsupported("the number of groups must be an immediate");
    d.inst().imm = static_cast<uint64_t>(d.operand(0).value);
    d.inst().extra = d.has("read");
    d.inst().inner = run_wait;
  } else if (d.has("prefetch")) {
    decode_prefetch(d);
  } else {
    decode_copy(d);
  }
}

}  // namespace simulator
