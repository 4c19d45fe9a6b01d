// mma.sync: a warp multiplies two matrices that its registers hold (PTX ISA 9.7.14.5.14), and wmma.mma.
#include "common/simulator/instructions/mma/mma.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/numeric/rounding.h"
#include "common/simulator/tensor_core/fragments.h"
#include "common/simulator/tensor_core/tensor_core.h"

namespace simulator {
namespace {

using namespace fragments;
using ptx::Type;

struct Shape {
  std::string_view name;
  int m, k;  // n is 8
};
constexpr Shape shapes[] = {{"m8n8k4", 8, 4},       {"m8n8k16", 8, 16},    {"m8n8k32", 8, 32},
                            {"m8n8k128", 8, 128},   {"m16n8k4", 16, 4},    {"m16n8k8", 16, 8},
                            {"m16n8k16", 16, 16},   {"m16n8k32", 16, 32},  {"m16n8k64", 16, 64},
                            {"m16n8k128", 16, 128}, {"m16n8k256", 16, 256}};

enum class Kind : uint8_t { half, bfloat, tf32, fp8, integer, bit, f64 };
struct Element {
  std::string_view name;
  Kind kind;
  int bits;
  ReadA a;
  ReadB b;
  int lowest;  // exponent
};
template <class Of>
constexpr Element element(std::string_view name, Kind kind) {
  return {name, kind, 32 / Of::per, read<Of, 16>, read<Of, 8>, Of::lowest};
}
constexpr Element elements[] = {element<OfF16>("f16", Kind::half),
                                element<OfBf16>("bf16", Kind::bfloat),
                                element<OfTf32>("tf32", Kind::tf32),
                                element<OfE4m3>("e4m3", Kind::fp8),
                                element<OfE5m2>("e5m2", Kind::fp8),
                                element<OfInteger<8, true>>("s8", Kind::integer),
                                element<OfInteger<8, false>>("u8", Kind::integer),
                                element<OfInteger<4, true>>("s4", Kind::integer),
                                element<OfInteger<4, false>>("u4", Kind::integer),
                                {"b1", Kind::bit, 1, nullptr, nullptr, 0},
                                {"f64", Kind::f64, 64, nullptr, nullptr, 0}};

// One instruction (Inst::data). Registers, in Inst::list: D, A, B, C.
struct Use {
  const Shape* shape;
  const Element *a, *b;
  int registers_a, registers_b, registers_c;  // of one piece
  int pieces = 1;                  // wmma: the number of mma, whose C and D lie one after the other …
  int step_a = 0, step_b = 0;      // … and whose A or B do
  int listed_a = 0, listed_b = 0;  // registers there are
  bool half = false;               // C and D are f16
  bool saturate = false, exclusive = false;  // .satfinite, .xor
  int terms = 0, fraction = 0;               // floating: as multiply_add() takes them

