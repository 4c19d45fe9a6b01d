#include "common/simulator/reports/trace_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <fstream>
#include <utility>

#include "common/simulator/memory/global_memory.h"
#include "common/simulator/reports/description.h"
#include "common/simulator/settings/settings.h"

namespace simulator {
namespace {

// The file of SIMULATOR_TRACE, begun anew by each process. Launches come one after the other.
void append(const std::string& text) {
  static std::string path;
  static std::ofstream file;
  static bool reported = false;
  if (path != settings().trace) {
    path = settings().trace;
    file = std::ofstream(path);
    reported = false;
  }
  file << text << std::flush;
  if (file || reported) return;
  reported = true;
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

enum class Event : uint8_t { none, commit, wait, barrier, mbarrier, mma, landed };

Event event_of(const ptx::Instruction& instruction) {
  const auto has = [&](std::string_view modifier) {
    return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) !=
           instruction.modifiers.end();
  };
  const std::string_view opcode = instruction.opcode;
  if (opcode == "mbarrier" || (opcode == "cp" && has("mbarrier"))) return Event::mbarrier;
  if (opcode == "cp" && has("commit_group")) return Event::commit;
  if (opcode == "cp" && (has("wait_group") || has("wait_all"))) return Event::wait;
  if ((opcode == "bar" || opcode == "barrier") && !has("warp")) return Event::barrier;
  if (opcode == "mma" || (opcode == "wmma" && has("mma")) || (opcode == "wgmma" && has("mma_async")) ||
      (opcode == "tcgen05" && has("mma"))) {
    return Event::mma;
  }
  return Event::none;
}

class TraceFile final : public Trace {
 public:
  TraceFile(KernelDescription description, const std::vector<const Program*>& functions, uint64_t launch);
  ~TraceFile() override;

  void global(const Program& program, uint32_t pc, const uint64_t address[32], uint32_t lanes, uint32_t bytes,
              uint32_t sectors) override;
  void shared(const Program& program, uint32_t pc, const uint32_t offset[32], uint32_t lanes, uint32_t bytes,
              Wavefronts wavefronts) override;
  void landed(const Program& program, uint32_t pc, uint32_t lanes, uint64_t issued, uint32_t group) override;

 private:
  void see(const Program& program, uint32_t pc, uint32_t lanes, CommittedGroups committed) override;
  void unsee() override { seen_.clear(); }
  bool full() { return ++lines_ > limit_; }
  std::string begin_line(const std::string& what, const Program& program, uint32_t pc, uint32_t lanes) const;
  bool access(const Program& program, uint32_t pc, const char* space, uint32_t lanes, uint32_t bytes);
  std::string event(Event event, const Program& program, uint32_t pc, uint32_t lanes) const;
  void write_seen();

