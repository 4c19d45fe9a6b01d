#include "common/simulator/context/replacement.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "common/simulator/context/state.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

bool found_kernels = false;  // a module that the file replaces
std::string not_found;       // what the file has, and what modules of the same source file want

constexpr std::string_view prefix = "_GLOBAL__N__";

// What __cxa_demangle() makes of it; empty: it is no mangled name.
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : "";
}

// The name of an unnamed namespace in a mangled name, with its length before it:
// 40_GLOBAL__N__5098aae6_7_gemm_cu_7847e68c. A hash, the length of the file's name and that name, and last
// what is different from file to file: a hash, or the first symbol that other files see. Digits before it may
// belong to the name before (7rung_00): it is what leaves the rest a name that says the same.
std::string unnamed_namespace(const std::string& name) {
  const size_t at = name.find(prefix);
  const std::string said = demangled(name);
  if (at == std::string::npos || said.empty()) return {};
  size_t length = 0, unit = 1;
  for (size_t digit = at; digit > 0 && name[digit - 1] >= '0' && name[digit - 1] <= '9' && unit <= 1000;) {
    --digit;
    length += static_cast<size_t>(name[digit] - '0') * unit;
    unit *= 10;
    if (length < prefix.size() || at + length > name.size()) continue;
    std::string other = name;
    other.replace(digit, at + length - digit, "12_GLOBAL__N_1");
    if (demangled(other) == said) return name.substr(digit, at + length - digit);
  }
  return {};
}

// Of it, the file: 7_gemm_cu.
std::string file_of(std::string_view unnamed) {
  if (unnamed.empty()) return {};
  constexpr size_t hash = 8;
  const size_t begin = unnamed.find(prefix) + prefix.size() + hash + 1;
  size_t end = begin, length = 0;
  for (; end < unnamed.size() && unnamed[end] >= '0' && unnamed[end] <= '9'; ++end)
    length = std::min<size_t>(length * 10 + static_cast<size_t>(unnamed[end] - '0'), 1000);
  return std::string(unnamed.substr(std::min(begin, unnamed.size()), end - begin + 1 + length));
}

struct Named {
  std::string mangled, unnamed;  // unnamed: see above
};

// The kernels of a text, by what they are called in their file: the same in any compilation of it.
std::map<std::string, Named> kernels(std::string_view text) {
  constexpr std::string_view entry = ".entry ";
  std::map<std::string, Named> names;
  for (size_t at = 0; (at = text.find(entry, at)) != std::string_view::npos;) {
    at += entry.size();
    const std::string name(text.substr(at, text.find_first_of("( \n", at) - at));
    const std::string unnamed = unnamed_namespace(name);
    names[unnamed.empty() ? name : demangled(name) + " of " + file_of(unnamed)] = {name, unnamed};
  }
  return names;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::vector<std::string> names_of(const std::map<std::string, Named>& kernels) {
  std::vector<std::string> names;
  for (const auto& [called, kernel] : kernels) names.push_back(kernel.mangled);
  return names;
}

bool of_same_file(const std::map<std::string, Named>& own, const std::map<std::string, Named>& others) {
  std::set<std::string> files;
  for (const auto& [called, kernel] : others) files.insert(file_of(kernel.unnamed));
  return std::any_of(own.begin(), own.end(), [&](const auto& each) {
    return !each.second.unnamed.empty() && files.contains(file_of(each.second.unnamed));
  });
}

}  // namespace

std::string shown_names(const std::vector<std::string>& kernels) {
  std::set<std::string> shown;
  for (const std::string& name : kernels) {
    const std::string text = demangled(name);
    shown.insert(text.empty() ? name : text);
  }
  std::string list;
  for (const std::string& name : shown) list += (list.empty() ? "" : "; ") + name;
  return list.empty() ? "none" : list;
}

std::string replacement(std::string_view embedded, std::string other) {
  const std::map<std::string, Named> own = kernels(embedded), others = kernels(other);
  // Those of a header may be in other modules of the program, too.
  const bool has_unnamed = std::any_of(others.begin(), others.end(),
                                       [](const auto& each) { return !each.second.unnamed.empty(); });
  bool same = false;
  for (const auto& [called, kernel] : others) {
    const auto found = own.find(called);
    if (found == own.end() || (has_unnamed && kernel.unnamed.empty())) continue;
    same = true;
    if (has_unnamed) replace_all(other, kernel.unnamed, found->second.unnamed);
  }
  return same ? other : std::string();
}

std::string replaced(std::string embedded) {
  const std::string& path = settings().ptx;
  if (path.empty()) return embedded;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("SIMULATOR_PTX=" + path + " cannot be read");
  static const int at_exit = std::atexit([] {
    if (!found_kernels)
      say("SIMULATOR_PTX=" + settings().ptx + ": no module of the program has these kernels: " + not_found);
  });
  static_cast<void>(at_exit);
  const std::string other{std::istreambuf_iterator<char>(file), {}};
  std::string instead = replacement(embedded, other);
  if (instead.empty()) {
    const std::map<std::string, Named> own = kernels(embedded), others = kernels(other);
    if (not_found.empty()) not_found = shown_names(names_of(others));
    if (of_same_file(own, others)) not_found += "; it has: " + shown_names(names_of(own));
    return embedded;
  }
  found_kernels = true;
  return instead;
}

}  // namespace simulator