  int tiles() const { return shape->m / 8; }
  const uint32_t* of_d(const Inst& inst, int piece) const { return inst.list + piece * registers_c; }
  const uint32_t* of_a(const Inst& inst, int piece) const {
    return inst.list + pieces * registers_c + piece * step_a;
  }
  const uint32_t* of_b(const Inst& inst, int piece) const {
    return inst.list + pieces * registers_c + listed_a + piece * step_b;
  }
  const uint32_t* of_c(const Inst& inst, int piece) const {
    return inst.list + pieces * registers_c + listed_a + listed_b + piece * registers_c;
  }
};
constexpr int most_pieces = 2;

void read_factors(Warp& warp, const Inst& inst, const Use& use, int piece, Factors<16>& a, Factors<8>& b) {
  use.a->a(warp, use.of_a(inst, piece), use.registers_a, use.tiles(), a);
  use.b->b(warp, use.of_b(inst, piece), use.registers_b, 1, b);
}

// f(use, a, b, c) leaves D in c. All is read before anything is written.
template <class F>
void for_pieces(Warp& warp, const Inst& inst, F f) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  Accumulators c[most_pieces];
  for (int piece = 0; piece < use.pieces; ++piece) {
    Factors<16> a;
    Factors<8> b;
    RowsByLane rows;
    ColumnsByLane columns;
    read_factors(warp, inst, use, piece, a, b);
    measure(a, use.shape->k, use.a->lowest);
    measure(b, use.shape->k, use.b->lowest);
    by_lane(a, use.shape->k, rows);
    by_lane(b, use.shape->k, columns);
    read_accumulators(warp.registers, use.of_c(inst, piece), use.half, c[piece]);
    f(use, rows, columns, c[piece]);
  }
  for (int piece = 0; piece < use.pieces; ++piece)
    write_accumulators(warp.registers, use.of_d(inst, piece), use.half, c[piece]);
}

void run_floating(Warp& warp, const Inst& inst) {
  for_pieces(warp, inst, [](const Use& use, const auto& a, const auto& b, Accumulators& c) {
    multiply_add(a, b, use.shape->k, use.terms, use.fraction, use.half, c);
  });
}

void run_fp8(Warp& warp, const Inst& inst) {
  for_pieces(warp, inst, [](const Use& use, const auto& a, const auto& b, Accumulators& c) {
    multiply_add_fp8(a, b, use.shape->k, use.terms, use.fraction, use.half, c);
  });
}

void run_integer(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  int32_t c[most_pieces][8][16] = {};
  for (int piece = 0; piece < use.pieces; ++piece) {
    Factors<16> a;
    Factors<8> b;
    int32_t sums[8][16];
    read_factors(warp, inst, use, piece, a, b);
    read_results(warp, use.of_c(inst, piece), use.tiles(), c[piece]);
    multiply_integers(a, b, use.shape->k, sums);
    for (int column = 0; column < 8; ++column) {
      for (int row = 0; row < 16; ++row) {
        const int64_t sum = int64_t{c[piece][column][row]} + sums[column][row];
        using Limits = std::numeric_limits<int32_t>;
        c[piece][column][row] =
            static_cast<int32_t>(use.saturate ? std::clamp<int64_t>(sum, Limits::min(), Limits::max()) : sum);
      }
    }
  }
  for (int piece = 0; piece < use.pieces; ++piece) {
    write_results(warp, use.of_d(inst, piece), use.tiles(), c[piece]);
  }
}

// Register r of A has 32 bits of row g + 8 · (r mod tiles) in lane 4g + t, B as many of column g.
void run_bits(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  const int tiles = use.tiles();
  int32_t c[8][16] = {};
  read_results(warp, use.of_c(inst, 0), tiles, c);
  for (int r = 0; r < use.registers_a; ++r) {
    const uint32_t* a = warp.reg<uint32_t>(use.of_a(inst, 0)[r]);
    const uint32_t* b = warp.reg<uint32_t>(use.of_b(inst, 0)[r / tiles]);
    for (int column = 0; column < 8; ++column) {
      for (int g = 0; g < 8; ++g) {
        uint32_t count = 0;
        for (int t = 0; t < 4; ++t) {
          const uint32_t one = a[4 * g + t], other = b[4 * column + t];
          count += static_cast<uint32_t>(std::popcount(use.exclusive ? one ^ other : one & other));
        }
        int32_t& sum = c[column][r % tiles * 8 + g];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + count);
      }
    }
  }
  write_results(warp, use.of_d(inst, 0), tiles, c);
}

// As fma.f64: a NaN among the operands comes through, quiet; one that arises is 0xfff8….
double fused(double a, double b, double c) {
  const double d = std::fma(a, b, c);
  const double first = b != b ? b : c != c ? c : a;
  return d == d ? d : first != first ? quiet(first) : std::bit_cast<double>(0xfff8000000000000u);
}

// Fused multiply-adds, one k after the other.
void run_f64(Warp& warp, const Inst& inst) {
  if (!whole_warp(warp, inst)) return;
  const Use& use = *static_cast<const Use*>(inst.data);
  const int tiles = use.tiles();
  double a[16][16] = {}, b[16][8], c[8][16] = {};
  for (int r = 0; r < use.registers_a; ++r) {
    double values[4][8];
    turn(warp.reg<double>(use.of_a(inst, 0)[r]), values);
    for (int t = 0; t < 4; ++t) std::copy_n(values[t], 8, a[4 * (r / tiles) + t] + r % tiles * 8);
  }
  for (int r = 0; r < use.registers_b; ++r) {
    double values[4][8];
    turn(warp.reg<double>(use.of_b(inst, 0)[r]), values);
    for (int t = 0; t < 4; ++t) std::copy_n(values[t], 8, b[4 * r + t]);
  }
  read_results(warp, use.of_c(inst, 0), tiles, c);
  for (int k = 0; k < use.shape->k; ++k) {
    for (int column = 0; column < 8; ++column) {
      for (int row = 0; row < 8 * tiles; ++row) {
        c[column][row] = fused(a[k][row], b[k][column], c[column][row]);
      }
    }
  }
  write_results(warp, use.of_d(inst, 0), tiles, c);
}

