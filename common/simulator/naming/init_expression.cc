#include "common/simulator/naming/init_expression.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <string_view>

namespace simulator {
namespace {

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return std::string(text);
}

// The lines of a file, without comments behind "//".
const std::vector<std::string>& lines_of(const std::string& path) {
  static std::mutex mutex;
  static auto* const files = new std::map<std::string, std::vector<std::string>>;
  const std::lock_guard lock(mutex);
  const auto [found, added] = files->try_emplace(path);
  if (!added) return found->second;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) found->second.push_back(line.substr(0, line.find("//")));
  return found->second;
}

// The lines from `first` to `last` that there are.
std::string text_of(const std::string& path, uint32_t first, uint32_t last) {
  const std::vector<std::string>& lines = lines_of(path);
  std::string text;
  for (uint32_t line = std::max(first, 1u); line <= last && line <= lines.size(); ++line)
    text += lines[line - 1] + "\n";
  return text;
}

// Behind the bracket that closes the one at `open`; npos: none does.
size_t behind(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if ((text[at] == ')' || text[at] == ']' || text[at] == '}') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::vector<std::string> separated(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at < list.size(); ++at) {
    if (list[at] == '(' || list[at] == '[' || list[at] == '{' || list[at] == '<') ++depth;
    if (list[at] == ')' || list[at] == ']' || list[at] == '}' || list[at] == '>') --depth;
    if (list[at] != ',' || depth != 0) continue;
    parts.push_back(trimmed(list.substr(begin, at - begin)));
    begin = at + 1;
  }
  parts.push_back(trimmed(list.substr(begin)));
  return parts;
}

struct Call {
  std::string name, object;  // object: in front of a '.' or "->"
  std::vector<std::string> arguments;
};

// The calls of functions that `wanted` names in the first line of the text; arguments may go on behind it.
template <class Wanted>
std::vector<Call> calls_in(const std::string& text, Wanted wanted) {
  std::vector<Call> calls;
  const size_t end = std::min(text.find('\n'), text.size());
  for (size_t at = 0; at < end;) {
    if (!in_word(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (in_word(text[at])) ++at;
    const std::string name = text.substr(begin, at - begin);
    const size_t open = text.find_first_not_of(" \n", at);
    if (open == std::string::npos || text[open] != '(' || !wanted(name)) continue;
    const size_t close = behind(text, open);
    if (close == std::string::npos) continue;
    Call call{name, {}, separated(std::string_view(text).substr(open + 1, close - open - 2))};
    if (call.arguments.front().empty()) continue;
    const size_t dot = begin >= 1 && text[begin - 1] == '.'                  ? begin - 1
                       : begin >= 2 && text.compare(begin - 2, 2, "->") == 0 ? begin - 2
                                                                             : 0;
    if (dot != 0) {
      size_t first = dot;
      while (first > 0 && (in_word(text[first - 1]) || std::strchr(".:[]", text[first - 1]))) --first;
      call.object = text.substr(first, dot - first);
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

// A name with members and indices, from its first character on: how long it is; 0: it is none.
size_t length_of_path(std::string_view text) {
  size_t at = 0;
  const auto name = [&] {
    if (at >= text.size() || !in_word(text[at]) || std::isdigit(static_cast<unsigned char>(text[at])))
      return false;
    while (at < text.size() && in_word(text[at])) ++at;
    return true;
  };
  if (!name()) return 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const size_t mark = rest.starts_with("::") || rest.starts_with("->") ? 2 : rest.starts_with(".") ? 1 : 0;
    if (mark != 0) {
      at += mark;
      if (!name()) return 0;
    } else if (text[at] == '[' || text[at] == '(') {
      const size_t end = behind(text, at);
      if (end == std::string_view::npos) return 0;
      at = end;
    } else {
      break;
    }
  }
  return at;
}

bool is_path(std::string_view text) {
  return !text.empty() && length_of_path(text) == text.size();
}

std::string root_of(const std::string& path) {
  size_t end = 0;
  while (end < path.size() && in_word(path[end])) ++end;
  return path.substr(0, end);
}

// What the address passed here is of: "shared.full[s]" of "shared_address(&shared.full[s])"; or the argument
// itself.
std::string object_of(const std::string& argument) {
  const size_t ampersand = argument.find('&');
  if (ampersand == std::string::npos) return is_path(argument) ? argument : "";
  const bool unary = ampersand == 0 || argument[ampersand - 1] == '(' || argument[ampersand - 1] == ' ';
  if (!unary || argument.find('&', ampersand + 1) != std::string::npos) return {};
  const std::string_view rest = std::string_view(argument).substr(ampersand + 1);
  const size_t length = length_of_path(rest);
  const bool whole = length == rest.size() || rest[length] == ')' || rest[length] == ',';
  return whole ? std::string(rest.substr(0, length)) : "";
}

// Does the nearest loop over this variable, here or a few lines above, count it from 0 in steps of 1?
bool counts_from_zero(const std::string& variable, const SourceLine& at) {
  constexpr uint32_t lines = 12;
  for (uint32_t line = at.line; line > 0 && line + lines > at.line; --line) {
    const std::string text = text_of(at.path, line, line);
    if (!std::regex_search(text, std::regex("\\bfor\\s*\\([^;:]*\\b" + variable + "\\s*="))) continue;
    return std::regex_search(
        text, std::regex("\\b" + variable + "\\s*=\\s*0\\s*;[^;]*;\\s*(\\+\\+" + variable + "|" + variable +
                         "\\+\\+|" + variable + "\\s*\\+=\\s*1)\\s*\\)"));
  }
  return false;
}

// The expression with its one index replaced; empty: which object it is depends on more than that.
std::string with_index(std::string path, const SourceLine& at) {
  const size_t open = path.find_first_of("[(");
  if (open == std::string::npos) {  // for (Mbarrier& barrier : shared.full) …
    const std::string root = root_of(path);
    const std::string text = text_of(at.path, at.line > 2 ? at.line - 2 : 1, at.line);
    std::smatch loop;
    if (!std::regex_search(text, loop, std::regex("\\bfor\\s*\\([^;()]*\\b" + root + "\\s*:([^;:]*?)\\)")))
      return path;
    const std::string range = trimmed(loop[1].str());
    if (!is_path(range) || range.find_first_of("[(") != std::string::npos) return {};
    return range + "[" + by_ordinal + "]" + path.substr(root.size());
  }
  const size_t end = behind(path, open);
  if (path.find_first_of("[(", end) != std::string::npos) return {};
  const std::string index = trimmed(std::string_view(path).substr(open + 1, end - open - 2));
  if (index.empty() || std::ranges::all_of(index, [](char c) { return c >= '0' && c <= '9'; })) return path;
  const bool counted = std::ranges::all_of(index, in_word) && counts_from_zero(index, at);
  if (!counted && index != "threadIdx.x") return {};
  return path.replace(open + 1, end - open - 2, 1, counted ? by_ordinal : by_thread);
}

struct Function {
  std::string name;
  std::vector<std::string> parameters;
};

// That around a line. None: its head is too far above, or there is none.
std::optional<Function> function_around(const SourceLine& at) {
  constexpr uint32_t lines = 30;
  const std::string text = text_of(at.path, at.line > lines ? at.line - lines : 1, at.line);
  std::optional<Function> found;
  for (size_t open = text.find('('); open != std::string::npos; open = text.find('(', open + 1)) {
    size_t begin = open;
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    const std::string name = text.substr(begin, open - begin);
    const size_t close = behind(text, open);
    if (name.empty() || close == std::string::npos || name == "for" || name == "if" || name == "while" ||
        name == "switch" ||
        !std::regex_search(text.substr(close), std::regex("^\\s*(const|noexcept)?\\s*\\{")))
      continue;
    found = {name, separated(std::string_view(text).substr(open + 1, close - open - 2))};
  }
  return found;
}

std::vector<std::string>::const_iterator parameter_named(const Function& function, const std::string& name) {
  const std::regex named("\\b" + name + "\\)?\\s*(\\[[^\\]]*\\])*$");
  return std::ranges::find_if(function.parameters,
                              [&](const std::string& each) { return std::regex_search(each, named); });
}

// "barrier" of "shared_address(barrier)" where that is a pointer or a reference that the function was passed.
std::string without_conversion(const std::string& path, const SourceLine& at) {
  const size_t open = path.find('(');
  if (open == std::string::npos || behind(path, open) != path.size()) return path;
  const std::string inner = trimmed(std::string_view(path).substr(open + 1, path.size() - open - 2));
  const std::optional<Function> function = function_around(at);
  if (!function || inner.empty() || !std::ranges::all_of(inner, in_word)) return path;
  const auto parameter = parameter_named(*function, inner);
  const bool refers =
      parameter != function->parameters.end() && parameter->find_first_of("*&") != std::string::npos;
  return refers ? inner : path;
}

constexpr uint32_t lines_of_a_call = 4;

// What the line passes for the parameter that the path begins with, in place of it. Empty: that cannot be
// told. The path itself: it does not begin with a parameter of the function around `at`, or the line does not
// call that.
std::string as_passed(const std::string& path, const SourceLine& at, const SourceLine& caller) {
  const std::string root = root_of(path);
  const std::optional<Function> function = function_around(at);
  if (!function) return path;
  const auto parameter = parameter_named(*function, root);
  if (parameter == function->parameters.end()) return path;
  const auto number = static_cast<size_t>(parameter - function->parameters.begin());
  const std::vector<Call> calls = calls_in(text_of(caller.path, caller.line, caller.line + lines_of_a_call),
                                           [&](const std::string& name) { return name == function->name; });
  if (calls.size() != 1 || calls[0].arguments.size() <= number) return path;
  const std::string& argument = calls[0].arguments[number];
  const bool address = argument.find('&') != std::string::npos;
  const std::string object = object_of(argument), rest = path.substr(root.size());
  if (object.empty() || object.find_first_of("[(") != std::string::npos) return {};
  if (!address) return object + rest;
  if (rest.empty()) return object;
  return rest.starts_with("->") ? object + "." + rest.substr(2) : "";
}

bool begins_an_initialisation(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.find("init") != std::string::npos;
}

}  // namespace

std::string initialised_expression(const std::vector<SourceLine>& calls) {
  std::string path;
  for (size_t i = 0; i < calls.size(); ++i) {
    const SourceLine& line = calls[i];
    if (!path.empty()) {
      const std::string passed = as_passed(path, calls[i - 1], line);
      if (passed == path || passed.empty()) return passed;
      path = passed;
      continue;
    }
    // What is inlined here is the function around the line before.
    const std::optional<Function> inner = i > 0 ? function_around(calls[i - 1]) : std::nullopt;
    const std::vector<Call> found =
        calls_in(text_of(line.path, line.line, line.line + lines_of_a_call), [&](const std::string& name) {
          return inner ? name == inner->name : begins_an_initialisation(name);
        });
    if (found.size() > 1) return {};
    if (found.empty()) continue;
    const Call& call = found.front();
    const bool method = !call.object.empty() && call.arguments[0].find('&') == std::string::npos;
    const std::string object = method ? call.object : object_of(call.arguments[0]);
    // What begins with "__" is the toolkit's own.
    if (!is_path(object) || object.starts_with("__") || object == "this") continue;
    path = with_index(without_conversion(object, line), line);
    if (path.empty()) return {};
  }
  return path;
}

}  // namespace simulator
