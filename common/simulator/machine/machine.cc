// Where in a program and in a grid something happened, in words; and the faults and findings that say so.
#include "common/simulator/machine/machine.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/simulator/counters/trace.h"
#include "common/simulator/machine/source_lines.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

std::string short_path(const std::string& path) {  // its last two components
  const size_t last = path.rfind('/');
  if (last == std::string::npos || last == 0) return path;
  const size_t before = path.rfind('/', last - 1);
  return before == std::string::npos ? path : path.substr(before + 1);
}

bool is_header(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos || (path.substr(dot, 2) != ".c" || path.substr(dot) == ".cuh");
}

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

// A source file, or one beside that of the kernel.
bool is_own(const std::string& path, const std::string& kernel) {
  return !is_header(path) || (!is_header(kernel) && directory_of(path) == directory_of(kernel));
}

}  // namespace

// "lanes 0-15, 20", of the bits that are set.
std::string numbered(const char* name, uint32_t bits) {
  std::string text = name;
  if (std::popcount(bits) != 1) text += 's';
  bool first = true;
  for (int i = 0; i < 32; ++i) {
    if (!(bits >> i & 1)) continue;
    int end = i;
    while (end + 1 < 32 && (bits >> (end + 1) & 1)) ++end;
    text += (first ? " " : ", ") + std::to_string(i);
    if (end > i) text += "-" + std::to_string(end);
    first = false;
    i = end;
  }
  return text;
}

std::string lanes_text(uint32_t lanes) {
  return numbered("lane", lanes);
}

std::string warps_text(uint32_t warps) {
  return numbered("warp", warps);
}

std::string lanes_that(uint32_t lanes, const std::string& verb) {  // "lane 3 waits", "lanes 0-15 wait"
  return lanes_text(lanes) + " " + verb + (std::popcount(lanes) == 1 ? "s" : "");
}

std::string thread_name(const Cta& cta, uint32_t thread) {
  const auto& block = cta.grid->launch.block;
  return "(" + std::to_string(thread % block[0]) + "," + std::to_string(thread / block[0] % block[1]) + "," +
         std::to_string(thread / block[0] / block[1]) + ")";
}

const Program* program_at(const Cta& cta, uint32_t pc) {
  for (const auto& program : cta.grid->kernel->programs) {
    if (pc - program->first < program->code.size()) return program.get();
  }
  return nullptr;
}

Trace* trace_of(const Warp& warp) {
  Trace* trace = warp.cta->grid->trace;
  return trace != nullptr && trace->follows(warp.cta->index, warp.index) ? trace : nullptr;
}

namespace {

// Where an instruction stands in the source, the innermost place first, then where that was inlined.
class Places {
 public:
  Places(const Program& program, uint32_t pc) : module_(*program.module) {
    if (pc >= program.function->instructions.size()) return;
    for (uint32_t at = program.function->instructions[pc].location; at; at = module_.locations[at].inlined_at)
      calls_.push_back(&module_.locations[at]);
  }
  bool empty() const { return calls_.empty(); }
  std::string outermost_path() const { return path(*calls_.back()); }
  std::string innermost() const { return place(*calls_.front()); }
  bool has_own(const std::string& kernel) const { return first_own(kernel) != calls_.end(); }

  std::vector<SourceLine> lines() const {
    std::vector<SourceLine> lines;
    for (const ptx::Location* at : calls_) lines.push_back({path(*at), at->line});
    return lines;
  }

  // The user's own line first: what the user can fix is seldom in a header.
  std::string text(const std::string& kernel) const {
    auto first = first_own(kernel);
    if (first == calls_.end()) first = calls_.begin();
    std::string text = place(**first);
    for (auto inner = first; inner != calls_.begin();) {
      text += inner == first ? " (in " : ", ";
      text += place(**--inner);
      if (inner == calls_.begin()) text += ")";
    }
    while (++first != calls_.end()) text += " (inlined at " + place(**first) + ")";
    return text;
  }

 private:
  using Calls = std::vector<const ptx::Location*>;
  Calls::const_iterator first_own(const std::string& kernel) const {
    return std::find_if(calls_.begin(), calls_.end(),
                        [&](const ptx::Location* at) { return is_own(path(*at), kernel); });
  }
  std::string path(const ptx::Location& at) const {
    const auto file = module_.files.find(at.file);
    return file == module_.files.end() ? std::string("?") : file->second;
  }
  std::string place(const ptx::Location& at) const { return short_place({path(at), at.line}); }

