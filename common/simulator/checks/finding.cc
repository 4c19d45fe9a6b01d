#include "common/simulator/checks/finding.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace simulator {
namespace {

constexpr size_t longest_name =
    100;  // characters of a kernel's name in a report, where it can be shortened so far

// Does a '<' or '>' here belong to an operator's name ("operator<<", "operator->") or an arrow rather than to
// a list?
bool part_of_operator(std::string_view name, size_t at) {
  if (name[at] == '>' && at > 0 && name[at - 1] == '-') return true;
  size_t begin = at;
  while (begin > 0 && (name[begin - 1] == '<' || name[begin - 1] == '>' || name[begin - 1] == '=')) --begin;
  constexpr std::string_view word = "operator";
  if (begin < word.size() || name.substr(begin - word.size(), word.size()) != word) return false;
  if (begin > word.size()) {
    const char before = name[begin - word.size() - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) || before == '_') return false;
  }
  // "operator< <int>" is written with a space, "operator<<int>" is not: at most two characters are the
  // operator.
  return at - begin < 2;
}

// Template argument lists nested deeper than `depth` become "<…>"; the list of parameters "(…)" too where
// `calls`.
std::string collapse(std::string_view name, int depth, bool calls) {
  std::string out;
  int angles = 0, rounds = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool hidden = angles > depth || (calls && angles == 0 && rounds > 0);
    if (c == '<' && !part_of_operator(name, i)) {
      if (!hidden) out += angles == depth ? "<…" : "<";
      ++angles;
    } else if (c == '>' && angles > 0 && !part_of_operator(name, i)) {
      --angles;
      if (angles <= depth && !(calls && angles == 0 && rounds > 0)) out += '>';
    } else if (c == '(' && calls && angles == 0) {
      // "(anonymous namespace)" and "operator()" are names.
      constexpr std::string_view anonymous = "(anonymous namespace)";
      if (rounds == 0 && name.substr(i, anonymous.size()) == anonymous) {
        out += anonymous;
        i += anonymous.size() - 1;
      } else if (rounds == 0 && name.substr(i, 2) == "()") {
        out += "()";
        ++i;
      } else {
        if (rounds++ == 0) out += "(…";
      }
    } else if (c == ')' && calls && angles == 0 && rounds > 0) {
      if (--rounds == 0) out += ')';
    } else if (!hidden) {
      out += c;
    }
  }
  return out;
}

size_t characters(std::string_view text) {  // of UTF-8
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

std::string shorten(std::string_view name) {
  constexpr std::string_view returns = "void ";  // what a template's demangled name begins with
  if (name.substr(0, returns.size()) == returns) name.remove_prefix(returns.size());
  std::string text(name);
  for (int depth = 3; depth >= 0 && characters(text) > longest_name; --depth)
    text = collapse(name, depth, false);
  if (characters(text) > longest_name) text = collapse(name, 0, true);
  return text;
}

std::string triple(const uint32_t (&v)[3]) {
  std::string text;
  for (const uint32_t number : v) text.append(text.empty() ? "(" : ",").append(std::to_string(number));
  return text.append(")");
}

// Calls are written over several lines.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

constexpr size_t longest_line = 200;  // bytes

// Breaks what is longer, at blanks; the rest is indented further.
void append_lines(std::string& text, std::string_view indent, std::string_view content) {
  std::string begin = "simulator: ";
  begin += indent;
  while (begin.size() + content.size() > longest_line) {
    size_t end = content.rfind(' ', longest_line - begin.size());
    if (end == std::string_view::npos || end == 0) end = content.find(' ', 1);
    if (end == std::string_view::npos) break;
    text.append(begin).append(content.substr(0, end)).append("\n");
    content.remove_prefix(end + 1);
    begin.assign("simulator: ").append(indent).append("    ");
  }
  text.append(begin).append(content).append("\n");
}

// "PTX line 17: add.s32 …", cut off where it is too long: lists of registers.
std::string ptx_line(const Site& site) {
  std::string text = "PTX line " + std::to_string(site.ptx_line);
  if (!site.instruction.empty()) text += ": " + on_one_line(site.instruction);
  constexpr size_t most = longest_line - 13;
  if (text.size() <= most) return text;
  text.resize(most - 4);
  return text + " …";
}

// Findings of one kind in one kernel are reported as one if they share this: the line of the source or,
// without -lineinfo, that of the PTX.
bool at_same_line(const Site& a, const Site& b) {
  if (a.source.empty() || b.source.empty()) return a.source == b.source && a.ptx_line == b.ptx_line;
  return a.source == b.source;
}
uint32_t line_of(const Site& site) {
  return site.source.empty() ? site.ptx_line : static_cast<uint32_t>(std::hash<std::string>()(site.source));
}

// Concerns a whole CTA or kernel: no single thread is at fault.
bool has_thread(FindingKind kind) {
  return kind != FindingKind::deadlock && kind != FindingKind::not_supported && kind != FindingKind::limit;
}

}  // namespace

