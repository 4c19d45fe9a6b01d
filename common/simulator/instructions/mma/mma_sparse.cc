// mma.sp: mma of which half of A's elements are not stored (PTX ISA 9.7.14.6).
//
// What SM 9.0 and 10.0 have no instruction for is done as ptxas does it, so that sums are rounded alike:
// 8-bit floating-point factors become f16, of which the groups with even numbers are added first, then the
// others; of 4-bit integers two neighbours share their place, and the lower and the upper ones are 8-bit
// integers.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/instructions/mma/mma.h"
#include "common/simulator/tensor_core/fragments.h"
#include "common/simulator/tensor_core/sparse.h"
#include "common/simulator/tensor_core/tensor_core.h"

namespace simulator {
namespace {

using namespace fragments;
using ptx::Type;

// In the order of k: groups of four must stay together.
struct E4m3 : OfE4m3 {
  static constexpr int together = 4;
};
struct E5m2 : OfE5m2 {
  static constexpr int together = 4;
};
// Of eight integers of 4 bits in a register every second one.
template <bool is_signed, int odd>
struct OfNibbles {
  static constexpr int per = 4, together = 4, lowest = 0;
  static float widen(uint32_t word, int i) { return OfInteger<4, is_signed>::widen(word, 2 * i + odd); }
};

enum class Kind : uint8_t { half, bfloat, tf32, fp8, integer, nibble };
struct Element {
  std::string_view name;
  Kind kind;
  uint32_t bits;  // as the metadata count
  std::array<ReadA, 2> a;
  std::array<ReadB, 2> b;  // nibble: the lower ones, the upper ones
  int lowest;              // exponent
};
template <class Of>
constexpr Element element(std::string_view name, Kind kind) {
  return {name, kind, 32 / Of::per, {read<Of, 16>}, {read<Of, 8>}, Of::lowest};
}
template <bool is_signed>
constexpr Element nibbles(std::string_view name) {
  using Lower = OfNibbles<is_signed, 0>;
  using Upper = OfNibbles<is_signed, 1>;
  return {name, Kind::nibble, 8, {read<Lower, 16>, read<Upper, 16>}, {read<Lower, 8>, read<Upper, 8>}, 0};
}
constexpr Element elements[] = {element<OfF16>("f16", Kind::half),
                                element<OfBf16>("bf16", Kind::bfloat),
                                element<OfTf32>("tf32", Kind::tf32),
                                element<E4m3>("e4m3", Kind::fp8),
                                element<E5m2>("e5m2", Kind::fp8),
                                element<OfInteger<8, true>>("s8", Kind::integer),
                                element<OfInteger<8, false>>("u8", Kind::integer),
                                nibbles<true>("s4"),
                                nibbles<false>("u4")};

// One instruction (Inst::data). Registers, in Inst::list: D, A, B, C, metadata.
struct Use {
  const Element *a = nullptr, *b = nullptr;
  Sparsity sparsity;
  int registers_a = 0, registers_b = 0, registers_c = 0;
  int terms = 0, fraction = 0;  // as multiply_add() takes them
  bool half = false, saturate = false, ordered = false;

