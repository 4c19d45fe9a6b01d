#include <cstdio>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/decode/warp_matrix.h"
#include "common/simulator/instructions/mma/opcodes.h"
#include "common/simulator/instructions/mma/wgmma.h"
#include "common/simulator/instructions/mma/wgmma_product.h"

namespace simulator {
namespace {

using ptx::Operand;
using ptx::Type;

// "m64n128k16".
bool parse_shape(std::string_view text, uint32_t& n, uint32_t& k) {
  if (!text.starts_with("m64n")) return false;
  const std::string shape(text);
  return std::sscanf(shape.c_str(), "m64n%uk%u", &n, &k) == 2;
}

bool immediate(Decoder& d, size_t nth, int64_t yes, int64_t no) {
  const Operand& operand = d.operand(nth);
  if (operand.kind != Operand::Kind::immediate || (operand.value != yes && operand.value != no)) {
    d.unsupported("an immediate is neither " + std::to_string(no) + " nor " + std::to_string(yes));
  }
  return operand.value == yes;
}

void decode_multiply(Decoder& d) {
  WgmmaUse use;
  std::vector<std::string_view> types;
  const auto& modifiers = d.ptx().modifiers;
  bool shaped = false;
  for (size_t i = 0; i < modifiers.size(); ++i) {
    if (parse_shape(modifiers[i], use.n, use.k)) shaped = d.modifier(i) == modifiers[i];
    if (modifiers[i] == "f32" || modifiers[i] == "s32" || wgmma_element(modifiers[i])) {
      types.push_back(d.modifier(i));
    }
  }
  use.sparse = d.has("sp");
  if (!shaped || types.size() != 3) d.unsupported("unknown form");
  use.a = wgmma_element(types[1]);
  use.b = wgmma_element(types[2]);
  if (!use.a || !use.b || wgmma_k(*use.a, *use.b, types[0]) != use.k / (use.sparse ? 2 : 1)) {
    d.unsupported("types and shape do not go together");
  }
  const bool floating = is_floating(*use.a);
  if (use.n == 0 || use.n % 8 || use.n > 256 || (!floating && use.n > 32 && use.n % 16)) {
    d.unsupported("there is no such n");
  }
  use.half = types[0] == "f16";
  if (is_bits(*use.a) && !(d.has("and") && d.has("popc"))) d.unsupported("unknown operation on bits");
  if (!floating && !is_bits(*use.a)) use.saturate = d.has("satfinite");

  size_t next = 0;
  std::vector<uint32_t> list;
  registers_of(d, d.operand(next), use.results(), Type::b32, false, list);  // it is read …
  list.clear();
  registers_of(d, d.operand(next++), use.results(), Type::b32, true, list);  // … and written
  use.a_in_registers = d.operand(next).kind == Operand::Kind::vector;
  if (use.a_in_registers) {
    registers_of(d, d.operand(next++), 4, Type::b32, false, list);
  } else {
    d.inst().a = d.src(next++, Type::b64);
  }
  d.inst().b = d.src(next++, Type::b64);
  if (use.sparse) {
    if (is_bits(*use.a)) d.unsupported("there are no sparse matrices of bits");
    d.inst().d = d.src(next++, Type::b32);
    const Operand& selector = d.operand(next++);
    const bool of_pairs = bits_of(*use.a) > 8;
    if (selector.kind != Operand::Kind::immediate || selector.value < 0 || selector.value > of_pairs) {
      d.unsupported("there is no such sparsity selector");
    }
    use.selector = static_cast<uint32_t>(selector.value);
  }
  d.inst().c = d.predicate(d.operand(next++), use.scale_negated);
  if (floating) {
    for (bool& negated : use.negated) negated = immediate(d, next++, -1, 1);
  }
  if (may_be_mn_major(*use.a)) {
    if (!use.a_in_registers) use.mn_major[0] = immediate(d, next++, 1, 0);
    use.mn_major[1] = immediate(d, next++, 1, 0);
  }
  if (next != d.operand_count()) d.unsupported("another number of operands than expected");
  d.inst().list = d.list(std::move(list));
  d.inst().data = d.keep(use);
  d.inst().inner = run_wgmma_multiply;
}

void decode(Decoder& d) {
  if (!d.has("sync") || !d.has("aligned")) d.unsupported("without .sync.aligned");
  d.own_guard();
  const int operation = d.one_of({"mma_async", "fence", "commit_group", "wait_group"});
  if (operation < 0) d.unsupported("this simulator has no such instruction");
  if (operation == 0) return decode_multiply(d);
  if (operation == 3) {
    if (d.operand(0).kind != Operand::Kind::immediate || d.operand(0).value < 0) {
      d.unsupported("the number of groups must be an immediate");
    }
    d.inst().imm = static_cast<uint64_t>(d.operand(0).value);
    keep_watched(d);
  }
  static constexpr Handler handlers[] = {nullptr, run_wgmma_fence, run_wgmma_commit, run_wgmma_wait};
  d.inst().inner = handlers[operation];
}

}  // namespace

std::span<const Opcode> wgmma_opcodes() {
  static const Opcode table[] = {{"wgmma", decode}};
  return table;
}

}  // namespace simulator