const char* name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::illegal_address:
      return "illegal address";
    case FindingKind::misaligned:
      return "misaligned access";
    case FindingKind::shared_out_of_bounds:
      return "shared memory out of bounds";
    case FindingKind::local_out_of_bounds:
      return "local memory out of bounds";
    case FindingKind::param_out_of_bounds:
      return "parameters out of bounds";
    case FindingKind::illegal_instruction:
      return "illegal instruction";
    case FindingKind::trap:
      return "trap";
    case FindingKind::assertion:
      return "failed assertion";
    case FindingKind::stack_overflow:
      return "stack overflow";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::uninitialised:
      return "uninitialised read";
    case FindingKind::unfinished_copy:
      return "unfinished copy";
    case FindingKind::unfinished_async:
      return "unfinished asynchronous operation";
    case FindingKind::missing_fence:
      return "missing fence";
    case FindingKind::race:
      return "race";
    case FindingKind::absent_cta:
      return "absent CTA";
    case FindingKind::tensor_allocation:
      return "tensor memory allocation";
    case FindingKind::divergent_barrier:
      return "divergent barrier";
    case FindingKind::invalid_shuffle:
      return "invalid shuffle";
    case FindingKind::not_supported:
      return "not supported";
    case FindingKind::limit:
      return "limit reached";
  }
  return "finding";
}

bool faults_on_hardware(FindingKind kind) {
  return kind <= FindingKind::deadlock;
}

std::string to_text(const Finding& finding) {
  std::string text;
  const auto line = [&text](std::string_view indent, std::string_view content) {
    while (true) {  // text from elsewhere may contain newlines
      const size_t end = content.find('\n');
      append_lines(text, indent, content.substr(0, end));
      if (end == std::string_view::npos || end + 1 >= content.size()) break;
      content.remove_prefix(end + 1);
    }
  };
  const Site& site = finding.site;

  std::string head = name_of(finding.kind);
  if (!site.kernel.empty()) head += " in " + shorten(site.kernel);
  if (!site.source.empty()) head += " at " + site.source;
  line("", head);

  std::string what = finding.what;
  while (!what.empty() && (what.back() == '.' || what.back() == '\n')) what.pop_back();
  if (has_thread(finding.kind)) {
    if (!what.empty()) what += ", ";
    what += "thread " + triple(site.thread) + " of CTA " + triple(site.cta);
  }
  if (!what.empty()) line("  ", what);
  for (const std::string& detail : finding.details) line("  ", detail);
  if (site.ptx_line != 0) line("  ", ptx_line(site));
  return text;
}

void Findings::add(Finding finding) {
  const auto cta = [](const Finding& of) { return std::tie(of.site.cta[2], of.site.cta[1], of.site.cta[0]); };
  const std::lock_guard lock(mutex_);
  ++count_;
  for (Kept& kept : kept_) {
    const Site& site = kept.finding.site;
    if (kept.finding.kind == finding.kind && at_same_line(site, finding.site) &&
        site.kernel == finding.site.kernel) {
      ++kept.times;
      if (cta(finding) < cta(kept.finding)) kept.finding = std::move(finding);
      return;
    }
  }
  kept_.push_back({std::move(finding), 1});
}

void Findings::explain(FindingKind kind, const uint32_t (&cta)[3], const std::string& detail) {
  const std::string_view begin = std::string_view(detail).substr(0, detail.find(':'));
  const std::lock_guard lock(mutex_);
  for (Kept& kept : kept_) {
    std::vector<std::string>& details = kept.finding.details;
    if (kept.finding.kind != kind || !std::equal(cta, cta + 3, kept.finding.site.cta)) continue;
    if (std::any_of(details.begin(), details.end(),
                    [&](const auto& each) { return each.starts_with(begin); }))
      continue;
    details.push_back(detail);
  }
}

void Findings::report(Reported& reported) {
  const std::lock_guard lock(mutex_);
  std::stable_sort(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.finding.site.ptx_line, a.finding.kind) <
           std::tie(b.finding.site.ptx_line, b.finding.kind);
  });
  std::vector<const Kept*> now;
  for (const Kept& kept : kept_) {
    if (!reported.contains({kept.finding.kind, line_of(kept.finding.site)})) now.push_back(&kept);
  }
  std::string text;
  uint64_t more = 0;
  for (const Kept* kept : now) {
    text += to_text(kept->finding);
    more += kept->times - 1;
    reported.insert({kept->finding.kind, line_of(kept->finding.site)});
  }
  if (more != 0) text += "simulator: " + std::to_string(more) + " more like these, at the same lines\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

uint64_t Findings::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<Finding> Findings::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> findings;
  for (const Kept& kept : kept_) findings.push_back(kept.finding);
  return findings;
}

}  // namespace simulator
