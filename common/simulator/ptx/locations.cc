#include "common/simulator/ptx/locations.h"

#include <string>
#include <string_view>

namespace simulator::ptx {

namespace {

constexpr uint32_t kMaxDepth =
    64;  // levels of inlining that are reported; inlined recursion could go on for ever

}  // namespace

size_t Locations::Hash::operator()(const Place& place) const {
  return ((place.file * 0x9E3779B97F4A7C15ull + place.line) * 0x9E3779B97F4A7C15ull + place.column) *
         0x9E3779B97F4A7C15ull;
}

size_t Locations::Hash::operator()(const Inlined& inlined) const {
  return (*this)(inlined.place) * 3 + (*this)(inlined.call);
}

Locations::Place Locations::parse_place(Lexer& lexer) {
  Place place;
  place.file = lexer.number();
  place.line = lexer.number();
  place.column = lexer.number();
  return place;
}

uint32_t Locations::add(const Location& location) {
  const Location& last = module_.locations.back();
  if (last.file != location.file || last.line != location.line || last.inlined_at != location.inlined_at)
    module_.locations.push_back(location);
  return static_cast<uint32_t>(module_.locations.size()) - 1;
}

uint32_t Locations::depth(uint32_t location) const {
  uint32_t depth = 0;
  for (; location; location = module_.locations[location].inlined_at) ++depth;
  return depth;
}

uint32_t Locations::parse(Lexer& lexer, uint32_t last) {
  Inlined key;
  key.place = parse_place(lexer);
  while (lexer.accept(',')) {
    const std::string_view word = lexer.identifier();
    if (word == "function_name") {
      if (lexer.peek() == '.')
        lexer.directive();
      else
        lexer.identifier();
      if (lexer.accept('+')) lexer.number();
    } else if (word == "inlined_at") {
      key.call = parse_place(lexer);
    } else {
      lexer.fail("unknown attribute " + std::string(word) + " of .loc");
    }
  }

  if (key.place.line == 0) return last;
  uint32_t call = 0;
  if (key.call.line != 0) {
    // The compiler gives the place of the call first, with the call that it is itself inlined at; otherwise
    // the place is not inlined.
    const auto [found, is_new] = latest_.try_emplace(key.call);
    if (is_new) found->second = add({key.call.file, key.call.line, 0});
    call = found->second;
  }
  const auto [found, is_new] = known_.try_emplace(key);
  // A function inlined in itself is its own place of call: a repeated .loc does not go deeper.
  const bool same = !is_new && (key.call == key.place || module_.locations[found->second].inlined_at == call);
  if (!same) found->second = add({key.place.file, key.place.line, depth(call) < kMaxDepth ? call : 0});
  latest_[key.place] = found->second;
  return found->second;
}

}  // namespace simulator::ptx
