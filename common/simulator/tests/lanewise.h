// Checks a handler that works lane by lane against a reference for one lane: on edge values and random ones,
// with all lanes, some and one, and with the destination in a source's place.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/simulator/tests/decode_fixture.h"

namespace simulator::tests {

// Bits of a lane's value, zero-extended; predicates: 0 or 1.
using Reference = std::function<uint64_t(const std::vector<uint64_t>& sources)>;
using Generator = std::mt19937_64;

inline uint64_t low_bits(uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}
inline int64_t sign_extended(uint64_t value, int bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

// A value for a register of this many bits: an edge case, a short number (positive or negative), or anything.
inline uint64_t random_value(Generator& random, int bits) {
  if (bits == 1) return random() & 1;
  static const std::vector<uint64_t> edges = [] {
    std::vector<uint64_t> list{0, 1, 2, 3, 5, 7, 10, 31, 32, 33, 63, 64, 65, 255, 256};
    for (int bit : {7, 8, 15, 16, 23, 24, 31, 32, 47, 63})
      for (int64_t near : {-1, 0, 1}) list.push_back((uint64_t{1} << bit) + static_cast<uint64_t>(near));
    for (size_t i = 0, count = list.size(); i < count; ++i) list.push_back(~list[i] + 1);
    return list;
  }();
  switch (random() % 4) {
    case 0:
    case 1:
      return low_bits(edges[random() % edges.size()], bits);
    case 2: {
      const uint64_t small = random() >> (random() % 64);
      return low_bits(random() & 1 ? small : 0 - small, bits);
    }
    default:
      return low_bits(random(), bits);
  }
}

// A register's value in one lane, whatever its width.
inline uint64_t read_lane(OneWarp& machine, const ptx::Operand& operand, ptx::Type type, int lane) {
  switch (ptx::bits(type)) {
    case 1:
      return machine.predicate_bits(operand) >> lane & 1;
    case 8:
    case 16:
      return machine.get<uint16_t>(operand, lane);
    case 32:
      return machine.get<uint32_t>(operand, lane);
    default:
      return machine.get<uint64_t>(operand, lane);
  }
}
inline void write_lane(OneWarp& machine, const ptx::Operand& operand, ptx::Type type, int lane,
                       uint64_t value) {
  switch (ptx::bits(type)) {
    case 1: {
      const uint32_t others = machine.predicate_bits(operand) & ~(1u << lane);
      machine.set_predicate(operand, others | static_cast<uint32_t>(value & 1) << lane);
      break;
    }
    case 8:
    case 16:
      machine.values<uint16_t>(operand)[lane] = static_cast<uint16_t>(value);
      break;
    case 32:
      machine.values<uint32_t>(operand)[lane] = static_cast<uint32_t>(value);
      break;
    default:
      machine.values<uint64_t>(operand)[lane] = value;
  }
}

// Runs "name d, sources…" on a few thousand tuples of values. `values` makes a source's value (by default
// random_value).
inline void check_lanes(std::vector<std::span<const Opcode>> families, const std::string& name,
                        ptx::Type result, const std::vector<ptx::Type>& types, const Reference& reference,
                        const std::function<uint64_t(Generator&, int bits)>& values = random_value) {
  SCOPED_TRACE(name);
  OneWarp machine(std::move(families));
  Generator random(std::hash<std::string>()(name));
  std::vector<ptx::Operand> sources;
  for (const ptx::Type type : types) sources.push_back(machine.reg(type));
  const ptx::Operand apart = machine.reg(result);
  for (int round = 0; round < 96; ++round) {
    const size_t in_place = static_cast<size_t>(round / 3 % 4);  // with which source d shares its place
    const bool shared = in_place < types.size() && ptx::bits(types[in_place]) == ptx::bits(result);
    const ptx::Operand& target = shared ? sources[in_place] : apart;
    const uint32_t mask = round % 3 == 0   ? ~0u
                          : round % 3 == 1 ? static_cast<uint32_t>(random())
                                           : 1u << random() % 32;
    std::vector<uint64_t> expected;
    for (int lane = 0; lane < warp_size; ++lane) {
      std::vector<uint64_t> inputs;
      write_lane(machine, apart, result, lane, random_value(random, ptx::bits(result)));
      for (size_t i = 0; i < types.size(); ++i) {
        inputs.push_back(values(random, ptx::bits(types[i])));
        write_lane(machine, sources[i], types[i], lane, inputs.back());
      }
      const uint64_t old = read_lane(machine, target, result, lane);
      expected.push_back(mask >> lane & 1 ? low_bits(reference(inputs), ptx::bits(result)) : old);
    }
    std::vector<std::vector<uint64_t>> before(types.size());
    for (size_t i = 0; i < types.size(); ++i)
      for (int lane = 0; lane < warp_size; ++lane)
        before[i].push_back(read_lane(machine, sources[i], types[i], lane));
    std::vector<ptx::Operand> operands{target};
    operands.insert(operands.end(), sources.begin(), sources.end());
    machine.lanes(mask);
    ASSERT_NO_THROW(machine.run(name, operands));
    for (int lane = 0; lane < warp_size; ++lane) {
      const size_t l = static_cast<size_t>(lane);
      std::string given;
      for (const auto& source : before) given += " " + std::to_string(source[l]);
      ASSERT_EQ(read_lane(machine, target, result, lane), expected[l])
          << "lane " << lane << (mask >> lane & 1 ? ", active, of" : ", not active, of") << given;
    }
  }
}

}  // namespace simulator::tests