  const uint32_t* of_a(const Inst& inst) const { return inst.list + registers_c; }
  const uint32_t* of_b(const Inst& inst) const { return of_a(inst) + registers_a; }
  const uint32_t* of_c(const Inst& inst) const { return of_b(inst) + registers_b; }
  uint32_t metadata(const Inst& inst) const { return of_c(inst)[registers_c]; }
  int k() const { return static_cast<int>(sparsity.k); }
};

// Groups of four with even numbers first.
template <int across>
void even_groups_first(const Factors<across>& from, int k, Factors<across>& to) {
  for (int i = 0; i < k; ++i) {
    const int at = i / 4 % 2 * k / 2 + i / 8 * 4 + i % 4;
    std::copy_n(from.value[i], across, to.value[at]);
    std::copy_n(from.exponent[i], across, to.exponent[at]);
  }
}

// A, with what is not stored, and B.
void read_factors(Warp& warp, const Inst& inst, const Use& use, size_t pass, Factors<16>& a, Factors<8>& b) {
  Factors<16> packed;
  use.a->a[pass](warp, use.of_a(inst), use.registers_a, 2, packed);
  use.b->b[pass](warp, use.of_b(inst), use.registers_b, 1, b);
  measure(packed, use.k() / 2, use.a->lowest);
  const int lane = place(packed, use.sparsity, warp.reg<uint32_t>(use.metadata(inst)), use.ordered, a);
  if (lane < 0) return;
  fault(warp, FindingKind::illegal_instruction,
        use.ordered ? "sparsity metadata that do not name two elements of four in order (tf32: one of two)"
                    : "sparsity metadata that name no two elements of four (tf32: no one of two)",
        lane);
}

void run_floating(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  Factors<16> a;
  Factors<8> b;
  RowsByLane rows;
  ColumnsByLane columns;
  Accumulators c;
  const bool fp8 = use.a->kind == Kind::fp8;
  read_factors(warp, inst, use, 0, a, b);
  measure(b, use.k(), use.b->lowest);
  if (fp8) {
    const Factors<16> a_in_order = a;
    const Factors<8> b_in_order = b;
    even_groups_first(a_in_order, use.k(), a);
    even_groups_first(b_in_order, use.k(), b);
  }
  by_lane(a, use.k(), rows);
  by_lane(b, use.k(), columns);
  read_accumulators(warp.registers, use.of_c(inst), use.half, c);
  if (fp8) {
    multiply_add_fp8(rows, columns, use.k(), use.terms, use.fraction, use.half, c);
  } else {
    multiply_add(rows, columns, use.k(), use.terms, use.fraction, use.half, c);
  }
  write_accumulators(warp.registers, inst.list, use.half, c);
}

void run_integer(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  int32_t c[8][16];
  int64_t sums[8][16];
  read_results(warp, use.of_c(inst), 2, c);
  for (int column = 0; column < 8; ++column) std::copy_n(c[column], 16, sums[column]);
  for (size_t pass = 0; pass < (use.a->kind == Kind::nibble ? 2u : 1u); ++pass) {
    Factors<16> a;
    Factors<8> b;
    int32_t products[8][16];
    read_factors(warp, inst, use, pass, a, b);
    multiply_integers(a, b, use.k(), products);
    for (int column = 0; column < 8; ++column) {
      for (int row = 0; row < 16; ++row) sums[column][row] += products[column][row];
    }
  }
  using Limits = std::numeric_limits<int32_t>;
  for (int column = 0; column < 8; ++column) {
    for (int row = 0; row < 16; ++row) {
      const int64_t sum = sums[column][row];
      c[column][row] =
          static_cast<int32_t>(use.saturate ? std::clamp<int64_t>(sum, Limits::min(), Limits::max()) : sum);
    }
  }
  write_results(warp, inst.list, 2, c);
}

struct Form {
  Kind kind;
  std::string_view shape;
  uint32_t k;
};
constexpr Form forms[] = {
    {Kind::half, "m16n8k16", 16},   {Kind::half, "m16n8k32", 32},    {Kind::bfloat, "m16n8k16", 16},
    {Kind::bfloat, "m16n8k32", 32}, {Kind::tf32, "m16n8k8", 8},      {Kind::tf32, "m16n8k16", 16},
    {Kind::fp8, "m16n8k64", 64},    {Kind::integer, "m16n8k32", 32}, {Kind::integer, "m16n8k64", 64},
    {Kind::nibble, "m16n8k64", 64}, {Kind::nibble, "m16n8k128", 128}};

const Element* element_of(std::string_view name) {
  const Element* found = std::find_if(std::begin(elements), std::end(elements),
                                      [&](const Element& each) { return each.name == name; });
  return found == std::end(elements) ? nullptr : found;
}

// The types of D, A, B and C stand at the end, and are good for f32 and s32 as well.
std::array<std::string_view, 4> types_of(Decoder& d) {
  const size_t count = d.ptx().modifiers.size();
  if (count < 4) d.unsupported("unknown form");
  return {d.modifier(count - 4), d.modifier(count - 3), d.modifier(count - 2), d.modifier(count - 1)};
}

}  // namespace

void decode_sparse_product(Decoder& d) {
  Use use;
  use.ordered = d.has("sp::ordered_metadata");
  d.has("sp");
  if (!d.has("row") || !d.has("col")) d.unsupported("A is by rows and B by columns");
  const auto types = types_of(d);
  use.a = element_of(types[1]);
  use.b = element_of(types[2]);
  if (!use.a || !use.b || use.a->kind != use.b->kind) d.unsupported("types that do not go together");
  const Kind kind = use.a->kind;
  const bool integers = kind >= Kind::integer;
  const bool half = (kind == Kind::half || kind == Kind::fp8) && types[0] == "f16";
  const std::string_view result = integers ? "s32" : half ? "f16" : "f32";
  if (types[0] != result || types[3] != result)
    d.unsupported("this simulator has no accumulators of this type");
  const Form* form = nullptr;
  for (const Form& each : forms)
    if (each.kind == kind && d.has(each.shape)) form = &each;
  if (!form) d.unsupported("there is no such shape for this type");
  use.half = half;
  use.saturate = integers && d.has("satfinite");
  use.sparsity = {use.a->bits, kind == Kind::nibble ? form->k / 2 : form->k, 0};
  const int bits = kind == Kind::nibble ? 4 : static_cast<int>(use.a->bits);
  use.registers_a = 16 * static_cast<int>(form->k) / 2 * bits / (32 * 32);
  use.registers_b = 8 * static_cast<int>(form->k) * bits / (32 * 32);
  use.registers_c = half ? 2 : 4;
  const TensorCore& core = tensor_core();
  use.fraction = core.fraction;
  // As many terms at a time as of a dense A: of twice as many half are not there.
  use.terms = std::min(use.k(), 2 * core.block_bytes * 8 / std::max(16, static_cast<int>(use.a->bits)));

  const ptx::Operand& selector = d.operand(5);
  if (selector.kind != ptx::Operand::Kind::immediate || selector.value < 0 ||
      selector.value >= 4 / use.sparsity.lanes())
    d.unsupported("there is no such sparsity selector");
  use.sparsity.selector = static_cast<uint32_t>(selector.value);
  std::vector<uint32_t> list;
  d.own_guard();
  registers_of(d, d.operand(0), static_cast<size_t>(use.registers_c), Type::b32, true, list);
  registers_of(d, d.operand(1), static_cast<size_t>(use.registers_a), Type::b32, false, list);
  registers_of(d, d.operand(2), static_cast<size_t>(use.registers_b), Type::b32, false, list);
  registers_of(d, d.operand(3), static_cast<size_t>(use.registers_c), Type::b32, false, list);
  list.push_back(d.src(4, Type::b32));
  d.inst().list = d.list(std::move(list));
  d.inst().data = d.keep(use);
  d.inst().inner = integers ? run_integer : run_floating;
}

}  // namespace simulator