  const KernelDescription description_;
  std::vector<Event> kinds_;  // by Program::first + pc; empty: events are not traced
  const uint64_t launch_, limit_;
  uint64_t accesses_ = 0, lines_ = 0;
  std::string seen_;  // the event of the current instruction
  std::string text_;
};

TraceFile::TraceFile(KernelDescription description, const std::vector<const Program*>& functions,
                     uint64_t launch)
    : Trace(settings().trace_cta, settings().trace_warp),
      description_(std::move(description)),
      launch_(launch),
      limit_(settings().trace_limit) {
  if (!settings().trace_events) return;
  kinds_.resize(description_.instructions.size());
  for (const Program* program : functions) {
    const std::vector<ptx::Instruction>& code = program->function->instructions;
    for (size_t pc = 0; pc < code.size(); ++pc) kinds_[program->first + pc] = event_of(code[pc]);
  }
}

TraceFile::~TraceFile() {
  write_seen();
  append(text_);
}

std::string TraceFile::begin_line(const std::string& what, const Program& program, uint32_t pc,
                                  uint32_t lanes) const {
  const ptx::Instruction& instruction = program.function->instructions[pc];
  std::string opcode(instruction.opcode);
  for (const std::string_view modifier : instruction.modifiers) opcode.append(".").append(modifier);
  std::string line = "{\"launch\": " + std::to_string(launch_) +
                     ", \"kernel\": " + quoted(description_.name) + ", \"cta\": " + std::to_string(cta_) +
                     ", \"warp\": " + std::to_string(warp_) + ", \"at\": " + std::to_string(now()) + ", " +
                     what + ", \"ptx\": " + quoted(opcode);
  const std::string& file = description_.places[description_.instructions[program.first + pc].place].file;
  if (!file.empty()) {
    line += ", \"file\": " + quoted(file) +
            ", \"lines\": " + lines_in(file, *program.module, instruction.location);
  }
  char mask[16];
  std::snprintf(mask, sizeof mask, "%08x", lanes);
  return line + ", \"lanes\": \"" + mask + "\"";
}

bool TraceFile::access(const Program& program, uint32_t pc, const char* space, uint32_t lanes,
                       uint32_t bytes) {
  ++accesses_;
  if (full()) return false;
  text_ += begin_line("\"access\": " + std::to_string(accesses_), program, pc, lanes) + ", \"space\": \"" +
           space + "\", \"bytes\": " + std::to_string(bytes);
  return true;
}

std::string TraceFile::event(Event event, const Program& program, uint32_t pc, uint32_t lanes) const {
  static constexpr const char* names[] = {"", "commit", "wait", "barrier", "mbarrier", "mma", "landed"};
  return begin_line(std::string("\"event\": \"") + names[static_cast<int>(event)] + "\"", program, pc, lanes);
}

void TraceFile::see(const Program& program, uint32_t pc, uint32_t lanes, CommittedGroups groups) {
  if (kinds_.empty()) return;
  write_seen();
  const Event kind = kinds_[program.first + pc];
  if (kind == Event::none || lines_ >= limit_) return;
  seen_ = event(kind, program, pc, lanes);
  const auto& modifiers = program.function->instructions[pc].modifiers;
  const bool bulk = std::find(modifiers.begin(), modifiers.end(), "bulk") != modifiers.end();
  const uint32_t committed = bulk ? groups.bulk : groups.async;
  if (kind == Event::commit) seen_ += ", \"group\": " + std::to_string(committed);
  if (kind == Event::wait) {
    const std::vector<ptx::Operand>& operands = program.function->instructions[pc].operands;
    const uint64_t under_way = operands.empty() ? 0 : static_cast<uint64_t>(operands[0].value);
    seen_ += ", \"below\": " + std::to_string(committed - std::min<uint64_t>(under_way, committed));
  }
  seen_ += "}\n";
}

// What the warp was about to do is done.
void TraceFile::write_seen() {
  if (seen_.empty()) return;
  if (!full()) text_ += seen_;
  seen_.clear();
}

void TraceFile::landed(const Program& program, uint32_t pc, uint32_t lanes, uint64_t issued, uint32_t group) {
  if (kinds_.empty()) return;
  write_seen();
  if (full()) return;
  text_ += event(Event::landed, program, pc, lanes) + ", \"group\": " + std::to_string(group) +
           ", \"issued\": " + std::to_string(issued) + "}\n";
}

void TraceFile::global(const Program& program, uint32_t pc, const uint64_t address[32], uint32_t lanes,
                       uint32_t bytes, uint32_t sectors) {
  if (!access(program, pc, "global", lanes, bytes)) return;
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
  if (const Allocation* named = global_memory().find(address[first])) {
    const char* field = named->named ? ", \"array\": " : ", \"variable\": ";
    if (!named->name.empty()) text_ += field + quoted(named->name);
  }
  text_ += ", \"addresses\": " + per_lane(lanes, [&](int lane) { return offset[static_cast<size_t>(lane)]; });
  if (!same) {
    text_ +=
        ", \"allocations\": " + per_lane(lanes, [&](int lane) { return number[static_cast<size_t>(lane)]; });
  }
  text_ += ", \"sectors\": " + std::to_string(sectors) + "}\n";
}

void TraceFile::shared(const Program& program, uint32_t pc, const uint32_t offset[32], uint32_t lanes,
                       uint32_t bytes, Wavefronts wavefronts) {
  if (!access(program, pc, "shared", lanes, bytes)) return;
  text_ += ", \"addresses\": " + per_lane(lanes, [&](int lane) { return offset[lane]; }) +
           ", \"wavefronts\": " + std::to_string(wavefronts.actual) +
           ", \"ideal_wavefronts\": " + std::to_string(wavefronts.ideal) + "}\n";
}

}  // namespace

std::unique_ptr<Trace> begin_trace(const Program& kernel, const std::vector<const Program*>& functions,
                                   uint64_t launch) {
  if (settings().trace.empty()) return nullptr;
  return std::make_unique<TraceFile>(describe(kernel, functions), functions, launch);
}

}  // namespace simulator
