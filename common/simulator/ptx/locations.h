// From .loc directives to Locations (PTX ISA 9.0, 11.5.4). For body.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "common/simulator/ptx/lexer.h"
#include "common/simulator/ptx/module.h"

namespace simulator::ptx {

// Those of one function: a call that was inlined is looked for among the places seen before.
class Locations {
 public:
  explicit Locations(Module& module) : module_(module) {}

  // From after ".loc": the index of the location. Line 0 means that the compiler knows of none: that keeps
  // the one before, `last`.
  uint32_t parse(Lexer& lexer, uint32_t last);

 private:
  struct Place {
    uint32_t file = 0, line = 0, column = 0;
    bool operator==(const Place&) const = default;
  };
  struct Inlined {
    Place place, call;
    bool operator==(const Inlined&) const = default;
  };
  struct Hash {
    size_t operator()(const Place& place) const;
    size_t operator()(const Inlined& inlined) const;
  };
  static Place parse_place(Lexer& lexer);
  uint32_t add(const Location& location);
  uint32_t depth(uint32_t location) const;

  Module& module_;
  std::unordered_map<Place, uint32_t, Hash> latest_;  // the location that the place was given last
  std::unordered_map<Inlined, uint32_t, Hash> known_;
};

}  // namespace simulator::ptx
