#include "common/simulator/counters/trace.h"

#include <array>
#include <bit>
#include <cstdio>
#include <fstream>
#include <utility>

#include "common/simulator/memory/global_memory.h"
#include "common/simulator/settings.h"

namespace simulator {
namespace {

// The file of SIMULATOR_TRACE, begun anew by each process. Launches come one after the other.
void append(const std::string& text) {
  static std::string path;
  static std::ofstream file;
  static bool told = false;
  if (path != settings().trace) {
    path = settings().trace;
    file = std::ofstream(path);
    told = false;
  }
  file << text << std::flush;
  if (file || told) return;
  told = true;
  std::fprintf(stderr, "simulator: cannot write the trace to %s\n", path.c_str());
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

// [1, 2, null, …]: a value per lane.
template <class Value>
std::string per_lane(uint32_t lanes, Value value) {
  std::string out;
  for (int lane = 0; lane < 32; ++lane) {
    out += (out.empty() ? "[" : ", ") + (lanes >> lane & 1 ? std::to_string(value(lane)) : "null");
  }
  return out + "]";
}

// The lines of the kernel's own file that an instruction comes from, the innermost first.
std::string lines_in(const std::string& file, const ptx::Module& module, uint32_t at) {
  std::string out;
  for (; at != 0; at = module.locations[at].inlined_at) {
    const auto found = module.files.find(module.locations[at].file);
    if (found == module.files.end() || found->second != file) continue;
    out += (out.empty() ? "" : ", ") + std::to_string(module.locations[at].line);
  }
  return "[" + out + "]";
}

}  // namespace

std::unique_ptr<Trace> Trace::begin(const Program& kernel, const std::vector<const Program*>& functions,
                                    uint64_t launch) {
  if (settings().trace.empty()) return nullptr;
  return std::unique_ptr<Trace>(new Trace(describe(kernel, functions), launch));
}

Trace::Trace(KernelDescription description, uint64_t launch)
    : description_(std::move(description)),
      launch_(launch),
      cta_(settings().trace_cta),
      limit_(settings().trace_limit),
      warp_(settings().trace_warp) {}

Trace::~Trace() {
  append(text_);
}

bool Trace::start(const Program& program, uint32_t pc, const char* space, uint32_t lanes, uint32_t bytes) {
  if (++accesses_ > limit_) return false;
  const ptx::Instruction& instruction = program.function->instructions[pc];
  std::string opcode(instruction.opcode);
  for (const std::string_view modifier : instruction.modifiers) opcode.append(".").append(modifier);
  text_ += "{\"launch\": " + std::to_string(launch_) + ", \"kernel\": " + quoted(description_.name) +
           ", \"cta\": " + std::to_string(cta_) + ", \"warp\": " + std::to_string(warp_) +
           ", \"access\": " + std::to_string(accesses_) + ", \"ptx\": " + quoted(opcode);
  const std::string& file = description_.places[description_.instructions[program.first + pc].place].file;
  if (!file.empty()) {
    text_ += ", \"file\": " + quoted(file) +
             ", \"lines\": " + lines_in(file, *program.module, instruction.location);
  }
  char mask[16];
  std::snprintf(mask, sizeof mask, "%08x", lanes);
  text_ += std::string(", \"space\": \"") + space + "\", \"bytes\": " + std::to_string(bytes) +
           ", \"lanes\": \"" + mask + "\"";
  return true;
}

void Trace::global(const Program& program, uint32_t pc, const uint64_t address[32], uint32_t lanes,
                   uint32_t bytes, uint32_t sectors) {
  if (!start(program, pc, "global", lanes, bytes)) return;
  std::array<uint32_t, 32> number{};
  std::array<uint64_t, 32> offset{};
  const uint32_t first = static_cast<uint32_t>(std::countr_zero(lanes));
  bool same = true;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
    const Allocation* allocation = global_memory().find(address[lane]);
    number[lane] = allocation == nullptr ? 0 : allocation->number;
    offset[lane] = address[lane] - (allocation == nullptr ? 0 : allocation->base);
    same &= number[lane] == number[first];
  }
  text_ += ", \"allocation\": " + std::to_string(number[first]);
  if (const Allocation* named = global_memory().find(address[first]); named && !named->name.empty()) {
    text_ += ", \"variable\": " + quoted(named->name);
  }
  text_ += ", \"addresses\": " + per_lane(lanes, [&](int lane) { return offset[static_cast<size_t>(lane)]; });
  if (!same) {
    text_ +=
        ", \"allocations\": " + per_lane(lanes, [&](int lane) { return number[static_cast<size_t>(lane)]; });
  }
  text_ += ", \"sectors\": " + std::to_string(sectors) + "}\n";
}

void Trace::shared(const Program& program, uint32_t pc, const uint32_t offset[32], uint32_t lanes,
                   uint32_t bytes, Wavefronts wavefronts) {
  if (!start(program, pc, "shared", lanes, bytes)) return;
  text_ += ", \"addresses\": " + per_lane(lanes, [&](int lane) { return offset[lane]; }) +
           ", \"wavefronts\": " + std::to_string(wavefronts.actual) +
           ", \"ideal_wavefronts\": " + std::to_string(wavefronts.ideal) + "}\n";
}

}  // namespace simulator
