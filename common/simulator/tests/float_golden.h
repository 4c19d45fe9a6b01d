// What the instructions gave on hardware (golden/float_ops.txt, made by golden/float_ops.cu), against what
// our handlers give for the same inputs.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/simulator/tests/decode_fixture.h"
#include "common/simulator/tests/golden/float_inputs.h"

namespace simulator::tests {

struct Golden {
  std::string name;                // "fma.rn.f32"
  std::vector<std::string> kinds;  // of its operands
  int digits = 0;                  // hexadecimal, of a result
  bool exact = false;
  uint64_t hash = 0;              // of all cases; approximate instructions have none
  std::vector<uint64_t> results;  // of the first cases
};

inline std::vector<Golden> read_golden() {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind('/')) + "/golden/float_ops.txt");
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.find('|') == std::string::npos) {
      Golden& golden = all.back();
      const size_t digits = static_cast<size_t>(golden.digits);
      for (size_t at = 0; at + digits <= line.size(); at += digits)
        golden.results.push_back(std::stoull(line.substr(at, digits), nullptr, 16));
      continue;
    }
    Golden golden;
    std::string kinds, digits, exact, hash;
    std::istringstream fields(line);
    std::getline(fields, golden.name, '|');
    golden.name.pop_back();
    std::getline(fields, kinds, '|');
    std::getline(fields, digits, '|');
    std::getline(fields, exact, '|');
    std::getline(fields, hash, '|');
    std::istringstream words(kinds);
    for (std::string kind; words >> kind;) golden.kinds.push_back(kind);
    golden.digits = std::stoi(digits);
    golden.exact = exact.find("exact") != std::string::npos;
    if (golden.exact) golden.hash = std::stoull(hash, nullptr, 16);
    all.push_back(golden);
  }
  return all;
}

inline float_ops::Kind kind_named(std::string_view name) {
  for (int i = 0; i < float_ops::kind_count; ++i)
    if (float_ops::name_of(static_cast<float_ops::Kind>(i)) == name) return static_cast<float_ops::Kind>(i);
  throw std::runtime_error("unknown kind " + std::string(name));
}
inline ptx::Type register_of(float_ops::Kind kind) {  // those that float_ops.cu uses
  using float_ops::Kind;
  switch (kind) {
    case Kind::f64:
    case Kind::s64:
    case Kind::u64:
      return ptx::Type::b64;
    case Kind::f16:
    case Kind::bf16:
    case Kind::s16:
    case Kind::u16:
    case Kind::e4m3x2:
    case Kind::e5m2x2:
      return ptx::Type::b16;
    default:
      return ptx::Type::b32;
  }
}

inline void put(OneWarp& machine, const ptx::Operand& operand, ptx::Type type, int lane, uint64_t value) {
  switch (ptx::bits(type)) {
    case 16:
      machine.values<uint16_t>(operand)[lane] = static_cast<uint16_t>(value);
      break;
    case 32:
      machine.values<uint32_t>(operand)[lane] = static_cast<uint32_t>(value);
      break;
    default:
      machine.values<uint64_t>(operand)[lane] = value;
      break;
  }
}
inline uint64_t take(OneWarp& machine, const ptx::Operand& operand, ptx::Type type, int lane) {
  switch (ptx::bits(type)) {
    case 16:
      return machine.get<uint16_t>(operand, lane);
    case 32:
      return machine.get<uint32_t>(operand, lane);
    default:
      return machine.get<uint64_t>(operand, lane);
  }
}

// Results of our handler for the first `count` cases.
inline std::vector<uint64_t> simulated(const Golden& golden, std::vector<std::span<const Opcode>> families,
                                       int count) {
  OneWarp machine(std::move(families));
  const ptx::Type to = golden.digits == 4   ? ptx::Type::b16
                       : golden.digits == 8 ? ptx::Type::b32
                                            : ptx::Type::b64;
  std::vector<ptx::Operand> operands{machine.reg(to)};
  std::vector<float_ops::Kind> kinds;
  for (const std::string& kind : golden.kinds) {
    kinds.push_back(kind_named(kind));
    operands.push_back(machine.reg(register_of(kinds.back())));
  }
  const Inst inst = machine.decode(golden.name, operands);
  std::vector<uint64_t> results;
  for (int first = 0; first < count; first += warp_size) {
    for (size_t n = 0; n < kinds.size(); ++n)
      for (int lane = 0; lane < warp_size; ++lane)
        put(machine, operands[n + 1], register_of(kinds[n]), lane,
            float_ops::input(kinds[n], static_cast<int>(kinds.size()), static_cast<int>(n), first + lane));
    // Half of the warps run with some lanes off, on top of what the other path left.
    inst.inner(machine.warp, inst);
    if (first / warp_size % 2 != 0) {
      for (int lane = 1; lane < warp_size; lane += 2) put(machine, operands[0], to, lane, 0);
      machine.lanes(0xaaaaaaaau);
      inst.inner(machine.warp, inst);
      machine.lanes(~0u);
    }
    for (int lane = 0; lane < warp_size && first + lane < count; ++lane)
      results.push_back(take(machine, operands[0], to, lane));
  }
  return results;
}

inline std::string inputs_text(const Golden& golden, int index) {
  std::ostringstream text;
  text << golden.name << " of" << std::hex;
  for (size_t n = 0; n < golden.kinds.size(); ++n)
    text << " 0x"
         << float_ops::input(kind_named(golden.kinds[n]), static_cast<int>(golden.kinds.size()),
                             static_cast<int>(n), index);
  text << " (case " << std::dec << index << ")";
  return text.str();
}

// Every case of an exact instruction: the first ones one by one, all by their hash.
inline void expect_exact(const Golden& golden, std::vector<std::span<const Opcode>> families) {
  const std::vector<uint64_t> results = simulated(golden, std::move(families), float_ops::cases);
  int wrong = 0;
  for (size_t i = 0; i < golden.results.size() && wrong < 5; ++i) {
    if (results[i] == golden.results[i]) continue;
    ++wrong;
    ADD_FAILURE() << inputs_text(golden, static_cast<int>(i)) << ": 0x" << std::hex << results[i]
                  << ", hardware 0x" << golden.results[i];
  }
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint64_t result : results)
    for (int byte = 0; byte < golden.digits / 2; ++byte)
      hash = (hash ^ (result >> (8 * byte) & 0xff)) * 0x100000001b3u;
  EXPECT_EQ(hash, golden.hash) << golden.name << ": of all " << float_ops::cases << " cases";
}

}  // namespace simulator::tests