struct Form {
  Kind kind;
  int m;
  std::array<int, 4> k;
};
constexpr Form forms[] = {
    {Kind::half, 16, {8, 16}}, {Kind::bfloat, 16, {8, 16}}, {Kind::tf32, 16, {4, 8}},
    {Kind::fp8, 16, {16, 32}}, {Kind::f64, 8, {4}},         {Kind::f64, 16, {4, 8, 16}},
    {Kind::bit, 8, {128}},     {Kind::bit, 16, {128, 256}},
};

bool exists(const Element& element, int m, int k) {
  if (element.kind == Kind::integer) {  // as many registers as with 8 bits
    const int of_8 = k * element.bits / 8;
    return m == 8 ? of_8 == 16 : of_8 == 16 || of_8 == 32;
  }
  return std::any_of(std::begin(forms), std::end(forms), [&](const Form& form) {
    return form.kind == element.kind && form.m == m &&
           std::find(form.k.begin(), form.k.end(), k) != form.k.end();
  });
}

const Shape* shape_of(std::string_view name) {
  const Shape* found = std::find_if(std::begin(shapes), std::end(shapes),
                                    [&](const Shape& shape) { return shape.name == name; });
  return found == std::end(shapes) ? nullptr : found;
}

std::vector<std::string_view> types_of(Decoder& d) {  // D, A, B, C
  std::vector<std::string_view> types;
  const auto& modifiers = d.ptx().modifiers;
  for (size_t i = 0; i < modifiers.size(); ++i) {
    const bool of_result = modifiers[i] == "f32" || modifiers[i] == "s32";
    if (of_result || std::any_of(std::begin(elements), std::end(elements),
                                 [&](const Element& each) { return each.name == modifiers[i]; })) {
      types.push_back(d.modifier(i));
    }
  }
  return types;
}

void choose_elements(Decoder& d, Use& use, const std::vector<std::string_view>& types) {
  if (!use.shape || types.size() != 4) d.unsupported("unknown form");
  for (const Element& each : elements) {
    if (each.name == types[1]) use.a = &each;
    if (each.name == types[2]) use.b = &each;
  }
  if (!use.a || !use.b || use.a->kind != use.b->kind || use.a->bits != use.b->bits) {
    d.unsupported("types that do not go together");
  }
  if (!exists(*use.a, use.shape->m, use.shape->k)) {
    d.unsupported("this simulator has no such shape for this type");
  }
  const Kind kind = use.a->kind;
  const std::string_view result = kind == Kind::f64                                                ? "f64"
                                  : kind == Kind::integer || kind == Kind::bit                     ? "s32"
                                  : (kind == Kind::half || kind == Kind::fp8) && types[0] == "f16" ? "f16"
                                                                                                   : "f32";
  if (types[0] != result || types[3] != result) {
    d.unsupported("this simulator has no accumulators of this type");
  }
  use.half = result == "f16";
}

void count_registers(Use& use) {
  use.registers_a = std::max(1, use.shape->m * use.shape->k * use.a->bits / (32 * std::max(32, use.a->bits)));
  use.registers_b = std::max(1, 8 * use.shape->k * use.a->bits / (32 * std::max(32, use.a->bits)));
  use.registers_c = use.tiles() * (use.half ? 1 : 2);
  use.step_a *= use.registers_a;
  use.step_b *= use.registers_b;
  if (use.listed_a) return;
  use.listed_a = use.registers_a + (use.pieces - 1) * use.step_a;
  use.listed_b = use.registers_b + (use.pieces - 1) * use.step_b;
}

// How it adds.
void choose_sum(Decoder& d, Use& use) {
  const Kind kind = use.a->kind;
  if (kind == Kind::integer) use.saturate = d.has("satfinite");
  if (kind == Kind::bit) {
    const int operation = d.one_of({"and", "xor"});
    if (operation < 0 || !d.has("popc")) d.unsupported("unknown operation on bits");
    use.exclusive = operation == 1;
  }
  if (kind == Kind::f64) d.has("rn");
  const TensorCore& core = tensor_core();
  use.fraction = core.fraction;
  if (use.terms) return;
  use.terms = kind == Kind::fp8 ? use.shape->k / 2
                                : std::min(use.shape->k, core.block_bytes * 8 / std::max(16, use.a->bits));
}

