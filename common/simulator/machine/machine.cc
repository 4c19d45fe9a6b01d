// Where in a program and in a grid something happened, in words; and the faults and findings that say so.
#include "common/simulator/machine/machine.h"

#include <bit>

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

}  // namespace

std::string lanes_text(uint32_t lanes) {  // "lanes 0-15, 20"
  std::string text = std::popcount(lanes) == 1 ? "lane" : "lanes";
  bool first = true;
  for (int l = 0; l < warp_size; ++l) {
    if (!(lanes >> l & 1)) continue;
    int end = l;
    while (end + 1 < warp_size && (lanes >> (end + 1) & 1)) ++end;
    text += (first ? " " : ", ") + std::to_string(l);
    if (end > l) text += "-" + std::to_string(end);
    first = false;
    l = end;
  }
  return text;
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

std::string source_of(const Program& program, uint32_t pc) {
  if (pc >= program.function->instructions.size()) return {};
  const ptx::Module& module = *program.module;
  const auto place = [&](const ptx::Location& at) {
    const auto file = module.files.find(at.file);
    return (file == module.files.end() ? "?" : short_path(file->second)) + ":" + std::to_string(at.line);
  };
  uint32_t location = program.function->instructions[pc].location;
  if (!location) return "PTX line " + std::to_string(program.function->instructions[pc].line);
  std::string text = place(module.locations[location]);
  while ((location = module.locations[location].inlined_at))
    text += " (inlined at " + place(module.locations[location]) + ")";
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
  // CUB's merge sort, and Thrust's with it, reads an element past what it has stored and ignores it. Whoever
  // calls it cannot mend that.
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
