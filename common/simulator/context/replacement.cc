#include "common/simulator/context/replacement.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

#include "common/simulator/context/state.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

bool found_kernels = false;  // a module that the file replaces

// A name that begins at `at`, such as _GLOBAL__N__5098aae6_7_gemm_cu_7847e68c: a hash, the length of the
// file's name and that name, a hash. `file` is what has no hash; empty: it is no such name.
struct Internal {
  std::string_view whole, file;
};
constexpr std::string_view prefix = "_GLOBAL__N__";
constexpr size_t hash = 8;
Internal internal(std::string_view text, size_t at) {
  size_t end = at + prefix.size() + hash + 1;
  const size_t begin = end;
  size_t length = 0;
  for (; end < text.size() && text[end] >= '0' && text[end] <= '9' && length < 1000; ++end)
    length = length * 10 + static_cast<size_t>(text[end] - '0');
  end += 1 + length;
  if (length == 0 || end + 1 + hash > text.size() || text[end] != '_') return {};
  return {text.substr(at, end + 1 + hash - at), text.substr(begin, end - begin)};
}

// The internal names in the text, by their files.
std::map<std::string, std::string> internal_names(std::string_view text) {
  std::map<std::string, std::string> names;
  for (size_t at = 0; (at = text.find(prefix, at)) != std::string_view::npos; at += prefix.size())
    if (const Internal name = internal(text, at); !name.file.empty())
      names[std::string(name.file)] = name.whole;
  return names;
}

// The names of its kernels, without hashes.
std::set<std::string> kernels(std::string_view text) {
  constexpr std::string_view entry = ".entry ";
  std::set<std::string> names;
  for (size_t at = 0; (at = text.find(entry, at)) != std::string_view::npos;) {
    at += entry.size();
    std::string name(text.substr(at, text.find('(', at) - at));
    for (size_t in = 0; (in = name.find(prefix, in)) != std::string::npos; in += prefix.size())
      if (const Internal inside = internal(name, in); !inside.file.empty())
        name.replace(in, inside.whole.size(), std::string(inside.file));
    names.insert(std::move(name));
  }
  return names;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

std::string replacement(std::string_view embedded, std::string other) {
  const std::set<std::string> own = kernels(embedded);
  const std::set<std::string> others = kernels(other);
  if (others.empty() || !std::includes(own.begin(), own.end(), others.begin(), others.end())) return {};
  const auto names = internal_names(embedded);
  for (const auto& [file, name] : internal_names(other))
    if (const auto found = names.find(file); found != names.end()) replace_all(other, name, found->second);
  return other;
}

std::string replaced(std::string embedded) {
  const std::string& path = settings().ptx;
  if (path.empty()) return embedded;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("SIMULATOR_PTX=" + path + " cannot be read");
  static const int at_exit = std::atexit([] {
    if (!found_kernels)
      say("SIMULATOR_PTX=" + settings().ptx + ": no module of the program has these kernels");
  });
  static_cast<void>(at_exit);
  std::string instead = replacement(embedded, {std::istreambuf_iterator<char>(file), {}});
  if (instead.empty()) return embedded;
  found_kernels = true;
  return instead;
}

}  // namespace simulator
