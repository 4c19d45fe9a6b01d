// Where in a program and in a grid something happened, in words; and the faults and findings that say so.
#include "common/simulator/machine/machine.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/simulator/counters/trace.h"
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

// The user's own line first: what the user can fix is seldom in a header.
std::string source_of(const Program& program, uint32_t pc) {
  if (pc >= program.function->instructions.size()) return {};
  const ptx::Module& module = *program.module;
  uint32_t location = program.function->instructions[pc].location;
  if (!location) return "PTX line " + std::to_string(program.function->instructions[pc].line);
  std::vector<const ptx::Location*> calls;  // the innermost first
  for (; location; location = module.locations[location].inlined_at)
    calls.push_back(&module.locations[location]);
  const auto path = [&](const ptx::Location& at) {
    const auto file = module.files.find(at.file);
    return file == module.files.end() ? std::string("?") : file->second;
  };
  const auto place = [&](const ptx::Location& at) {
    return short_path(path(at)) + ":" + std::to_string(at.line);
  };
  const std::string kernel = path(*calls.back());
  const auto own = [&](const ptx::Location* at) { return is_own(path(*at), kernel); };
  auto first = std::find_if(calls.begin(), calls.end(), own);
  if (first == calls.end()) first = calls.begin();
  std::string text = place(**first);
  for (auto inner = first; inner != calls.begin();) {
    text += inner == first ? " (in " : ", ";
    text += place(**--inner);
    if (inner == calls.begin()) text += ")";
  }
  while (++first != calls.end()) text += " (inlined at " + place(**first) + ")";
  return text;
}

std::string place_of(const Cta& cta, uint32_t pc) {
  const Program* program = program_at(cta, pc);
  return program ? source_of(*program, pc - program->first) : std::string();
}

Site site_of(const Warp& warp, const Program& program, uint32_t pc, int lane) {
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
    if (program.function->instructions[pc].location) site.source = source_of(program, pc);
    site.instruction = program.function->instructions[pc].text;
    site.ptx_line = program.function->instructions[pc].line;
  }
  return site;
}

void fault(Warp& warp, FindingKind kind, std::string what, int lane) {
  if (lane < 0) lane = warp.exec ? std::countr_zero(warp.exec) : 0;
  throw Fault(Finding{
      kind, std::move(what), {}, site_of(warp, *warp.frame->program, warp.pc ? warp.pc - 1 : 0, lane)});
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
  Finding found{kind, std::move(what), std::move(details),
                site_of(warp, *warp.frame->program, warp.pc - 1, lane)};
  if (settings().checks == Checks::fail) throw Fault(std::move(found));
  warp.cta->grid->findings.add(std::move(found));
}

}  // namespace simulator
