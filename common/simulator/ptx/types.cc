#include <cstddef>
#include <iterator>
#include <string_view>

#include "common/simulator/ptx/module.h"

namespace simulator::ptx {

namespace {

struct Named {
  std::string_view name;
  Type type;
  int bits;
};

constexpr Named kTypes[] = {
    {"", Type::none, 0},          {"pred", Type::pred, 1},    {"b8", Type::b8, 8},
    {"b16", Type::b16, 16},       {"b32", Type::b32, 32},     {"b64", Type::b64, 64},
    {"b128", Type::b128, 128},    {"u8", Type::u8, 8},        {"u16", Type::u16, 16},
    {"u32", Type::u32, 32},       {"u64", Type::u64, 64},     {"s8", Type::s8, 8},
    {"s16", Type::s16, 16},       {"s32", Type::s32, 32},     {"s64", Type::s64, 64},
    {"f16", Type::f16, 16},       {"f16x2", Type::f16x2, 32}, {"bf16", Type::bf16, 16},
    {"bf16x2", Type::bf16x2, 32}, {"f32", Type::f32, 32},     {"f32x2", Type::f32x2, 64},
    {"f64", Type::f64, 64},
};

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (static_cast<size_t>(kTypes[i].type) != i) return false;
  return true;
}
static_assert(in_order(), "bits() indexes the table by type");

}  // namespace

int bits(Type type) {
  return kTypes[static_cast<size_t>(type)].bits;
}

bool parse_type(std::string_view name, Type& type) {
  if (name.size() < 2) return false;
  for (const Named& named : kTypes) {
    if (named.name != name) continue;
    type = named.type;
    return true;
  }
  return false;
}

}  // namespace simulator::ptx
