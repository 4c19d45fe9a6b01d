#include "common/simulator/naming/mbarrier_names.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

#include "common/simulator/machine/source_lines.h"
#include "common/simulator/naming/init_expression.h"
#include "common/simulator/units/mbarriers.h"

namespace simulator {
namespace {

using Lines = std::vector<SourceLine>;

void append_lines(const Cta& cta, uint32_t pc, Lines& lines) {
  const Program* program = program_at(cta, pc);
  if (!program) return;
  const auto& code = program->function->instructions;
  Lines more = source_lines(*program, pc - program->first);
  if (more.empty() && pc - program->first < code.size())
    more = {{"", code[pc - program->first].line}};  // PTX
  lines.insert(lines.end(), more.begin(), more.end());
}

// Of its mbarrier.init, and of the calls that led there.
Lines lines_of_init(const Cta& cta, const MbarrierClocks& mbarrier) {
  Lines lines;
  append_lines(cta, mbarrier.init_pc, lines);
  for (const uint32_t call : mbarrier.init_calls) append_lines(cta, call, lines);
  return lines;
}

const std::string& expression_of(const Lines& lines) {
  static std::mutex mutex;
  static auto* const known = new std::map<Lines, std::string>;
  const std::lock_guard lock(mutex);
  const auto [found, added] = known->try_emplace(lines);
  if (added) found->second = initialised_expression(lines);
  return found->second;
}

// Those that the same line has initialised, by way of the same calls, by address.
struct Siblings {
  std::vector<uint32_t> addresses;
  size_t number = 0;  // of the one in question, from 0
  bool others_are_named_so = false;
};

Siblings siblings_of(const Cta& cta, uint32_t wanted, const Lines& lines) {
  Siblings siblings;
  const std::string& expression = expression_of(lines);
  for (const auto& [address, mbarrier] : mbarriers_of(cta)) {
    const Lines its = lines_of_init(cta, mbarrier);
    if (its != lines) {
      siblings.others_are_named_so |= expression_of(its) == expression;
      continue;
    }
    if (address == wanted) siblings.number = siblings.addresses.size();
    siblings.addresses.push_back(address);
  }
  return siblings;
}

bool equally_spaced(const std::vector<uint32_t>& addresses) {
  for (size_t i = 2; i < addresses.size(); ++i) {
    if (addresses[i] - addresses[i - 1] != addresses[1] - addresses[0]) return false;
  }
  return true;
}

// The expression with this object's index. Empty: not certain.
std::string name_among(const Cta& cta, const MbarrierClocks& mbarrier, std::string name,
                       const Siblings& siblings) {
  if (const size_t at = name.find(by_ordinal); at != std::string::npos)
    return equally_spaced(siblings.addresses) ? name.replace(at, 1, std::to_string(siblings.number)) : "";
  if (const size_t at = name.find(by_thread); at != std::string::npos) {
    const Warp& warp = warp_of_cluster(*cta.cluster, mbarrier.init_warp);
    const uint32_t x = thread_index(warp, mbarrier.init_lane) % cta.grid->launch.block[0];
    return name.replace(at, 1, std::to_string(x));
  }
  return siblings.addresses.size() == 1 ? name : "";
}

// The static variable that holds the address; exact: it is an mbarrier or an array of them, not a struct.
std::string name_of_variable(const Cta& cta, uint32_t address, bool& exact) {
  for (const SharedVariable& variable : cta.grid->kernel->shared_variables) {
    const uint32_t offset = address - variable.address;
    if (offset >= variable.bytes) continue;
    exact = variable.bytes == sizeof(MbarrierState) || variable.element == sizeof(MbarrierState);
    if (variable.bytes == sizeof(MbarrierState)) return variable.name;
    if (exact) return variable.name + "[" + std::to_string(offset / sizeof(MbarrierState)) + "]";
    return offset == 0 ? variable.name : variable.name + " + " + std::to_string(offset);
  }
  return {};
}

}  // namespace

std::string name_of_mbarrier(const Cta& cta, uint32_t address) {
  char at[16];
  std::snprintf(at, sizeof at, "0x%x", address);
  bool exact = false;
  const std::string variable = name_of_variable(cta, address, exact);
  if (exact) return variable + " (" + at + ")";
  const auto found = mbarriers_of(cta).find(address);
  const Lines lines = found == mbarriers_of(cta).end() ? Lines() : lines_of_init(cta, found->second);
  if (lines.empty()) return std::string("at ") + at + (variable.empty() ? "" : " (" + variable + ")");
  const Siblings siblings = siblings_of(cta, address, lines);
  const std::string place = place_of(cta, found->second.init_pc);
  if (const std::string& expression = expression_of(lines); !expression.empty()) {
    const std::string name = name_among(cta, found->second, expression, siblings);
    if (!name.empty())
      return name + " (" + at + (siblings.others_are_named_so ? ", initialised at " + place : "") + ")";
  }
  std::string text = std::string("at ") + at + " (" + (variable.empty() ? "" : variable + ", ");
  if (siblings.addresses.size() > 1) {
    text += "mbarrier " + std::to_string(siblings.number + 1) + " of " +
            std::to_string(siblings.addresses.size()) + " initialised at ";
  } else {
    text += "initialised at ";
  }
  return text + place + ")";
}

}  // namespace simulator