// The rest of it: use has the shape, and for wmma what its pieces are.
void decode_product(Decoder& d, Use use, const std::vector<std::string_view>& types, const ptx::Operand& a,
                    const ptx::Operand& b) {
  choose_elements(d, use, types);
  count_registers(use);
  choose_sum(d, use);
  const Kind kind = use.a->kind;
  const Type as = kind == Kind::f64 ? Type::f64 : Type::b32;
  const size_t results = static_cast<size_t>(use.pieces) * static_cast<size_t>(use.registers_c);
  std::vector<uint32_t> list;
  d.own_guard();
  registers_of(d, d.operand(0), results, as, true, list);
  registers_of(d, a, static_cast<size_t>(use.listed_a), as, false, list);
  registers_of(d, b, static_cast<size_t>(use.listed_b), as, false, list);
  registers_of(d, d.operand(3), results, as, false, list);
  d.inst().list = d.list(std::move(list));
  d.inst().data = d.keep(use);
  d.inst().inner = kind == Kind::f64       ? run_f64
                   : kind == Kind::integer ? run_integer
                   : kind == Kind::bit     ? run_bits
                   : kind == Kind::fp8     ? run_fp8
                                           : run_floating;
}

void decode(Decoder& d) {
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  Use use = {};
  const auto& modifiers = d.ptx().modifiers;
  for (size_t i = 0; i < modifiers.size(); ++i) {
    if (modifiers[i].starts_with("sp")) return decode_sparse_product(d);
    if (modifiers[i].starts_with("kind::"))
      d.unsupported("this simulator has no such kind of multiplication");
    if (shape_of(modifiers[i])) use.shape = shape_of(d.modifier(i));
  }
  if (!d.has("row") || !d.has("col")) d.unsupported("A is by rows and B by columns");
  decode_product(d, use, types_of(d), d.operand(1), d.operand(2));
}

}  // namespace

void multiply_add_fp8(const RowsByLane& a, const ColumnsByLane& b, int k, int terms, int fraction, bool half,
                      Accumulators& c) {
  Accumulators sums = {};
  multiply_add(a, b, k, terms, fraction, half, sums);
  for (int r = 0; r < 4; ++r) {
    for (int l = 0; l < warp_size; ++l) {
      const float sum = sums.value[r][l] + c.value[r][l];
      c.value[r][l] = sum != sum ? std::bit_cast<float>(0x7fffffffu) : sum;
    }
  }
}

// How a wmma is made of mma: see wmma.cc. The layouts are those of memory; a fragment is the same with any.
void decode_wmma_product(Decoder& d) {
  Use use = {};
  const int shape = d.one_of({"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4"});
  static constexpr std::string_view of_piece[] = {"m16n8k16", "m16n8k16", "m16n8k16", "m16n8k8", "m8n8k4"};
  if (shape < 0) d.unsupported("this simulator has no such shape");
  use.shape = shape_of(of_piece[shape]);
  use.pieces = shape == 4 ? 1 : 2;
  use.step_a = shape == 1 || shape == 2;
  use.step_b = shape == 0 || shape == 3;
  if (shape == 3) use.terms = 4;  // ptxas makes two m16n8k4 of each
  const auto& modifiers = d.ptx().modifiers;
  for (size_t i = 0; i < modifiers.size(); ++i) {
    if (modifiers[i] == "row" || modifiers[i] == "col") d.modifier(i);
  }
  std::vector<std::string_view> types = types_of(d);
  if (types.size() == 2) types.insert(types.begin() + 1, 2, "f16");
  if (types.size() == 4 && types[1] == "f16") use.listed_a = use.listed_b = wmma_registers_f16;
  const bool exchanged = shape == 2;
  decode_product(d, use, types, d.operand(exchanged ? 2 : 1), d.operand(exchanged ? 1 : 2));
}

std::span<const Opcode> mma_opcodes() {
  static const Opcode table[] = {{"mma", decode}};
  return table;
}

}  // namespace simulator