  const ptx::Module& module_;
  Calls calls_;
};

// The file of the kernel whose activation this is, or one called by it.
std::string kernel_file(const Frame& frame) {
  const Frame* outer = &frame;
  while (outer->ways.front().caller) outer = outer->ways.front().caller;
  for (uint32_t pc = 0; pc < outer->program->function->instructions.size(); ++pc) {
    const Places places(*outer->program, pc);
    if (!places.empty()) return places.outermost_path();
  }
  return {};
}

}  // namespace

std::vector<SourceLine> source_lines(const Program& program, uint32_t pc) {
  return Places(program, pc).lines();
}

std::string short_place(const SourceLine& line) {
  return short_path(line.path) + ":" + std::to_string(line.line);
}

std::string source_of(const Program& program, uint32_t pc) {
  if (pc >= program.function->instructions.size()) return {};
  const Places places(program, pc);
  if (places.empty()) return "PTX line " + std::to_string(program.function->instructions[pc].line);
  return places.text(places.outermost_path());
}

std::string source_of(const Frame& frame, uint32_t pc, int lane) {
  const std::string kernel = kernel_file(frame);
  const Places inner(*frame.program, pc);
  const std::string own = source_of(*frame.program, pc);
  if (inner.has_own(kernel)) return own;
  for (const Frame* at = &frame; at;) {
    // Of what it inlines, a debug build has no line but the header's: the program's own stands before.
    while (at->program->module->debug && pc > 0 && !Places(*at->program, pc).has_own(kernel)) --pc;
    const Places outer(*at->program, pc);
    if (outer.has_own(kernel))  // some functions of the toolkit have no lines
      return outer.text(kernel) + (inner.empty() ? "" : " (calls " + inner.innermost() + ")");
    const auto way = std::find_if(at->ways.begin(), at->ways.end(),
                                  [lane](const Way& each) { return each.lanes >> lane & 1; });
    if (way == at->ways.end()) break;
    pc = way->return_pc - 1;
    at = way->caller;
  }
  return own;
}

std::string place_of(const Cta& cta, uint32_t pc) {
  const Program* program = program_at(cta, pc);
  return program ? source_of(*program, pc - program->first) : std::string();
}

namespace {

Site site_of(const Warp& warp, const Program& program, uint32_t pc, int lane, std::string source) {
  Site site;
  const Cta& cta = *warp.cta;
  site.kernel = cta.grid->kernel->shown;
  const auto& block = cta.grid->launch.block;
  const uint32_t thread = thread_index(warp, static_cast<uint32_t>(lane));
  for (int i = 0; i < 3; ++i) site.cta[i] = cta.id[i];
  site.thread[0] = thread % block[0];
  site.thread[1] = thread / block[0] % block[1];
  site.thread[2] = thread / block[0] / block[1];
  if (pc < program.function->instructions.size()) {
    if (!source.starts_with("PTX line")) site.source = std::move(source);
    site.instruction = program.function->instructions[pc].text;
    site.ptx_line = program.function->instructions[pc].line;
  }
  return site;
}

}  // namespace

Site site_of(const Warp& warp, const Program& program, uint32_t pc, int lane) {
  return site_of(warp, program, pc, lane, source_of(program, pc));
}
Site site_of(const Warp& warp, const Frame& frame, uint32_t pc, int lane) {
  return site_of(warp, *frame.program, pc, lane, source_of(frame, pc, lane));
}

void fault(Warp& warp, FindingKind kind, std::string what, int lane) {
  if (lane < 0) lane = warp.exec ? std::countr_zero(warp.exec) : 0;
  throw Fault(
      Finding{kind, std::move(what), {}, site_of(warp, *warp.frame, warp.pc ? warp.pc - 1 : 0, lane)});
}

void finding(Warp& warp, FindingKind kind, std::string what, int lane, std::vector<std::string> details) {
  // CUB's merge sort, and Thrust's with it, reads an element past what it has stored and ignores it. A
  // program that calls it cannot fix that.
  const std::string& kernel = warp.cta->grid->kernel->shown;
  if (kind == FindingKind::uninitialised &&
      (kernel.starts_with("void cub::") || kernel.starts_with("void thrust::"))) {
    return;
  }
  if (lane < 0) lane = warp.exec ? std::countr_zero(warp.exec) : 0;
  Finding found{kind, std::move(what), std::move(details), site_of(warp, *warp.frame, warp.pc - 1, lane)};
  if (settings().checks == Checks::fail) throw Fault(std::move(found));
  warp.cta->grid->findings.add(std::move(found));
}

}  // namespace simulator
